# The same words on a laptop and in CI. Needs git, make, Python >= 3.11 and Go >= 1.26; says what is missing.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# A pack started by the engine must not buffer the line that names its port.
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: help setup toolchain definitions testtools fluxtools storetool nodetools demo demo-recovery test check lint types contracts unit e2e bench soak schema sdk dist lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(VENV)/.installed ## a virtual environment with everything locked

$(VENV)/.installed: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed; install it or set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, found $$($(PYTHON) --version); set PYTHON=..." >&2; exit 1; }
	@echo "setup: installing the locked packages into $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@PYTHONWARNINGS=ignore $(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

toolchain: ## build the engine, the provider and the control plane (cached outside the clone)
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed; install it or set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) toolchain/build.py >/dev/null

definitions: ## fetch the definitions of the ecosystem's custom resources (cached outside the clone)
	@$(PYTHON) toolchain/definitions.py >/dev/null

testtools: ## what only the end-to-end tests need: Helm, actionlint, definitions of Argo CD and Flux
	@$(PYTHON) toolchain/test_tools.py >/dev/null

fluxtools: ## the controllers of Flux for tests/e2e/test_flux.py, which is skipped without them; takes long once
	@$(PYTHON) toolchain/test_tools.py --flux >/dev/null

storetool: ## an object store for tests/e2e/test_backends.py, a part of which is skipped without it
	@$(PYTHON) toolchain/test_tools.py --store >/dev/null

nodetools: setup ## what a real node of the sandbox runs (Linux, root); names what the machine lacks
	@$(PYTHON) toolchain/build.py --node >/dev/null
	@$(PY) -m holdfast.sandbox.node.requirements

demo: setup toolchain definitions ## the main job on the embedded sandbox
	@$(PY) -m examples.demo

demo-recovery: setup toolchain definitions ## a cluster and a state that are lost, and brought back
	@$(PY) -m examples.recovery

test: setup toolchain definitions check e2e ## everything: lint, types, contracts, unit, policy and end-to-end tests

check: lint types contracts unit ## the fast half

lint: setup
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .

types: setup
	@$(PY) -m mypy

contracts: setup
	@$(VENV)/bin/lint-imports --no-cache

unit: setup
	@$(PY) -m pytest -q -n 2 $(wildcard tests/unit tests/policies tests/contract)

e2e: setup toolchain definitions testtools
	@$(PY) -m pytest -q -n 2 --dist loadfile tests/e2e

bench: setup toolchain ## the benchmarks, each a ratio against a named baseline
	@$(PY) -m bench

soak: setup toolchain ## ten minutes of rollouts without a false alarm, then ten of edits, restarts and faults
	@$(PY) -m bench.soak 600
	@$(PY) -m bench.storm 600

schema: setup ## rewrite the published schemas, the components' argument types, the pages about rules and verbs
	@$(PY) -m holdfast.report.published
	@$(PY) -m tests.policies.rule_pages --write
	@$(PY) -m holdfast.components.argument_types
	@$(PY) -m ruff format -q infra/holdfast/components/arguments.py
	@$(PY) -m holdfast.components.package
	@$(PY) -m holdfast.cli.help_pages
	@$(PY) -m holdfast.cli.completion_words

SDK ?= dist/sdk
sdk: setup toolchain ## the components for TypeScript programs, in dist/sdk/nodejs
	@mkdir -p $(SDK)
	@eval "$$($(VENV)/bin/holdfast env)" && \
	  pulumi package gen-sdk docs/schema/package.schema.json --language nodejs --local --out $(SDK) >/dev/null
	@$(PYTHON) toolchain/sdk_imports.py $(SDK)/nodejs
	@echo "sdk: wrote $(SDK)/nodejs" >&2

dist: setup ## the wheel and the sdist in dist/, the same bytes for the same commit
	@$(PY) toolchain/distribution.py

lock: ## rewrite requirements.lock (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --extra dev --constraint toolchain/python-pins.txt --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache infra/*.egg-info
