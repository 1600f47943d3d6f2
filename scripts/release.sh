#!/usr/bin/env bash
# Builds the optimised program and packs it with its licences and examples into build/dist.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --package fulgurite-cli
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name="fulgurite-$version-linux-$(uname -m)"
folder="build/dist/$name"
rm -rf "$folder"
mkdir -p "$folder"
cp target/release/fulgurite README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder/"
cp -r examples "$folder/examples"
tar -C build/dist -cJf "build/dist/$name.tar.xz" "$name"
ls -l "build/dist/$name.tar.xz"
