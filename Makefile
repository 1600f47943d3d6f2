# The front door. Each target is one script or one cargo command; the scripts install what they need on Debian.

PREFIX ?= /usr/local
DESTDIR ?=

# What long runs take from the command line: `make crash STATES=10000000`, `make fuzz SECONDS=300`.
STATES ?= 10000000
MUTATIONS ?= 1000000
SECONDS ?= 60
OPERATIONS ?= 500000

.PHONY: help demo test release install bench bench-full instructions bench-lmdb programs clients differential crash faults damage fuzz sanitize lint clean setup

help:
	@echo "make demo             build, load an example directory, ask it questions, serve it"
	@echo "make test             everything that is checked before a change lands"
	@echo "make lint             format, clippy, documentation, the rules of the house"
	@echo "make release          an optimised program, packed in build/dist"
	@echo "make install PREFIX=  install the program and the C library (default /usr/local)"
	@echo "make bench            measure, beside other key/value stores and Debian's slapd: a quarter of an hour"
	@echo "make bench-full       the same, all workloads, all sizes: hours"
	@echo "make instructions     count the instructions of our C library's operations, beside the real one's"
	@echo "make bench-lmdb       measure liblmdb.so, beside the real one"
	@echo "make programs         run programs that use LMDB on our liblmdb.so, with their own tests"
	@echo "make clients          LDAP clients in Go, Java, Perl, PHP, ...; Postfix, Dovecot, Apache, nslcd ask our server"
	@echo "make differential     random operations for Debian's slapd and for ours (OPERATIONS=$(OPERATIONS))"
	@echo "make crash            every state a disk could hold after a power loss (STATES=$(STATES))"
	@echo "make faults           every system call fails, one by one and in pairs (SECONDS=$(SECONDS) of pairs)"
	@echo "make damage           mutated files, walked and written to, beside the real library (MUTATIONS=$(MUTATIONS))"
	@echo "make fuzz             random and mutated input, guided by coverage (SECONDS=$(SECONDS) for each target)"
	@echo "make sanitize         threads and memory under sanitizers, and what can under miri (nightly compiler)"
	@echo "make clean            remove what was built"

setup:
	@scripts/setup.sh all

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test: setup
	@scripts/test.sh

lint:
	@scripts/setup.sh lint
	@scripts/lint.sh

release:
	@scripts/setup.sh release
	@scripts/release.sh

install:
	@scripts/setup.sh rust
	@DESTDIR="$(DESTDIR)" scripts/install.sh "$(PREFIX)"

bench:
	@scripts/setup.sh bench
	@scripts/bench.sh all

bench-full:
	@scripts/setup.sh bench
	@scripts/bench.sh full

instructions:
	@scripts/setup.sh all
	@scripts/instructions.sh --show

bench-lmdb:
	@scripts/setup.sh all
	@scripts/bench-lmdb.sh

programs:
	@scripts/setup.sh programs
	@scripts/programs.sh

clients:
	@scripts/setup.sh clients
	@scripts/clients.sh

differential: setup
	@FULGURITE_DIFF_OPERATIONS=$(OPERATIONS) cargo test --release -p fulgurite-conformance --test differential -- --nocapture

crash:
	@scripts/setup.sh rust
	@cargo run --quiet --release -p fulgurite-torture -- power --states $(STATES)

faults:
	@scripts/setup.sh rust
	@cargo run --quiet --release -p fulgurite-torture -- faults --seconds $(SECONDS)

damage: setup
	@scripts/build-lmdb.sh
	@cargo run --quiet --release -p fulgurite-torture -- damage --count 10000 --subjects rust,c,real --library target/lmdb/liblmdb.so
	@cargo run --quiet --release -p fulgurite-torture -- damage --count $(MUTATIONS) --subjects rust,c --library target/lmdb/liblmdb.so

fuzz:
	@scripts/setup.sh rust
	@scripts/fuzz.sh $(SECONDS)

sanitize:
	@scripts/setup.sh rust
	@scripts/sanitize.sh address
	@scripts/sanitize.sh thread
	@scripts/miri.sh

clean:
	cargo clean
	rm -rf build
