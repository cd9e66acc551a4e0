#!/usr/bin/env bash
# docker-compose.yml in real containers, with a directory of employees, a scripted model and Chromium before it.
# TORCH_INDEX: where the build finds torch, when not at its usual place. COMPOSE_SCREENS: where the pictures go.
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=${BIN:-.venv/bin}
for words in "docker compose version" "docker info"; do
    if ! $words >/dev/null 2>&1; then
        echo "Nothing is tested: test-compose needs Docker 20.10 or newer with its compose plugin, running (\"$words\" fails)."
        exit 0
    fi
done
# Images that no registry gives must be here already.
for image in $(sed -n 's/^ *image: *\(.*\/.*\)/\1/p' docker-compose.yml | grep -v vllm) "$(sed -n 's/^FROM \(.*\) AS base/\1/p' Dockerfile)"; do
    if ! docker image inspect "$image" >/dev/null 2>&1 && ! docker pull --quiet "$image" >/dev/null 2>&1; then
        echo "Nothing is tested: the image $image is not on this machine and no registry gives it."
        exit 0
    fi
done
bash tests/support/marked/install.sh
command -v chromium >/dev/null || [ -n "${CHROMIUM:-}" ] || {
    if [ "$(id -u)" -ne 0 ]; then echo "Missing Debian package: apt-get install chromium" >&2; exit 2; fi
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu fonts-noto-color-emoji >/dev/null
}
export COMPOSE_SCREENS=${COMPOSE_SCREENS-docs/pictures}
VENV=${BIN%/bin} sh tests/fresh/install.sh test e2e
"$BIN/python" -m pytest -m compose tests/compose "$@"
