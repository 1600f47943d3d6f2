#!/usr/bin/env bash
# Puts a built program with pages, completions, units and documents below ROOT, for PREFIX.
#
#   scripts/stage.sh PROGRAM ROOT PREFIX
#
# The program is stripped. If SYMBOLS names a file, the symbols go there, and the program refers to
# it. ZSH names the folder of zsh's completions below PREFIX/share/zsh.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:?usage: scripts/stage.sh PROGRAM ROOT PREFIX}
prefix=${3:?usage: scripts/stage.sh PROGRAM ROOT PREFIX}
root=$2$prefix
share=$root/share

install -d "$root/bin"
if [ -n "${SYMBOLS:-}" ]; then
    objcopy --only-keep-debug --compress-debug-sections "$program" "$SYMBOLS"
    chmod 644 "$SYMBOLS"
fi
strip -o "$root/bin/fulgurite" "$program"
[ -z "${SYMBOLS:-}" ] || objcopy --add-gnu-debuglink="$SYMBOLS" "$root/bin/fulgurite"
chmod 755 "$root/bin/fulgurite"

install -D -m 644 -t "$share/man/man1" packaging/man/*.1
install -D -m 644 -t "$share/man/man5" packaging/man/*.5
install -D -m 644 packaging/completions/fulgurite.bash "$share/bash-completion/completions/fulgurite"
install -D -m 644 -t "$share/zsh/${ZSH:-site-functions}" packaging/completions/_fulgurite
install -D -m 644 -t "$share/fish/vendor_completions.d" packaging/completions/fulgurite.fish

install -d "$root/lib/systemd/system"
sed "s|^ExecStart=/usr/bin/|ExecStart=$prefix/bin/|" packaging/systemd/fulgurite.service \
    > "$root/lib/systemd/system/fulgurite.service"
chmod 644 "$root/lib/systemd/system/fulgurite.service"
install -D -m 644 packaging/systemd/sysusers.conf "$root/lib/sysusers.d/fulgurite.conf"
install -D -m 644 packaging/systemd/tmpfiles.conf "$root/lib/tmpfiles.d/fulgurite.conf"

install -D -m 644 -t "$share/doc/fulgurite" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT
install -D -m 644 -t "$share/doc/fulgurite/docs" docs/*.md
install -D -m 644 -t "$share/doc/fulgurite/examples" examples/fulgurite.toml examples/harbour.ldif
