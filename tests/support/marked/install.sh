#!/usr/bin/env bash
# The reader of Markdown that Open WebUI 0.12.4 carries, for the tests that read answers as it would: marked, into a
# folder that git ignores. Without npm or a network nothing is done, and those tests say that they were left out.
set -euo pipefail
cd "$(dirname "$0")/../../.."

VERSION=9.1.6
FOLDER=.cache/marked-$VERSION
[ -e "$FOLDER/.done" ] && exit 0
command -v npm >/dev/null || { echo "No npm: what the chat's own reader opens is not tested." >&2; exit 0; }
mkdir -p "$FOLDER"
if npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$FOLDER" "marked@$VERSION" html-entities@2; then
    touch "$FOLDER/.done"
else
    echo "marked $VERSION cannot be had: what the chat's own reader opens is not tested." >&2
fi
