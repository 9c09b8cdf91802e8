# `make demo` and `make test` set up everything they need.
PYTHON ?= python3
CODE   := src tests $(wildcard benchmarks examples)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
CORE   := $(VENV)/.core
STAMP  := $(VENV)/.installed

.PHONY: setup demo test check bench docs clean

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

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal

check: setup
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py

bench: setup
	$(BIN)/python -m benchmarks

docs: setup
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) demo site
