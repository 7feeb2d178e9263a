# daybook: build, install and test. "make help" lists the targets.
#
# PG_CONFIG=path   the server to build for and test on (default: Debian's 15)
# FILES="a b"      run only these files of a suite: make regress FILES=load
# DAYBOOK_CACHE=   where everything built or reported lands (default:
#                  ~/.cache/daybook); nothing is written into the repository

SHELL := /bin/bash
.DELETE_ON_ERROR:
.NOTPARALLEL:

DAYBOOK_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/daybook
export DAYBOOK_CACHE

PG_CONFIG ?= $(shell tests/tools/server 15)
FILES ?=

version := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" daybook.control)
major = $(or $(shell $(PG_CONFIG) --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/'),$(error no server: set PG_CONFIG))
target = $(DAYBOOK_CACHE)/target/pg$(major)
output = $(DAYBOOK_CACHE)/output/pg$(major)

# Cargo on the library, for the server of PG_CONFIG.
features = --ignore-rust-version --package daybook --release --no-default-features --features pg$(major)
cargo = env PGRX_PG_CONFIG_PATH=$(PG_CONFIG) CARGO_TARGET_DIR=$(target) cargo
# Cargo on the test crate, which is the same for every server.
tests_cargo = env CARGO_TARGET_DIR=$(DAYBOOK_CACHE)/target/tests cargo
nextest = $(shell cargo nextest --version >/dev/null 2>&1 && echo nextest run --no-fail-fast || echo test --no-fail-fast)

scripts = sql/types.sql sql/tables.sql sql/functions.sql sql/views.sql sql/events.sql sql/grants.sql
extension_dir = $(shell $(PG_CONFIG) --sharedir)/extension
library_dir = $(shell $(PG_CONFIG) --pkglibdir)

# Runs a command beside a throw-away server; its log goes to the suite's output.
beside_server = mkdir -p $(output)/$@ && DAYBOOK_LOG=$(output)/$@/server.log tests/tools/cluster run $(PG_CONFIG) --

# Enough memory, and no checkpoint or vacuum in the middle of a measurement.
define bench_conf
shared_buffers = 1GB
work_mem = $(or $(WORK_MEM),4MB)
max_wal_size = 16GB
checkpoint_timeout = 1h
autovacuum = off
endef

.PHONY: help prepare build install install-files uninstall demo test test-all bench lint \
        unit regress isolation cluster docs-test clean

help: ## Print this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

prepare: ## Install the packages that building and testing need (as root)
	@tests/tools/prepare

build: ## Build the library for the server of PG_CONFIG
	$(cargo) build $(features) --lib

install: build install-files ## Build, and install into the server of PG_CONFIG

install-files:
	install -d $(extension_dir) $(library_dir)
	install -m 644 daybook.control $(extension_dir)/
	cat $(scripts) >$(extension_dir)/daybook--$(version).sql
	install -m 755 $(target)/release/libdaybook.so $(library_dir)/daybook.so

uninstall: ## Remove what install has put there
	rm -f $(extension_dir)/daybook.control $(extension_dir)/daybook--*.sql $(library_dir)/daybook.so

demo: prepare ## Show daybook at work on a throw-away server
	@$(beside_server) bash -c '"$$DAYBOOK_BINDIR/psql" --no-psqlrc --quiet <examples/demo.sql 2>&1'

test: prepare ## Run all suites on the server of PG_CONFIG
	@tests/tools/count $(foreach suite,unit regress isolation cluster docs-test,'$(MAKE) -s $(suite)')

test-all: ## Run all suites on Postgres 15, 16 and 18
	@tests/tools/count '$(MAKE) -s test' \
	    $(foreach v,16 18,'pg_config=$$(tests/tools/server $v) && $(MAKE) -s test PG_CONFIG=$$pg_config')

bench: export DAYBOOK_CONF = $(bench_conf)
bench: prepare ## Run the benchmarks on a throw-away server
	@$(beside_server) bench/run $(FILES)

lint: ## Check formatting, and clippy on the library and the test crate
	cargo fmt --all --check
	$(cargo) clippy $(features) --lib --tests -- -D warnings
	$(if $(wildcard tests/cluster/Cargo.toml),$(tests_cargo) clippy --package daybook-tests --all-targets -- -D warnings)

unit: ## Run the unit tests of the library
	@echo "== unit tests, pg$(major)"
	@tests/tools/cargo-test $(cargo) test $(features) --lib -- $(FILES)

regress: ## Run tests/regress with pg_regress
	@echo "== regress, pg$(major)"
	@$(beside_server) tests/tools/regress regress $(output)/$@ $(FILES)

isolation: ## Run tests/isolation with pg_isolation_regress
	@echo "== isolation, pg$(major)"
	@$(beside_server) tests/tools/regress isolation $(output)/$@ $(FILES)

cluster: ## Run the Rust tests of tests/cluster
	@echo "== cluster tests, pg$(major)"
ifneq ($(wildcard tests/cluster/Cargo.toml),)
	@$(beside_server) tests/tools/cargo-test $(tests_cargo) $(nextest) --package daybook-tests $(addprefix --test ,$(FILES))
else
	@echo "skipped: there is no tests/cluster"
	@echo "0 passed, 0 failed"
endif

docs-test: ## Run the SQL of README.md and docs/*.md
	@echo "== docs, pg$(major)"
	@$(beside_server) tests/docs/run.py $(FILES)

clean: ## Remove everything built or reported
	rm -rf $(DAYBOOK_CACHE)/target $(DAYBOOK_CACHE)/output
