# facetflow: `make` prints this help.
#
# Everything lives in .venv; nothing else on the machine is touched. Packages are installed again when pyproject.toml or
# constraints.txt changes. PYTHON selects the interpreter (3.11 or later) of a new .venv; `make clean` removes one.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXAMPLE := runs/example

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export DO_NOT_TRACK := 1
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export TOKENIZERS_PARALLELISM := false
# Tests start hundreds of processes, each of which would recompile the project if this were set.
export PYTHONDONTWRITEBYTECODE :=

# One more than there are cores, at most four: tests of flows spend much of their time waiting for other processes.
TESTERS := $(shell $(PYTHON) -c 'import os; print(min(4, 1 + (os.cpu_count() or 1)))')

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help run test soak mteb check axe docs dist-check bench lock clean

help: ## print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run models ## set up, then: build, train, evaluate and explain the built-in example
	$(call run_example,"$(CURDIR)/$(BIN)/facetflow",$(EXAMPLE))

define run_example
$(1) new $(2) --example --if-missing
cd $(2) && $(1) build
cd $(2) && $(1) train
cd $(2) && $(1) evaluate
cd $(2) && $(1) explain --pairs pairs-to-explain.tsv
@cd $(2) && $(1) report
endef

# pytest-xdist would begin with the files with most tests, which are the quickest (tests/conftest.py sets the order).
PYTEST = HF_HUB_OFFLINE=1 $(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile --no-loadscope-reorder
test: $(VENV)/.dev models ## set up, then run all tests except those of `make soak`
	$(PYTEST) -m "not soak"

soak: $(VENV)/.dev models ## run the tests that kill, signal, join clusters and wait for schedules, and others of ten seconds or more
	$(PYTEST) -m soak

# Not in .dev: whatever imports sentence-transformers would import pandas and datasets, too.
mteb: $(VENV)/.dev models ## install MTEB and run the tests of its adapter
	$(BIN)/python tools/install.py mteb
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest tests/facetflow/test_benchmarking.py

check: $(VENV)/.dev ## lint, types, layers, formatting, the Dockerfile
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tools/mypy.ini
	$(BIN)/lint-imports --no-logo
	$(BIN)/hadolint Dockerfile

# Only tests load it, into the browser; without it they skip that check.
axe: ## fetch axe-core by npm, by which tests look for barriers on the explorer's pages
	npm install --silent --no-save --prefix build/axe axe-core@4.14.1

# Strict: a link that leads nowhere is an error. The pages load nothing from elsewhere, and search needs no server.
docs: $(VENV)/.docs ## build the documentation as a site: build/site/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --nitpicky docs build/site

# A wheel made from the sdist, since that is what people build from; no module of the clone may help it.
DIST := build/dist
dist-check: ## build sdist and wheel, install the wheel in an environment of its own, and run the example there
	rm -rf $(DIST) build/lib build/bdist.*
	$(PYTHON) -m venv $(DIST)/venv
	$(DIST)/venv/bin/python -m pip install --quiet "setuptools>=77"
	$(DIST)/venv/bin/python -c 'from setuptools.build_meta import build_sdist; build_sdist("$(DIST)")' > $(DIST)/sdist.log
	$(DIST)/venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir $(DIST) $(DIST)/*.tar.gz
	$(DIST)/venv/bin/python tools/install.py all $(DIST)/*.whl
	cd $(DIST) && venv/bin/facetflow models pull
	$(call run_example,"$(CURDIR)/$(DIST)/venv/bin/facetflow",$(DIST)/example)

# Benchmarks that take your own data sets as arguments, or compare with a package that is not installed here.
NEED_MORE := benchmarks/aspects.py benchmarks/dependency_trees.py benchmarks/paraphrase.py benchmarks/structured_encoder.py benchmarks/facet_scores.py \
	benchmarks/aspect_training.py benchmarks/s3bert_paper.py benchmarks/s3bert_recipes.py benchmarks/s3bert_training.py benchmarks/amr_as_text.py
bench: $(VENV)/.dev models ## run every benchmark that needs no data or packages of your own (see benchmarks/README.md)
	for script in $(filter-out $(NEED_MORE),$(wildcard benchmarks/*.py)); do $(BIN)/python $$script || exit 1; done

lock: ## resolve pyproject.toml into constraints.txt
	$(PYTHON) -m pip install --quiet --target build/uv uv
	build/uv/bin/uv pip compile --quiet pyproject.toml --extra dev --extra docs --extra maps --extra mteb --extra tensorboard --python-version 3.11 --no-annotate --no-header \
		--find-links "$${PIP_FIND_LINKS:-.}" --no-emit-find-links --output-file constraints.txt
	# A local build of torch satisfies the plain version; the suffix would tie the file to one machine.
	sed -i 's/^torch==\([0-9.]*\)+.*/torch==\1/' constraints.txt

clean: ## remove the environment, the caches and the example's results
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(EXAMPLE)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Compiles the metrics once, instead of in each of the first processes that need them.
WARM_UP := $(BIN)/python -c 'from features.metrics.measurement import warm_up; warm_up()'
.PHONY: models
models:
	@$(BIN)/facetflow --version > /dev/null || { echo '$(VENV) was moved or lost its Python: `make clean`, then again' >&2; exit 1; }
	$(WARM_UP) & $(BIN)/facetflow models pull && wait $$!

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit("facetflow needs Python 3.11 or later, and $(PYTHON) is %s: make PYTHON=/path/to/python3.11" % sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# Compiles what is installed on all cores, and the metrics beside it: pip would use one, and take as long as the
# installation itself. Modules that nobody imports are left out. A few packages ship files for other Pythons, which do
# not compile; that is harmless.
UNUSED := /tests?/|/(transformers/models|spacy/lang|pygments/lexers|apprise/plugins|dateparser/data|sqlalchemy/testing)/
UNUSED := $(UNUSED)|/(torch/(_inductor|testing)|sympy/(combinatorics|physics|stats|tensor)|scipy/(io|signal))/
UNUSED := $(UNUSED)|/(dask/(array|dataframe)|numba/cuda|numpy/distutils)/|/site-packages/(networkx|pip|setuptools)/
COMPILE := $(WARM_UP) & $(BIN)/python -W ignore::SyntaxWarning -m compileall -qq --workers 0 -x '$(UNUSED)' $(VENV)/lib; wait $$!

# A test machine has everything that a user's machine has: the stamp .dev implies .run.
$(VENV)/.run: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(BIN)/python tools/install.py all
	@$(COMPILE)
	touch $@

$(VENV)/.dev: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(BIN)/python tools/install.py dev
	@$(COMPILE)
	touch $@ $(VENV)/.run

$(VENV)/.docs: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(BIN)/python tools/install.py dev,docs
	touch $@ $(VENV)/.dev $(VENV)/.run
