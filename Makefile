# `make demo` and `make test` set up everything they need.
PYTHON ?= python3
CODE   := src tests $(wildcard benchmarks examples)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
CORE   := $(VENV)/.core
STAMP  := $(VENV)/.installed

.PHONY: setup demo quick test check bench bench-smoke docs dist clean

setup: $(STAMP)

# What the demonstration needs: the package and the service.
$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[service]'
	touch $(CORE)

$(STAMP): $(CORE)
	$(PIP) -e '.[dev,docs]'
	touch $(STAMP)

demo: $(CORE)
	$(BIN)/shoal demo -o demo --force
	$(BIN)/shoal verify demo/letters
	$(BIN)/shoal verify demo/subjects
	$(BIN)/shoal verify demo/snapshot

# As many tests at once as there are cores; so none of them needs more than one for its sums. Modules are compiled once,
# whatever the shell says, and not again by each process that a test starts.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

# The unit tests: no browser, no server. The first run compiles the kernels.
quick: setup
	$(PYTEST) --quick

# Everything. A test that fails is run once more: a busy browser may miss a key, but what is broken fails twice.
test: setup
	$(PYTEST) --reruns 1

check: setup
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py

bench: setup
	$(BIN)/python -m benchmarks

# The benchmarks of the papers, each small enough for CI.
bench-smoke: setup
	$(BIN)/python -m benchmarks.smoke

# The options in docs/cli.md are generated from the option table.
docs: setup
	$(BIN)/python -m tests.cli_page
	$(BIN)/mkdocs build --strict

# Source, wheel and a list of what it brings along; the wheel is installed into an empty environment and tried there.
dist: $(CORE)
	$(PIP) -e '.[dist]'
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv dist/empty
	dist/empty/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	cd dist && empty/bin/shoal demo -o demo
	dist/empty/bin/shoal verify dist/demo/letters
	dist/empty/bin/shoal verify dist/demo/subjects
	$(BIN)/cyclonedx-py environment dist/empty --output-reproducible --output-file dist/shoal.cdx.json
	du -sm dist/empty
	rm -rf dist/empty dist/demo

clean:
	rm -rf $(VENV) demo dist site
