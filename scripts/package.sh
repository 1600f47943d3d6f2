#!/usr/bin/env bash
# Packs a built program as .deb and .rpm, with its symbols in a file of the same name.
#
#   scripts/package.sh deb|rpm|all [PROGRAM [FOLDER]]
#
# PROGRAM is that of a release, FOLDER is build/dist. COMPRESSION is dpkg-deb's: xz, gzip or none.
set -euo pipefail
cd "$(dirname "$0")/.."
kinds=${1:?usage: scripts/package.sh deb|rpm|all [PROGRAM [FOLDER]]}
folder=${3:-build/dist}
program=${2:-}
if [ -z "$program" ]; then
    cargo build --release --package fulgurite-cli
    program=${CARGO_TARGET_DIR:-target}/release/fulgurite
fi
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
symbols=fulgurite-$version-$(uname -m).debug
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same tree always gives the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

stage() { # ROOT ZSH-FOLDER
    SYMBOLS=$work/$symbols ZSH=$2 scripts/stage.sh "$program" "$1" /usr
    find "$1/usr/share/man" -type f -exec gzip -9n {} +
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

pack_deb() {
    local root=$work/deb architecture glibc
    architecture=$(dpkg --print-architecture)
    stage "$root" vendor-completions
    # Debian has the licences' place and the changelog's form.
    install -m 644 packaging/deb/copyright "$root/usr/share/doc/fulgurite/copyright"
    gzip -9n "$root/usr/share/doc/fulgurite/CHANGELOG.md"
    mv "$root/usr/share/doc/fulgurite/CHANGELOG.md.gz" "$root/usr/share/doc/fulgurite/changelog.gz"
    glibc=$(objdump -T "$root/usr/bin/fulgurite" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
    install -d "$root/DEBIAN"
    install -m 755 packaging/deb/postinst packaging/deb/prerm packaging/deb/postrm "$root/DEBIAN"
    sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@GLIBC@/${glibc#GLIBC_}/" \
        -e "s/@SIZE@/$(du -sk "$root/usr" | cut -f1)/" packaging/deb/control.in > "$root/DEBIAN/control"
    (cd "$root" && find usr -type f -exec md5sum {} + | sort -k2 > DEBIAN/md5sums)
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group "-Z${COMPRESSION:-xz}" --build "$root" \
        "$folder/fulgurite_${version}_$architecture.deb"
}

pack_rpm() {
    stage "$work/rpm" site-functions
    rpmbuild -bb --quiet --define "_topdir $work/rpmbuild" --define "_rpmdir $folder" \
        --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define "stage $work/rpm" --define "version $version" packaging/rpm/fulgurite.spec
    echo "packed $folder/fulgurite-$version-1.$(uname -m).rpm"
}

case $kinds in
    deb) pack_deb ;;
    rpm) pack_rpm ;;
    all) pack_deb; pack_rpm ;;
    *) echo "package: there is no kind \"$kinds\"; there are deb, rpm and all" >&2; exit 2 ;;
esac
# The program names this file. A debugger finds it in /usr/lib/debug/usr/bin.
mv "$work/$symbols" "$folder/$symbols"
