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

cargo build --quiet --profile "$profile" --package fulgurite-lmdb-tools
# A library of another profile, for tests, has both kinds of functions and the standard library.
libraries=(lmdb)
if [ "$profile" = lmdb ]; then
    EXTRAS=1 scripts/build-lmdb.sh
    libraries=(lmdb fulgurite)
else
    cargo build --quiet --profile "$profile" --package fulgurite-lmdb
fi

install -d "$root/lib" "$root/include" "$root/lib/pkgconfig" "$root/bin" "$root/share/man/man1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in "${libraries[@]}"; do
    # The names the loader, the linker and the original's users know it by.
    install -m 644 "$target/lib$name.so" "$root/lib/lib$name.so.0.0.0"
    strip --strip-unneeded "$root/lib/lib$name.so.0.0.0"
    ln -sf "lib$name.so.0.0.0" "$root/lib/lib$name.so.0"
    ln -sf "lib$name.so.0" "$root/lib/lib$name.so"

    # The static library is one object that shows only the interface. So its copy of Rust's library
    # cannot conflict with another one in the same program.
    mapfile -t symbols < <(nm -D --defined-only "$target/lib$name.so" | sed -n 's/.* T //p')
    ld -r --gc-sections "${symbols[@]/#/-u}" -o "$work/$name.o" "$target/lib$name.a"
    printf '%s\n' "${symbols[@]}" > "$work/symbols"
    objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
        --keep-global-symbols="$work/symbols" "$work/$name.o"
    rm -f "$root/lib/lib$name.a"
    ar rcs "$root/lib/lib$name.a" "$work/$name.o"
    chmod 644 "$root/lib/lib$name.a"
done

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
