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
names=("$@")
if [ ${#names[@]} = 0 ]; then
    for script in scripts/programs/*.sh; do
        name=$(basename "$script" .sh)
        [ "$name" = common ] || names+=("$name")
    done
fi
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
status=0
for name in "${names[@]}"; do
    timeout --kill-after=10 "${LIMIT:-600}" "scripts/programs/$name.sh" "$prefix" | tee -a "$summary"
    result=${PIPESTATUS[0]}
    [ "$result" = 0 ] || status=1
    [ "$result" != 124 ] || echo "$name: took too long: 0 passed, 1 failed, 0 skipped" | tee -a "$summary"
done
awk '{ for (i = 2; i <= NF; i++) { word = $i; sub(/[;,]$/, "", word); figures[word] += $(i - 1) } }
     END { printf "programs: %d passed, %d failed, %d skipped\n", figures["passed"], figures["failed"], figures["skipped"] }' "$summary"
exit "$status"
