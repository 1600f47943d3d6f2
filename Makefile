# The front door. Each target is one script or one cargo command; the scripts install what they need on Debian.

PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help demo test release install bench bench-lmdb programs fuzz lint clean setup

help:
	@echo "make demo             build, load an example directory, ask it questions, serve it"
	@echo "make test             everything that is checked before a change lands"
	@echo "make lint             format, clippy, documentation, the rules of the house"
	@echo "make release          an optimised program, packed in build/dist"
	@echo "make install PREFIX=  install the program and the C library (default /usr/local)"
	@echo "make bench            measure, beside Debian's slapd"
	@echo "make bench-lmdb       measure liblmdb.so, beside the real one"
	@echo "make programs         run programs that use LMDB on our liblmdb.so, with their own tests"
	@echo "make fuzz             random and mutated input, for longer than in the tests"
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
	@scripts/setup.sh all
	@scripts/bench.sh

bench-lmdb:
	@scripts/setup.sh all
	@scripts/bench-lmdb.sh

programs:
	@scripts/setup.sh programs
	@scripts/programs.sh

fuzz: setup
	@scripts/fuzz.sh

clean:
	cargo clean
	rm -rf build
