#!/usr/bin/env bash
# PyPI's lmdb: each release is built against the library under test and runs its own test-suite on
# it.
. "$(dirname "$0")/common.sh"

python=$PWD/build/programs/pip/bin/python
releases="1.4.1 1.8.1"
[ -n "${QUICK:-}" ] || releases+=" 3.0.0"

for release in $releases; do
    sources=$PWD/build/programs/python/lmdb-$release
    built=$work/lmdb-$release
    # LMDB_FORCE_SYSTEM: none of the C sources that come with the package are compiled.
    LMDB_FORCE_SYSTEM=1 LMDB_INCLUDEDIR=$prefix/include LMDB_LIBDIR=$prefix/lib LMDB_FORCE_CPYTHON=1 \
        "$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
        --target "$built" "$sources" >> "$log" 2>&1
    cp -r "$sources/tests" "$built/tests"
    (
        cd "$built/tests"
        # LMDB_PURE: the tests of changes that the package makes to its own copy of LMDB are
        # skipped. test_preload counts page faults, which have become few since files lie in large
        # folios; it fails on any library.
        PYTHONPATH=$built LMDB_PURE=1 LMDB_FORCE_SYSTEM=1 with_library "$python" -m pytest -q -p no:cacheprovider \
            --deselect cursor_test.py::PreloadTest::test_preload *_test.py
    ) > "$work/$release.log" 2>&1 || true
    read -r p f s < <(tail -1 "$work/$release.log" | awk '
        { for (i = 2; i <= NF; i++) { word = $i; sub(/[^a-z].*/, "", word); n[word] += $(i - 1) } }
        END { print n["passed"] + 0, n["failed"] + n["error"] + n["errors"] + 0, n["skipped"] + n["deselected"] + 0 }')
    [ "$p" -gt 0 ] || f=$((f + 1))
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    grep '^FAILED\|^ERROR' "$work/$release.log" >&2 || true
done
finish "$releases"
