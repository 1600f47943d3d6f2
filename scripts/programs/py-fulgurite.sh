#!/usr/bin/env bash
# The engine's own package for Python: its wheel is built, and its tests run. One of them lets
# py-lmdb, on the library under test, read and change the file of the package.
. "$(dirname "$0")/common.sh"

python=$PWD/build/programs/pip/bin/python
release=1.8.1
built=$work/site
# A quick run builds without optimisation, which takes a third of the time.
profile=--release
[ -z "${QUICK:-}" ] || profile=
(
    cd bindings/python
    # shellcheck disable=SC2086 # no profile is no argument
    "${python%/*}/maturin" build --locked $profile --interpreter "$python" --out "$work/wheels"
) >> "$log" 2>&1
LMDB_FORCE_SYSTEM=1 LMDB_INCLUDEDIR=$prefix/include LMDB_LIBDIR=$prefix/lib LMDB_FORCE_CPYTHON=1 \
    "$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --target "$built" "$work"/wheels/*.whl "build/programs/python/lmdb-$release" >> "$log" 2>&1
(
    cd bindings/python/tests
    PYTHONPATH=$built with_library "$python" -m pytest -q -p no:cacheprovider
) > "$work/tests.log" 2>&1 || true
read -r p f s < <(tail -1 "$work/tests.log" | awk '
    { for (i = 2; i <= NF; i++) { word = $i; sub(/[^a-z].*/, "", word); n[word] += $(i - 1) } }
    END { print n["passed"] + 0, n["failed"] + n["error"] + n["errors"] + 0, n["skipped"] + 0 }')
[ "$p" -gt 0 ] || f=$((f + 1))
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
grep '^FAILED\|^ERROR' "$work/tests.log" >&2 || true
if [ -z "${QUICK:-}" ]; then
    PYTHONPATH=$built with_library "$python" bindings/python/tests/compare.py 50000 | tee "$work/compare.log"
fi
finish "$("$python" - "$built" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from importlib.metadata import version
print("fulgurite", version("fulgurite"))
PY
)"
