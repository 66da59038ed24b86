# Everything that is done with Selkie from a checkout. `make run` and `make test` need nothing before them but git and
# Rust on a Debian 12: what else is missing they install (scripts/install-deps.sh).

SHELL := /bin/bash
.DEFAULT_GOAL := build

# Outside of the checkout, so that it survives `git clean` and is shared by checkouts.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/selkie/target
# rustup puts cargo there; a shell that was open before may not know it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

# The one profile: what is tested and measured is what runs.
CARGO_FLAGS := --release --locked
BINARY := $(CARGO_TARGET_DIR)/release/selkie

# For `make run`; `make run PORT=3307 DATADIR=/srv/selkie ARGS='--server-id=2'`
PORT ?= 3306
DATADIR ?= $(CURDIR)/data
ARGS ?=

.PHONY: roundtrip binlog-replay help build run test tidy suites bench crash fsyncs fuzz differential slt doc deps test-deps clean

help:
	@echo 'make build         build ./selkie'
	@echo 'make run           build and start it on 127.0.0.1:$(PORT) with its data in ./data'
	@echo 'make test          everything that must hold: tidy, unit tests, suites on both engines'
	@echo 'make suites        only the suites; UPDATE_EXPECT=1 rewrites what they expect'
	@echo 'make differential  random statements on MariaDB and Selkie (SEED=, STATEMENTS=)'
	@echo 'make slt           the public sqllogictest corpus (SLT=folder, SLT_MOST=records of a file)'
	@echo 'make roundtrip     dumps of MariaDB into Selkie and back, client programs, memory while restoring (ROUNDTRIP_ARGS=)'
	@echo "make binlog-replay Selkie's log through mariadb-binlog into a MariaDB: equal tables"
	@echo 'make bench         compare with MariaDB by sysbench (BENCH_QUICK=1: a few minutes)'
	@echo 'make crash         kill -9 under load, restart, compare with what clients were told (ROUNDS=)'
	@echo 'make fsyncs        count syncs per commit with strace'
	@echo 'make fuzz          property tests with many cases (FUZZ_CASES=)'
	@echo 'make doc           documentation of the code'

deps:
	@scripts/install-deps.sh
	@command -v cargo >/dev/null || { echo 'Rust is missing: see https://rustup.rs' >&2; exit 1; }

test-deps:
	@scripts/install-deps.sh test
	@command -v cargo >/dev/null || { echo 'Rust is missing: see https://rustup.rs' >&2; exit 1; }

build: deps
	cargo build $(CARGO_FLAGS) -p selkie-server
	@ln -sfn '$(BINARY)' selkie

run: build
	@exec ./selkie serve --datadir='$(DATADIR)' --bind-address=127.0.0.1 --port='$(PORT)' $(ARGS)

tidy:
	cargo run $(CARGO_FLAGS) --quiet -p xtask -- tidy

test: test-deps build tidy
	cargo test $(CARGO_FLAGS) --workspace --no-fail-fast

suites: test-deps build
	cargo test $(CARGO_FLAGS) -p selkie-server --test suites -- --nocapture

differential: test-deps build
	cargo run $(CARGO_FLAGS) -p selkie-test-support --bin differential -- \
	    --selkie ./selkie --seed '$(or $(SEED),1)' --statements '$(or $(STATEMENTS),5000)'

# Where the corpus is that nobody here wrote.
SLT ?= ../shared/compat/slt

slt: build
	cargo run $(CARGO_FLAGS) -p selkie-test-support --bin slt -- \
	    --selkie ./selkie --folder '$(SLT)' --most '$(or $(SLT_MOST),1000000)'

roundtrip: test-deps build
	tests/roundtrip/run.py --selkie ./selkie $(ROUNDTRIP_ARGS)

binlog-replay: test-deps build
	tests/roundtrip/run.py --selkie ./selkie zabbix binlog

bench: test-deps build
	benches/compare/run.py --selkie ./selkie

crash: test-deps build
	cargo run $(CARGO_FLAGS) -p selkie-test-support --bin ledger -- --selkie ./selkie --rounds '$(or $(ROUNDS),5)'

fsyncs: test-deps build
	scripts/count-fsyncs.sh ./selkie

fuzz: test-deps
	PROPTEST_CASES='$(or $(FUZZ_CASES),20000)' cargo test $(CARGO_FLAGS) \
	    -p selkie-types -p selkie-protocol -p selkie-binlog -p selkie-parser -p selkie-txn

# Coverage-guided, 5 minutes each; needs a nightly compiler and `cargo install cargo-fuzz`.
fuzz-targets: test-deps
	for t in protocol parser log; do \
	    (cd fuzz && cargo +nightly fuzz run $$t -- -max_total_time='$(or $(FUZZ_SECONDS),300)') || exit 1; done

doc: deps
	RUSTDOCFLAGS='-D rustdoc::broken_intra_doc_links' cargo doc $(CARGO_FLAGS) -p selkie-server --no-deps
	cargo doc $(CARGO_FLAGS) --workspace --no-deps
	@echo 'open $(CARGO_TARGET_DIR)/doc/selkie_server/index.html'

clean:
	cargo clean
	rm -f selkie
