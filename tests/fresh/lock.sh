#!/bin/sh
# `make lock`: requirements.lock from pyproject.toml, for all its Python versions at once.
# What stands in the lock stays while it fits; `make lock UPGRADE=--upgrade` takes the newest.
set -eu
cd "$(dirname "$0")/../.."
"${PYTHON:-python3}" -m venv .venv-lock
.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
oldest=$(sed -n 's/^requires-python = ">=\([0-9.]*\),.*/\1/p' pyproject.toml)
head=$(sed '/^[^#]/,$d' requirements.lock)
.venv-lock/bin/uv pip compile pyproject.toml --all-extras --group lock --universal --python-version "$oldest.0" \
    --fork-strategy fewest --generate-hashes --no-annotate --no-header --quiet ${UPGRADE:-} \
    --output-file requirements.lock
# torch itself states its packages for graphics cards exactly, other ones for each of its builds: none is locked.
{ printf '%s\n' "$head"; sed '/^nvidia-\|^cuda-\|^triton==/,/[^\\]$/d' requirements.lock; } >requirements.lock.new
mv requirements.lock.new requirements.lock
