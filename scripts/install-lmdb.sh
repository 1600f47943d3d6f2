#!/usr/bin/env bash
# Installs the C library below PREFIX: shared and static, header, pkg-config file, command-line
# tools, man pages. DESTDIR goes before PREFIX in the paths written to, but not in the files'
# contents. PROFILE is cargo's.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${1:?usage: scripts/install-lmdb.sh PREFIX}
root=${DESTDIR:-}$prefix
profile=${PROFILE:-lmdb}
target=${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}

cargo build --quiet --profile "$profile" --package fulgurite-lmdb --package fulgurite-lmdb-tools
# The shared one once more by itself, optimised as a whole: a tenth smaller, see
# bench/lmdb/README.md.
[ "$profile" != lmdb ] || scripts/build-lmdb.sh

# The names the loader, the linker and the original's users know it by.
install -d "$root/lib" "$root/include" "$root/lib/pkgconfig" "$root/bin" "$root/share/man/man1"
install -m 644 "$target/liblmdb.so" "$root/lib/liblmdb.so.0.0.0"
strip --strip-unneeded "$root/lib/liblmdb.so.0.0.0"
ln -sf liblmdb.so.0.0.0 "$root/lib/liblmdb.so.0"
ln -sf liblmdb.so.0 "$root/lib/liblmdb.so"

# The static library is one object that shows only the interface. So its copy of Rust's library
# cannot conflict with another one in the same program.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t symbols < <(nm -D --defined-only "$target/liblmdb.so" | sed -n 's/.* T //p')
ld -r --gc-sections "${symbols[@]/#/-u}" -o "$work/lmdb.o" "$target/liblmdb.a"
printf '%s\n' "${symbols[@]}" > "$work/symbols"
objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd --keep-global-symbols="$work/symbols" "$work/lmdb.o"
rm -f "$root/lib/liblmdb.a"
ar rcs "$root/lib/liblmdb.a" "$work/lmdb.o"
chmod 644 "$root/lib/liblmdb.a"

install -m 644 crates/lmdb/include/lmdb.h "$root/include/lmdb.h"
version=$(sed -n 's/^#define MDB_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' crates/lmdb/include/lmdb.h | paste -sd.)
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" crates/lmdb/lmdb.pc.in \
    > "$root/lib/pkgconfig/lmdb.pc"
chmod 644 "$root/lib/pkgconfig/lmdb.pc"

for tool in mdb_stat mdb_copy mdb_dump mdb_load mdb_drop; do
    install -s -m 755 "$target/$tool" "$root/bin/$tool"
    install -m 644 "crates/lmdb-tools/man/$tool.1" "$root/share/man/man1/$tool.1"
done
echo "installed $root/lib/liblmdb.so.0"
