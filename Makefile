# The only entry points. Each works on a fresh checkout with Python >= 3.11, pip and cargo.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
# an empty environment has no PATH, and perhaps no HOME
export HOME := $(or $(HOME),$(shell echo ~))
export PATH := $(or $(PATH),/usr/local/bin:/usr/bin:/bin):$(HOME)/.cargo/bin

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
CARGO := cargo --locked --config net.retry=5
CRATE := --manifest-path rust/Cargo.toml
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
RUST := $(shell find rust/src -name '*.rs')
# one by one: cargo fmt does not see the modules that a macro declares
RUSTFMT := rustfmt --edition 2024 $(RUST) $(shell find rust/tests rust/examples rust/fuzz/src rust/fuzz/targets -name '*.rs')
DEMO := $(patsubst %,samples/vxlan-delay200/%.pcap.gz,host1-vm sw-a sw-b host2-vm) --same-clock all

# what is built names no path of the machine that builds it
CRATES := $(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src
REMAP := --remap-path-prefix=$(CRATES)=crates --remap-path-prefix=$(CURDIR)=pcaplat
# neither does the C of crates, in its debugging information
REMAP_C := -ffile-prefix-map=$(CRATES)=crates -ffile-prefix-map=$(CURDIR)=pcaplat
CORE := pcaplat/_native.abi3.so

.PHONY: build demo test test-slow check bench bench-compare fuzz docs site wheel accuracy invariance format lock vendor
build: .venv/built

.venv/installed: requirements.lock
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found on PATH" >&2; exit 1; }
	@echo "Installing the locked dependencies into .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

.venv/built: export RUSTFLAGS += $(REMAP)
.venv/built: export CFLAGS += $(REMAP_C)
.venv/built: .venv/installed pyproject.toml rust/Cargo.toml rust/Cargo.lock $(RUST)
	@command -v cargo >/dev/null || { echo "cargo is needed (https://rustup.rs); it is not on PATH" >&2; exit 1; }
	@echo "Building the native core (a minute or two the first time)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@# where PYTHONDONTWRITEBYTECODE is set, every start would compile all modules
	@$(BIN)/python -m compileall -q pcaplat
	@# tests of what is shipped know by it that the core was built here, and how
	@sha256sum $(CORE) > $@

demo: build
	$(BIN)/pcaplat merge $(DEMO) --output out/demo --overwrite
	@echo
	@echo "The results are in out/demo:"
	@ls -1 out/demo

test: build
	cd rust && $(CARGO) test --quiet
	$(PYTEST)

test-slow: build
	cd rust && $(CARGO) test --quiet
	$(PYTEST) -m ""

check: build
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest pcaplat._native
	$(RUSTFMT) --check
	$(CARGO) clippy $(CRATE) --all-targets --all-features -- -D warnings

bench: build
	$(BIN)/python bench/run.py

# OLD and NEW: files that make bench kept; or OLD: a checkout that was built, to take turns with
bench-compare: build
	@if [ -d "$(OLD)" ]; then $(BIN)/python bench/run.py $(OLD) $(NEW); \
	  else $(BIN)/python bench/compare.py $(OLD) $(NEW); fi

# TARGET: reader, wire, stamp, matcher or merge; what it finds is a file rust/fuzz/artifacts/TARGET-*
fuzz:
	rust/fuzz/run $(TARGET) $(SECONDS)

docs: build
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/examples.py
	$(BIN)/python docs/notebook.py
	$(MAKE) site

site: build
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html docs out/site
	@echo "The site is out/site/index.html"

# a wheel for Linux with glibc 2.17 and later, without paths of this machine, and the source archive
wheel: export RUSTFLAGS += $(REMAP)
wheel: export CFLAGS += $(REMAP_C)
wheel:
	@$(PYTHON) -m venv out/release
	@out/release/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r release.lock
	PATH="$(CURDIR)/out/release/bin:$$PATH" maturin build --zig --compatibility manylinux_2_17 --strip --out dist $(TARGET:%=--target %)
	@.ci/map-paths $(CURDIR) dist/*.whl
	out/release/bin/maturin sdist --out dist

# some twenty minutes
accuracy: build
	$(BIN)/python -m tests.recovery.simulator

# hours; what out/invariance.jsonl has is not measured again
invariance: build
	$(BIN)/python -m tests.recovery.invariance

format: .venv/installed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only
	$(RUSTFMT)

# needs npm; the scripts that pages carry along
vendor: build
	$(BIN)/python docs/vendor.py

# needs uv; everything else needs only what it writes
lock:
	uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements.lock
	uv pip compile --group release --universal --python-version 3.11 --generate-hashes --no-header --output-file release.lock
