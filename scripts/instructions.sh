#!/usr/bin/env bash
# Counts the instructions of our C library's and our server's operations. Compares them with the
# bounds in bench/compare/instructions.txt and bench/compare/server-instructions.txt.
# Compares the size of the server's program with its bound too.
#
#   scripts/instructions.sh             fails where an operation got dearer by more than 3 %
#   scripts/instructions.sh --update    writes the bounds anew
#   scripts/instructions.sh --show      tables: the original next to our library, and our server
#   scripts/instructions.sh --server OTHER    our server next to another build of it, by its path
set -euo pipefail
cd "$(dirname "$0")/.."

bounds=bench/compare/instructions.txt
server_bounds=bench/compare/server-instructions.txt
server=target/release/fulgurite
compare() {
    # The whole workspace has the features of the tests, so nothing is built twice.
    cargo build --quiet --workspace --bin compare --bin fulgurite-bench
    RUST_BACKTRACE=0 target/debug/compare "$@"
}
build_server() { cargo build --quiet --release --package fulgurite-cli; }

# Both counts run, so that one message shows all that got dearer.
both() { # FLAG
    local failed=0
    scripts/build-lmdb.sh
    build_server
    [ "${1:-}" != --check ] || scripts/size.sh --program "$server" || failed=1
    compare count ${1:+"$1" "$bounds"} || failed=1
    compare count-server --server "$server" ${1:+"$1" "$server_bounds"} || failed=1
    return "$failed"
}

case "${1:-}" in
    "") both --check ;;
    --update) both --update ;;
    --show) both "" ;;
    --server)
        [ -n "${2:-}" ] || { echo "instructions: --server needs the path of a program" >&2; exit 2; }
        build_server
        compare count-server --server "$2" --server "$server"
        ;;
    *) echo "instructions: there are --update, --show and --server" >&2; exit 2 ;;
esac
