#!/usr/bin/env bash
# What the real chat needs: Open WebUI in an environment of its own (kept between runs) and, with
# "all", Debian's Chromium and OpenLDAP. As root missing packages are installed, else they are named.
set -euo pipefail
cd "$(dirname "$0")/../.."

bash tests/support/marked/install.sh

WEBUI=.venv-webui
if [ ! -e "$WEBUI/.done" ]; then
    echo "Installing Open WebUI into $WEBUI (about 3 GB, some minutes) …"
    "${PYTHON:-python3}" -m venv "$WEBUI"
    # The pip that comes with Python 3.11 takes twice as long.
    "$WEBUI/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
    # torch first and alone: otherwise a build for a graphics card comes along.
    "$WEBUI/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0
    "$WEBUI/bin/python" -m pip install --quiet --disable-pip-version-check open-webui==0.12.4
    touch "$WEBUI/.done"
fi
[ "${1:-}" = all ] || exit 0

missing=()
for pair in chromium:chromium /usr/sbin/slapd:slapd ldapadd:ldap-utils; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "Missing Debian packages: apt-get install ${missing[*]} fonts-dejavu" >&2
    exit 2
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# slapd is started by the tests only, never as a service.
if [ ! -e /usr/sbin/policy-rc.d ]; then
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
fi
apt-get install -y -qq --no-install-recommends "${missing[@]}" fonts-dejavu fonts-noto-color-emoji >/dev/null
