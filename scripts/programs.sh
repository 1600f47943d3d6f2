#!/usr/bin/env bash
# Judges our liblmdb.so by programs that know nothing of it: one line each, and a sum at the end.
#
#   scripts/programs.sh [NAMES...]           all of scripts/programs, on the library of this tree
#   PREFIX=folder scripts/programs.sh        on the library installed in that folder instead
#   QUICK=1 scripts/programs.sh              without what takes minutes
#
# Each script proves which library its processes had loaded; scripts/programs/common.sh tells how.
set -uo pipefail
cd "$(dirname "$0")/.."

prefix=${PREFIX:-}
if [ -z "$prefix" ]; then
    prefix=$PWD/build/programs/ours
    scripts/install-lmdb.sh "$prefix" || exit 1
fi
. scripts/each.sh
run_each programs scripts/programs "${LIMIT:-600}" "$@" -- "$prefix"
