#!/usr/bin/env bash
# The real chat in a real browser: Open WebUI, OpenLDAP, Chromium, our server.
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=${BIN:-.venv/bin}
bash tests/e2e/install.sh all
"$BIN/python" -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable '.[test,e2e]'
"$BIN/python" -m pytest -m e2e "$@"
