# `make` alone prints what there is. `make catalog` and `make test` need nothing but Python and make:
# both set up .venv from the lock files first, and again only when those change.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BIN := .venv/bin
# The stamp names this folder: a copied checkout sets up its own .venv, for scripts in a venv hold full paths.
HERE := $(shell printf '%s' '$(CURDIR)' | cksum | cut -d ' ' -f 1)
STAMP := .venv/.stamp-$(HERE)
STAMP_DEV := .venv/.stamp-dev-$(HERE)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install -qq
# Tests on all cores; `make test ARGS='-k kappa'` passes more to pytest.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup
ARGS ?=

.PHONY: help
help: ## Print these targets
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)$$/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) \
	  | while IFS=$$'\t' read -r target words; do printf '  make %-12s %s\n' "$$target" "$$words"; done

.PHONY: catalog
catalog: $(STAMP) ## Build the sample project's catalog and say where to open it
	@$(BIN)/evh catalog-build

.PHONY: test
test: $(STAMP_DEV) ## Run the tests; what needs a missing tool is skipped and says how to install it
	@$(PYTEST) $(ARGS)

.PHONY: lint
lint: $(STAMP_DEV) ## Check style and formatting with ruff
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

.PHONY: format
format: $(STAMP_DEV) ## Format the code and mend what ruff can mend safely
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

.PHONY: types
types: $(STAMP_DEV) ## Check types with mypy in strict mode
	@$(BIN)/mypy

.PHONY: bench
bench: $(STAMP_DEV) ## Time the work beside its peers and write tests/bench/RESULTS.md
	@$(BIN)/python -m tests.bench.run $(ARGS)

.PHONY: proofs
proofs: $(STAMP_DEV) ## Run the fault sweeps and comparisons at full size
	@if [ -f tests/faults/proofs.py ]; then $(BIN)/python -m tests.faults.proofs $(ARGS); \
	else echo 'make proofs: tests/faults/proofs.py is not there yet' >&2; exit 1; fi

.PHONY: live
live: $(STAMP_DEV) ## Label 20 real chunks with the model that EVH_LIVE_BASE_URL names, for a person to read
	@test -n "$$EVH_LIVE_BASE_URL" || { echo 'make live: set EVH_LIVE_BASE_URL to a server, as in http://localhost:8000/v1' >&2; exit 1; }
	@$(BIN)/python -m pytest -q -s tests/acts/test_label_evidence.py -k a8_live $(ARGS)

.PHONY: screenshots
screenshots: $(STAMP_DEV) ## Take the pictures of the catalog that the documents show
	@if [ -f tests/site/screenshots.py ]; then $(BIN)/python -m tests.site.screenshots $(ARGS); \
	else echo 'make screenshots: tests/site/screenshots.py is not there yet' >&2; exit 1; fi

.PHONY: sample
sample: $(STAMP) ## Make the sample project again from its raw records
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash data/make-sample.sh

.PHONY: examples
examples: $(STAMP) ## Make the example projects and their catalogs
	@for name in pairwise-preferences claims; do \
	  PATH="$(CURDIR)/$(BIN):$$PATH" bash "examples/$$name/make.sh" >/dev/null 2>&1 \
	    || { echo "make examples: examples/$$name/make.sh failed; run it to see why" >&2; exit 1; }; \
	  $(BIN)/evh -C "examples/$$name/project" catalog-build || exit 1; \
	done

.PHONY: dist
dist: $(STAMP_DEV) ## Build the sdist and the wheel into dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist

.PHONY: lock
lock: ## Resolve the dependencies again into the two lock files
	@python3 -m venv .cache/lock && .cache/lock/bin/python -m pip --disable-pip-version-check install --quiet uv
	@for part in 'requirements.lock --group build' 'requirements-dev.lock --group build --group lint --group test'; do \
	  set -- $$part; out=$$1; shift; \
	  .cache/lock/bin/uv pip compile pyproject.toml "$$@" --upgrade --universal --python-version 3.11 \
	    --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --native-tls \
	    --quiet --output-file "$$out" || exit 1; \
	done

.PHONY: clean
clean: ## Remove all that is made: .venv, .build, .cache, dist and the tools' caches
	@rm -rf .venv .build .cache dist examples/*/project .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find evh build tests data -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMP): requirements.lock pyproject.toml
	@python=; for name in $(if $(PYTHON),'$(PYTHON)',python3 python3.13 python3.12 python3.11 python); do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'evh needs Python 3.11 or newer; $(if $(PYTHON),$(PYTHON) is not one,none is on the PATH).' >&2; \
	  echo 'Install one, or name it: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)' >&2; exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$python" --version); this happens once."; \
	"$$python" -m venv --clear .venv
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP_DEV): $(STAMP) requirements-dev.lock
	@echo 'Adding what the tests and checks need to .venv.'
	@$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@
