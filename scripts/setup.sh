#!/usr/bin/env bash
# Installs what the other scripts need on a Debian machine, and only what is missing.
#
#   scripts/setup.sh rust      a linker
#   scripts/setup.sh lint      also Rust's formatter and linter
#   scripts/setup.sh demo      also the LDAP and LMDB command-line tools
#   scripts/setup.sh release   also what packs a release
#   scripts/setup.sh all       also slapd's files and Python clients, under build/
#
# Nothing is started and no service is touched: slapd is unpacked into build/slapd, never installed.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_list_is_fresh=no
refresh_apt_list() {
    [ "$apt_list_is_fresh" = no ] || return 0
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    apt_list_is_fresh=yes
}

# Installs those of the named packages that are not there yet.
need() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || {
        echo "setup: this is no Debian machine; please install the equivalents of: ${missing[*]}" >&2
        exit 1
    }
    echo "setup: installing ${missing[*]}"
    refresh_apt_list
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_rust() {
    command -v cargo >/dev/null || {
        echo "setup: cargo is missing; install the stable Rust toolchain first" >&2
        exit 1
    }
    need gcc libc6-dev git
}

# Formatter and linter, which rustup's minimal profile leaves out.
need_linters() {
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return 0
    command -v rustup >/dev/null || {
        echo "setup: cargo fmt or cargo clippy is missing; install rustfmt and clippy of the same toolchain" >&2
        exit 1
    }
    rustup component add rustfmt clippy
}

# slapd's files in build/slapd, and the libraries they are linked to from Debian.
need_slapd() {
    [ -e build/slapd/.complete ] && [ -x build/slapd/usr/sbin/slapd ] && return 0
    refresh_apt_list
    local libraries
    libraries=$(apt-cache depends slapd | sed -n 's/^ *Depends: \(lib[a-z0-9.+-]*\)$/\1/p')
    # shellcheck disable=SC2086 # one word per package
    need $libraries
    rm -rf build/slapd
    mkdir -p build/slapd
    (
        cd build/slapd
        apt-get download -qq slapd 2>/dev/null
        dpkg -x slapd_*.deb .
    )
    touch build/slapd/.complete
    echo "setup: slapd is unpacked in build/slapd"
}

# Python clients in build/venv, in the versions of scripts/requirements.txt.
need_python() {
    cmp -s scripts/requirements.txt build/venv/requirements.txt && return 0
    need python3-venv python3-dev libldap-dev libsasl2-dev
    rm -rf build/venv
    mkdir -p build
    /usr/bin/python3 -m venv build/venv
    build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
    cp scripts/requirements.txt build/venv/requirements.txt
    echo "setup: Python clients are installed in build/venv"
}

case "${1:-all}" in
    rust) need_rust ;;
    lint) need_rust; need_linters ;;
    demo) need_rust; need ldap-utils lmdb-utils ;;
    release) need_rust; need xz-utils ;;
    all)
        need_rust
        need ldap-utils lmdb-utils liblmdb-dev xz-utils
        need_slapd
        need_python
        ;;
    *) echo "setup: there is no part \"$1\"; there are rust, lint, demo, release and all" >&2; exit 2 ;;
esac
