# The same few commands on a laptop and in CI. `make` alone lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := sh tests/fresh/install.sh
export Q SOURCE PYTHON VENV UPGRADE

.PHONY: help demo serve chat test test-models test-long test-mutations test-server test-compose e2e bench bench-peers soak test-fresh lint fix lock again

help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.base ## index the sample wiki, start the real server, ask one question: make demo Q="…"
	@$(BIN)/python -m tests.demo

serve: $(VENV)/.base ## the same, and the server stays up for your Open WebUI
	@$(BIN)/python -m tests.demo --serve

chat: $(VENV)/.base ## the same, with a real Open WebUI; your own wiki: make chat SOURCE=xml:export.zip
	@bash tests/e2e/install.sh
	@$(BIN)/python -m tests.e2e.chat

test: $(VENV)/.test ## all tests but the marked ones; no torch
	@$(BIN)/python -m pytest --numprocesses 2

test-models: $(VENV)/.models ## heavy adapters on tiny models made in the tests, a real llama.cpp server
	@$(BIN)/python -m pytest -m models

test-long: $(VENV)/.test ## crash, property and scale tests
	@$(BIN)/python -m pytest -m long

test-mutations: $(VENV)/.test ## small changes of the code that decides who reads: do the tests see them? SEED=2 COUNT=60
	@$(BIN)/python -m tests.mutations --seed $(or $(SEED),1) --count $(or $(COUNT),60)

test-fresh: ## the two commands of README on fresh Debian 12 and 13, as an ordinary user; as root or with Docker
	@$(PYTHON) -m tests.fresh $(MACHINES)

test-server: $(VENV)/.test ## contract and promises on a real Qdrant server: the one on PATH or at ASKWIKI_QDRANT_URL
	@if command -v qdrant >/dev/null || [ -n "$$ASKWIKI_QDRANT_URL" ]; then $(BIN)/python -m pytest -m server; \
	else $(BIN)/python -c "from tests.support.qdrant import HOW; print('Nothing is tested:', HOW)"; fi

test-compose: $(VENV)/.test ## the whole compose file in real containers, used, broken and mended; needs Docker
	@BIN=$(BIN) bash tests/compose/run.sh

e2e: $(VENV)/.test ## real Open WebUI, LDAP and Chromium
	@BIN=$(BIN) bash tests/e2e/run.sh

bench: $(VENV)/.bench ## speed and memory: bench.json and a table
	@$(BIN)/python -m tests.bench

bench-peers: $(VENV)/.test .venv-peers/.done ## side by side with peers; WIKI=KIND:PATH QUESTIONS=FILE, else the sample wiki
	@bash tests/e2e/install.sh
	@BENCH_WIKI="$(WIKI)" BENCH_QUESTIONS="$(QUESTIONS)" $(BIN)/python -m tests.bench peers

soak: $(VENV)/.bench ## 5,000 questions and 20 syncs in one process: what grows; ten minutes
	@$(BIN)/python -m tests.bench soak

lint: $(VENV)/.test ## ruff, mypy, and a linter for the Dockerfile where it can be had
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@if [ -x $(BIN)/hadolint ]; then $(BIN)/hadolint Dockerfile; fi

fix: $(VENV)/.test ## let ruff mend what it can
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

lock: ## write requirements.lock anew after a change of pyproject.toml; UPGRADE=--upgrade takes newer versions
	@sh tests/fresh/lock.sh

# Looks first whether the machine has what it takes; again where the environment's Python went away.
$(VENV)/.base: pyproject.toml requirements.lock $(shell test -x $(BIN)/python || echo again)
	@echo "Installing askwiki into $(VENV) (about 150 MB to fetch, a minute) …"
	@$(INSTALL)
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	@$(INSTALL) test bench
	@touch $@

$(VENV)/.test: $(VENV)/.base
	@$(INSTALL) test
	@touch $@

$(VENV)/.models: $(VENV)/.test
	@$(INSTALL) test models llm-test
	@touch $@

.venv-peers/.done: tests/bench/peers/requirements.txt
	@echo "Installing the peers into .venv-peers …"
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@
