#!/usr/bin/env bash
# Judges our server by LDAP clients that know nothing of it: one line each, and a sum at the end.
#
#   scripts/clients.sh [NAMES...]            all of scripts/clients, those left out whose language is not installed
#   SLAPD=1 scripts/clients.sh               Debian's slapd in our server's place: proves the clients' own questions
#
# scripts/setup.sh clients installs what all of them need.
set -uo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet -p fulgurite-cli || exit 1
names=("$@")
if [ ${#names[@]} = 0 ]; then
    for script in scripts/clients/*.sh; do
        name=$(basename "$script" .sh)
        [ "$name" = common ] || names+=("$name")
    done
fi
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
status=0
for name in "${names[@]}"; do
    timeout --kill-after=10 "${LIMIT:-300}" "scripts/clients/$name.sh" | tee -a "$summary"
    result=${PIPESTATUS[0]}
    [ "$result" = 0 ] || status=1
    [ "$result" != 124 ] || echo "$name: took too long: 0 passed, 1 failed, 0 skipped" | tee -a "$summary"
done
awk '{ for (i = 2; i <= NF; i++) { word = $i; sub(/[;,]$/, "", word); figures[word] += $(i - 1) } }
     END { printf "clients: %d passed, %d failed, %d skipped\n", figures["passed"], figures["failed"], figures["skipped"] }' "$summary"
exit "$status"
