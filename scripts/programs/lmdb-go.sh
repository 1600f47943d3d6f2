#!/usr/bin/env bash
# Go's wrappers: the one of bmatsuo, and that of PowerDNS which goes on from it, with their tests.
# Both come with LMDB's C. It is left out, and the linker gets the library under test instead.
. "$(dirname "$0")/common.sh"
not_in_a_quick_run

sources=$PWD/build/programs/go
need "Go" go version
need "the sources of Go's wrappers" test -e "$sources/.complete"
export CGO_CFLAGS="-O2 -w" CGO_LDFLAGS="-L$prefix/lib -llmdb" GOFLAGS=-mod=mod

go_tests() { # WRAPPER PACKAGE...
    local folder=$work/$1 package output
    cp -r "$sources/$1" "$folder"
    rm "$folder"/lmdb/{mdb.c,midl.c,midl.h}
    cp "$prefix/include/lmdb.h" "$folder/lmdb/"
    # These examples declare variables that they do not use, which Go refuses by now.
    [ "$1" != bmatsuo ] || rm "$folder/lmdb/example_test.go"
    shift
    for package in "$@"; do
        output=$folder/$package.log
        mkdir -p "${output%/*}"
        (
            cd "$folder/$package"
            go test -c -vet=off -o "$folder/tests" . && with_library "$folder/tests" -test.v
        ) > "$output" 2>&1 || true
        grep -q '^PASS$' "$output" || failed=$((failed + 1))
        passed=$((passed + $(grep -c '^--- PASS' "$output" || true)))
        failed=$((failed + $(grep -c '^--- FAIL' "$output" || true)))
        skipped=$((skipped + $(grep -c '^--- SKIP' "$output" || true)))
        sed -n "s/^--- FAIL: /$program: FAILED: /p" "$output" >&2
        cat "$output" >> "$log"
    done
}

go_tests bmatsuo lmdb lmdbscan
go_tests PowerDNS lmdb lmdbscan exp/lmdbsync
finish "$(sed -e 's/.lmdb-go@v/ /g' -e 's/ P/, P/' "$sources/.complete")"
