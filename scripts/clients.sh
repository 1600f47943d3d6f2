#!/usr/bin/env bash
# Judges our server by LDAP clients that know nothing of it: one line each, and a sum at the end.
#
#   scripts/clients.sh [NAMES...]            all of scripts/clients, those left out whose language is not installed
#   SLAPD=1 scripts/clients.sh               Debian's slapd in our server's place: proves the clients' own questions
#
# scripts/setup.sh clients installs what all of them need.
set -uo pipefail
cd "$(dirname "$0")/.."
# The whole workspace has the features of the tests, so nothing is built twice.
cargo build --quiet --workspace --bin fulgurite || exit 1
. scripts/each.sh
run_each clients scripts/clients "${LIMIT:-300}" "$@" --
