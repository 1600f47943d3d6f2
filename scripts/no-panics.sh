#!/usr/bin/env bash
# Proves at link time that no panic is reachable in the C library, as the compiler made it.
#
#   scripts/no-panics.sh [ARCHIVE]      ARCHIVE is target/lmdb/liblmdb.a unless told otherwise
#
# All code of the library is one object with a section for each function. A linker that collects
# garbage keeps the sections that an exported function reaches. The proof cuts two functions short,
# which report lack of memory. Then the handler of panics must not be among the kept sections.
#
# The outcome depends on the optimiser. So only the compiler named here can make the check fail;
# another one prints what it found.
set -euo pipefail
cd "$(dirname "$0")/.."
compiler=1.95
archive=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/lmdb/liblmdb.a}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(rustc --version)
cd "$work"

handler='__rustc.*rust_begin_unwind'
# Memory that is lacking, and a length that no memory has. Rust's collections call them where the
# engine has not asked beforehand.
lack_of_memory='__rdl_alloc_error_handler|raw_vec[0-9]+capacity_overflow'

ar x "$archive"
object=$(ls lmdb.*.o)
mv "$object" library
mapfile -t others < <(ls ./*.o)

# Links an object with the rest of the archive. Only what its exported functions reach is kept.
link() { # OBJECT NAME
    objcopy --remove-section=.eh_frame "$1" "$2.o"
    cc -shared -Wl,--gc-sections -Wl,-z,defs -o "$2.so" "$2.o" "${others[@]}" -lc
}
has_handler() { [ -n "$(nm "$1.so" | grep -E "$handler")" ]; }

# Without the cuts the handler must be found. Else the names above are old, and prove nothing.
link library whole
has_handler whole || { echo "no-panics: the handler of panics is not found" >&2; exit 1; }

printf '\x0f\x0b' > end
cuts=()
for section in $(readelf -SW library | grep -oE "\.text[^ ]*($lack_of_memory)" | sort -u); do
    cuts+=(--update-section "$section=end" --remove-relocations="$section")
done
objcopy "${cuts[@]}" library short
link short short
if ! has_handler short; then
    echo "no-panics: no panic is reachable, with $version"
    exit 0
fi

echo "no-panics: these functions can panic, with $version:" >&2
objdump -d -C --no-show-raw-insn short.so | python3 -c '
import re, sys
panics = re.compile(r"core::(panicking|(option|result)::(expect|unwrap)_failed|slice::index::slice|cell::panic)")
sites, function = set(), ""
for line in sys.stdin:
    if opening := re.match(r"[0-9a-f]+ <(.*)>:", line):
        function = opening.group(1)
    elif (call := re.search(r"(?:call|jmp).*<(.*)>", line)) and panics.match(call.group(1)):
        if not panics.match(function):
            sites.add(function)
print(*sorted(sites), sep="\n")
' >&2
case $version in
    "rustc $compiler."*) exit 1 ;;
    *) echo "no-panics: only the outcome with $compiler counts" >&2 ;;
esac
