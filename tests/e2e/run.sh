#!/usr/bin/env bash
# The real chat in a real browser: Open WebUI, OpenLDAP, Chromium, our server.
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=${BIN:-.venv/bin}
export E2E_SCREENS=${E2E_SCREENS-docs/pictures}  # the pictures of the pages; empty: only taken, not kept
bash tests/e2e/install.sh all
VENV=${BIN%/bin} sh tests/fresh/install.sh test e2e
"$BIN/python" -m pytest -m e2e "$@"
