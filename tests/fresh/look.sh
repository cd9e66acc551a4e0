#!/bin/sh
# What a fresh machine must have before anything is installed. `make demo` runs it first; where make itself
# is missing it can be run alone: sh tests/fresh/look.sh [folder of the environment] [megabytes it will take]
# Plain sh and no Python of its own, because Python is what may be missing.
set -eu
cd "$(dirname "$0")/../.."
. tests/fresh/say.sh
VENV=${1:-.venv}
MEGABYTES=${2:-700}
PYTHON=${PYTHON:-python3}
APT="sudo apt-get install make python3 python3-venv"

command -v make >/dev/null || stop \
    "there is no make here. On Debian and Ubuntu: $APT" \
    "здесь нет make. В Debian и Ubuntu: $APT"

command -v "$PYTHON" >/dev/null || stop \
    "there is no $PYTHON here. On Debian and Ubuntu: $APT" \
    "здесь нет $PYTHON. В Debian и Ubuntu: $APT"

# The one place that states the range is pyproject.toml: requires-python = ">=3.11,<3.15".
range=$(sed -n 's/^requires-python = ">=3\.\([0-9]*\),<3\.\([0-9]*\)"$/\1 \2/p' pyproject.toml)
oldest=${range% *}
newest=$((${range#* } - 1))
version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || stop \
    "$PYTHON does not run: try \"$PYTHON --version\", or name another: make demo PYTHON=python3.$newest" \
    "$PYTHON не запускается: попробуйте «$PYTHON --version» или укажите другой: make demo PYTHON=python3.$newest"
case $version in
3.*) minor=${version#3.} ;;
[012].*) minor=0 ;;
*) minor=$((newest + 1)) ;;
esac
if [ "$minor" -lt "$oldest" ] || [ "$minor" -gt "$newest" ]; then
    other=python3.$newest
    install="install one of them, then "
    install_ru="поставьте один из них, затем "
    each=$newest
    while [ "$each" -ge "$oldest" ]; do
        if command -v "python3.$each" >/dev/null; then
            other=python3.$each
            install=""
            install_ru=""
            break
        fi
        each=$((each - 1))
    done
    [ "$minor" -lt "$oldest" ] && too="old старый" || too="new новый"
    stop \
        "Python $version is too ${too% *}, 3.$oldest to 3.$newest work: ${install}make demo PYTHON=$other" \
        "Python $version слишком ${too#* }, подходят от 3.$oldest до 3.$newest: ${install_ru}make demo PYTHON=$other"
fi

# Debian takes venv's half that brings pip out of its python3.
"$PYTHON" -c 'import venv, ensurepip' 2>/dev/null || stop \
    "Python $version here lacks its module venv. On Debian and Ubuntu: sudo apt-get install python3-venv (or python$version-venv)" \
    "у Python $version здесь нет модуля venv. В Debian и Ubuntu: sudo apt-get install python3-venv (или python$version-venv)"

folder=$(dirname "$VENV")
[ -w "$folder" ] || stop \
    "the folder $(cd "$folder" && pwd) cannot be written by $(id -un): put the project into a folder of yours" \
    "пользователь $(id -un) не может писать в папку $(cd "$folder" && pwd): положите проект в свою папку"

# Packages are unpacked here and fetched into the folder for temporary files.
for place in "$folder" "${TMPDIR:-/tmp}"; do
    [ "$place" = "$folder" ] && needed=$MEGABYTES || needed=200
    free=$(($(df -Pk "$place" | awk 'NR == 2 { print $4 }') / 1024))
    [ "$free" -ge "$needed" ] || stop \
        "no room on disk: $(cd "$place" && pwd) has $free MB free, $needed MB are needed" \
        "на диске нет места: в $(cd "$place" && pwd) свободно $free МБ, нужно $needed МБ"
done
