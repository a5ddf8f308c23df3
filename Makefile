PYTHON := .venv/bin/python
TARGET ?= local
JOBS ?= $(shell nproc)
SECONDS ?= 1200

.PHONY: help bootstrap build build-tests test test-cpp test-python test-spark lint format demo \
  wheel bench bench-state faults damage fuzz sanitize clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap:
	@scripts/bootstrap

build: bootstrap ## compile the core into python/penstock (incremental)
	@test -e build/release/build.ninja || cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS)

build-tests: bootstrap
	@test -e build/default/build.ninja || cmake --preset default > /dev/null
	@cmake --build --preset default -j $(JOBS)

test: test-cpp test-python ## C++ tests, Python tests and doctests (without a Spark cluster)

test-cpp: build-tests ## C++ tests only
	ctest --preset default -j $(JOBS)

test-python: build ## Python tests and doctests only
	$(PYTHON) -m pytest -q -n $(JOBS) --dist loadfile -m 'not spark_cluster'

test-spark: build ## tests on a Spark cluster of several executors
	$(PYTHON) -m pytest -q -m spark_cluster

lint: bootstrap ## what pre-commit checks: ruff, mypy, clang-format, codespell
	scripts/lint

format: bootstrap ## rewrite the sources as lint wants them
	scripts/lint --fix

demo: build ## run the demo: make demo TARGET=local|spark
	$(PYTHON) examples/demo.py --target $(TARGET)

wheel: bootstrap ## a self-contained wheel in dist/
	scripts/wheel

bench: build ## benchmarks
	@cmake --build --preset release -j $(JOBS) --target state_bench
	$(PYTHON) bench/run.py
	$(PYTHON) bench/state.py
	$(PYTHON) -m pytest -q bench/test_parts.py

bench-state: build ## benchmark of the state of native windows
	@cmake --build --preset release -j $(JOBS) --target window_state
	build/release/bench/window_state snapshot 5000000 1
	build/release/bench/window_state snapshot 5000000 2
	build/release/bench/window_state spill 10000 2 "64 mb" 200000000
	build/release/bench/window_state spill 5000000 2 "64 mb"

faults: build ## kill jobs, damage checkpoints: the long form
	PENSTOCK_KILLS=20 PENSTOCK_CHECKPOINT_KILLS=200 $(PYTHON) -m pytest -q -m faults tests/faults

damage: build ## damage checkpoints and savepoints 10,000 times
	PENSTOCK_DAMAGES=10000 $(PYTHON) -m pytest -q -n $(JOBS) tests/faults/test_damage.py

sanitize: bootstrap ## C++ and native Python tests under ASan, UBSan and TSan
	scripts/sanitize

property: build build-tests ## state against models at random: the long form
	PENSTOCK_PROPERTY_SEEDS=5000 build/default/cpp/timers/timers_test --gtest_filter='HeapTimerQueueTest.*'
	PENSTOCK_PROPERTY_SEEDS=2000 build/default/cpp/state/state_test --gtest_filter='*AtRandom*:EntryTableTest.Agrees*'
	HYPOTHESIS_PROFILE=long $(PYTHON) -m pytest -q -n $(JOBS) -m property -o timeout=0 tests/state

fuzz: bootstrap ## libFuzzer over all that reads bytes from disk: make fuzz SECONDS=1200 (of CPU)
	scripts/fuzz --seconds $(SECONDS) --jobs $(JOBS)

clean: ## remove all that was built (the venv stays)
	rm -rf build dist python/penstock/_core.*.so* .mypy_cache .pytest_cache .ruff_cache .hypothesis
