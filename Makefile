# Everything needs only Python >= 3.11, make and a C++20 compiler: the rest is set up in $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORES := $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)

.PHONY: build test test-long lint bench docs check demo fuzz clean

build: $(VENV)/.built

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.deps: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=3.0" "cmake>=3.21" ninja \
		"setuptools>=70.1"  # liac-arff, of the tests, is built without isolation too
	@touch $@

$(VENV)/.built: $(VENV)/.deps CMakeLists.txt $(wildcard src/core/*.?pp src/core/*/*.hpp src/bindings/*)
	CMAKE_BUILD_PARALLEL_LEVEL=$(CORES) $(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[test,lint]"
	@touch $@

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(CORES) -m "not long"

test-long: $(VENV)/.test
	$(BIN)/python -m pytest -m long -s

lint: $(VENV)/.test
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy

# Label rankers beside their peers, then the seven mailboxes beside the paper; on an idle machine.
$(VENV)/.bench: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]"
	@touch $@

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/label_ranking.py
	$(BIN)/python benchmarks/enron.py

docs: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[docs]"
	$(BIN)/python -m sphinx -W -E -q -b html docs build/docs

demo: $(VENV)/.built
	$(BIN)/python -m hinge.cli demo --force --output build/demo.html

# Each parser under libFuzzer with the address and undefined-behaviour sanitizers; needs clang.
CLANG ?= clang++-14
SECONDS ?= 30
PARSERS ?= svmlight vw vw-hashed jsonl jsonl-hashed arff csv
fuzz:
	@mkdir -p $(addprefix build/fuzz/,$(PARSERS))
	$(CLANG) -std=c++20 -O2 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc tests/fuzz/text.cpp -o build/fuzz/text
	@printf '%s\n' $(PARSERS) | xargs -P $(CORES) -I @ sh -c ' \
		PARSER=@ build/fuzz/text -max_total_time=$(SECONDS) -max_len=600 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/@- build/fuzz/@ tests/fuzz/corpus >build/fuzz/@.log 2>&1; found=$$?; \
		echo "@: $$(grep number_of_executed_units build/fuzz/@.log)"; \
		[ $$found = 0 ] || { cat build/fuzz/@.log; exit 255; }'

check: lint test

clean:
	rm -rf build dist $(VENV)
