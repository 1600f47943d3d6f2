#!/usr/bin/env bash
# Packs the optimised program with pages, completions, documents and examples into build/dist. It
# adds packages, a list of components (SBOM) and checksums.
#
#   scripts/release.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/tools/bin
program=${1:-}
if [ -z "$program" ]; then
    cargo build --release --package fulgurite-cli
    program=${CARGO_TARGET_DIR:-target}/release/fulgurite
fi
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name="fulgurite-$version-linux-$(uname -m)"
dist=${DIST:-build/dist}
rm -rf "$dist"
mkdir -p "$dist/$name"

scripts/stage.sh "$program" "$dist/stage" /usr/local
mv "$dist"/stage/usr/local/* "$dist/$name/"
rm -rf "$dist/stage" "$dist/$name/share/doc"
cp -r README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT docs examples "$dist/$name/"
install -D -m 644 -t "$dist/$name/packaging/container" packaging/container/*.yaml
tar -C "$dist" --owner=0 --group=0 --sort=name -cJf "$dist/$name.tar.xz" "$name"
rm -rf "${dist:?}/$name"

scripts/package.sh all "$program" "$dist"
xz -f "$dist"/*.debug

# CycloneDX, of the crates that the program contains.
if command -v cargo-cyclonedx >/dev/null; then
    cargo cyclonedx --quiet --format json --manifest-path crates/cli/Cargo.toml --override-filename sbom
    # The list names crates by their folders. Those of this machine say nothing to others.
    sed "s|file://$PWD/|file:///|g" crates/cli/sbom.json > "$dist/$name.cdx.json"
    find . -path ./target -prune -o -name sbom.json -exec rm -f {} +
else
    echo "release: no list of components, because cargo-cyclonedx is missing" >&2
fi
(cd "$dist" && sha256sum -- * > SHA256SUMS)
ls -l "$dist"
