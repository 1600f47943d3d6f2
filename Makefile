# Each target is one script or one cargo command. The scripts install what they need on Debian.

PREFIX ?= /usr/local
DESTDIR ?=

# Lengths of long runs, from the command line: `make crash STATES=10000000`, `make fuzz SECONDS=300`.
STATES ?= 10000000
MUTATIONS ?= 1000000
SECONDS ?= 60
OPERATIONS ?= 500000
SOAK_SECONDS ?= 3600
FAULT_SECONDS ?= 600

.PHONY: help demo quick test soak soak-cluster release package install bench bench-full bench-replication bench-cluster bench-seeds instructions size bench-lmdb programs clients \
    differential cross crash faults damage fuzz sanitize lint clean setup site

help:
	@echo "make demo             build, load an example directory, ask it questions, serve it"
	@echo "make quick            the tests that need no other program: about two minutes"
	@echo "make test             all tests, next to the real slapd and the real LMDB"
	@echo "make lint             format, clippy, documentation, cargo xtask tidy"
	@echo "make release          archive, packages, checksums and list of components in build/dist"
	@echo "make package          a .deb and an .rpm of the optimised program in build/dist"
	@echo "make install PREFIX=  install the program and the C library (default /usr/local)"
	@echo "make bench            measure against other stores and Debian's slapd: half an hour"
	@echo "make bench-full       the same, all workloads, all sizes: hours"
	@echo "make bench-replication  measure providers and copies, ours and slapd's: a quarter of an hour"
	@echo "make bench-cluster    measure a cluster next to etcd, a single server and slapd: a quarter of an hour"
	@echo "make bench-seeds      measure again what the papers on LMDB and back-mdb measured: half an hour"
	@echo "make instructions     count the instructions of our C library, of LMDB and of our server"
	@echo "make size             print the size of our C library by crate, next to LMDB's"
	@echo "make bench-lmdb       measure liblmdb.so against a real one"
	@echo "make programs         run programs that use LMDB on our liblmdb.so, with their tests"
	@echo "make cross            build the C library for musl and for aarch64, and test it there"
	@echo "make clients          run LDAP clients and servers of eleven kinds against our server"
	@echo "make differential     random operations for slapd and our server (OPERATIONS=$(OPERATIONS))"
	@echo "make soak             two of our servers and a slapd under kills and cuts (SOAK_SECONDS=$(SOAK_SECONDS))"
	@echo "make soak-cluster     three nodes on three members of etcd, under eight faults (FAULT_SECONDS=$(FAULT_SECONDS) each)"
	@echo "make crash            test every disk state after a power loss (STATES=$(STATES))"
	@echo "make faults           let every system call fail, alone and in pairs (SECONDS=$(SECONDS))"
	@echo "make damage           read and write damaged files (MUTATIONS=$(MUTATIONS))"
	@echo "make fuzz             fuzz all inputs, guided by coverage (SECONDS=$(SECONDS) per target)"
	@echo "make sanitize         run tests under sanitizers and miri (nightly compiler)"
	@echo "make site             the documents as pages, in build/site"
	@echo "make clean            remove all build products"

setup:
	@scripts/setup.sh all

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

quick:
	@scripts/setup.sh rust
	@scripts/quick.sh

test: setup
	@scripts/test.sh

lint:
	@scripts/setup.sh lint
	@scripts/lint.sh

release:
	@scripts/setup.sh release
	@scripts/release.sh

package:
	@scripts/setup.sh package
	@scripts/package.sh all

install:
	@scripts/setup.sh rust
	@DESTDIR="$(DESTDIR)" scripts/install.sh "$(PREFIX)"

bench:
	@scripts/setup.sh bench
	@scripts/bench.sh all

bench-full:
	@scripts/setup.sh bench
	@scripts/bench.sh full

bench-replication:
	@scripts/setup.sh bench
	@scripts/bench.sh replication

bench-cluster:
	@scripts/setup.sh bench
	@scripts/bench.sh cluster

bench-seeds:
	@scripts/setup.sh bench
	@scripts/bench.sh founding

instructions:
	@scripts/setup.sh all
	@scripts/instructions.sh --show

size:
	@scripts/setup.sh rust
	@scripts/size.sh

bench-lmdb:
	@scripts/setup.sh all
	@scripts/bench-lmdb.sh

programs:
	@scripts/setup.sh programs
	@scripts/programs.sh

cross:
	@scripts/setup.sh cross
	@scripts/cross.sh

clients:
	@scripts/setup.sh clients
	@scripts/clients.sh

soak-cluster: setup
	@FULGURITE_SOAK_SECONDS=$(FAULT_SECONDS) cargo test -p fulgurite-conformance --test cluster -- soak --nocapture

soak: setup
	@FULGURITE_SOAK_SECONDS=$(SOAK_SECONDS) cargo test -p fulgurite-conformance --test scenarios -- soak --nocapture
	@FULGURITE_TEST_HOURS=24 cargo test -p fulgurite-replica --test several -- servers_that_meet_again_are_equal --nocapture

differential: setup
	@FULGURITE_DIFF_OPERATIONS=$(OPERATIONS) cargo test --release -p fulgurite-conformance --test differential -- --nocapture

crash:
	@scripts/setup.sh rust
	@cargo run --quiet --release -p fulgurite-torture -- power-loss --states $(STATES)

faults:
	@scripts/setup.sh rust
	@cargo run --quiet --release -p fulgurite-torture -- fault-injection --seconds $(SECONDS)

damage: setup
	@scripts/build-lmdb.sh
	@cargo run --quiet --release -p fulgurite-torture -- corruption --count 10000 --subjects rust,c,real --library target/lmdb/liblmdb.so
	@cargo run --quiet --release -p fulgurite-torture -- corruption --count $(MUTATIONS) --subjects rust,c --library target/lmdb/liblmdb.so

fuzz:
	@scripts/setup.sh rust
	@scripts/fuzz.sh $(SECONDS)

sanitize:
	@scripts/setup.sh rust
	@scripts/sanitize.sh address
	@scripts/sanitize.sh thread
	@scripts/miri.sh

site:
	@scripts/setup.sh site
	@PATH="$$PATH:$(CURDIR)/build/tools/bin" mdbook build docs

clean:
	cargo clean
	rm -rf build
