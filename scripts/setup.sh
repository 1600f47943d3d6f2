#!/usr/bin/env bash
# Installs what the other scripts need on a Debian machine, and only what is missing.
#
#   scripts/setup.sh rust      a linker
#   scripts/setup.sh lint      also Rust's formatter and linter
#   scripts/setup.sh demo      also the LDAP and LMDB command-line tools
#   scripts/setup.sh package   also what makes packages
#   scripts/setup.sh site      what makes a site of the documents, under build/
#   scripts/setup.sh fuzz      what runs the fuzz targets, under build/
#   scripts/setup.sh release   also what packs a release
#   scripts/setup.sh clients   LDAP clients of other languages and servers that look things up, under build/
#   scripts/setup.sh programs  what runs programs on our liblmdb.so: slapd's, Postfix's, Knot's, ... files, under build/
#   scripts/setup.sh cross     compilers for other machines and C libraries, and what runs their programs
#   scripts/setup.sh hdb       slapd 2.4 with back-hdb and back-bdb, which founding papers measured, under build/
#   scripts/setup.sh bench     other key/value stores and slapd, which ours are measured beside, under build/
#   scripts/setup.sh all       everything: also Python clients and the real LMDB 0.9.36, under build/
#
# Nothing is started and no service is touched: slapd and the like are unpacked below build/, never
# installed.
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

# A program from crates.io, in build/tools/bin. Nothing is put into the user's folder of cargo.
need_crate() { # NAME
    command -v "$1" >/dev/null || [ -x "build/tools/bin/$1" ] ||
        cargo install --quiet --locked --root build/tools "$1"
}

# The maker of lists of components. A release without one says so.
need_sbom() {
    need_crate cargo-cyclonedx ||
        echo "setup: cargo-cyclonedx cannot be installed; the release has no list of components" >&2
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

# Debian's etcd and its command-line client, in build/etcd. Installed, they would start a service.
need_etcd() {
    [ ! -e build/etcd/.complete ] || return 0
    refresh_apt_list
    rm -rf build/etcd
    mkdir -p build/etcd
    (
        cd build/etcd
        apt-get download -qq etcd-server etcd-client 2>/dev/null || exit 1
        for package in *.deb; do dpkg -x "$package" . && rm "$package"; done
        touch .complete
    ) || { echo "setup: etcd is not to be had here; tests of the cluster's log are skipped" >&2; return 0; }
    echo "setup: etcd is unpacked in build/etcd"
}

# Prometheus's checker of rules, in build/promtool.
need_promtool() {
    [ ! -x build/promtool/usr/bin/promtool ] || return 0
    refresh_apt_list
    rm -rf build/promtool
    mkdir -p build/promtool
    (
        cd build/promtool
        apt-get download -qq prometheus 2>/dev/null
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar xf - ./usr/bin/promtool
        rm prometheus_*.deb
    ) || { echo "setup: promtool is not to be had here; the alert rules stay unchecked" >&2; return 0; }
    echo "setup: promtool is unpacked in build/promtool"
}

# Lets apt read another list than the machine's, into FOLDER/apt. The array `elsewhere` is that apt.
apt_elsewhere() { # FOLDER KIND SUITE
    local folder=$1 mirror
    rm -rf "$folder/apt"
    mkdir -p "$folder/apt/state/lists/partial" "$folder/apt/cache/archives/partial"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/*$' || true)
    echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} $3 main" \
        > "$folder/apt/sources.list"
    elsewhere=(apt-get -qq -o "Dir::Etc::SourceList=$folder/apt/sources.list" -o Dir::Etc::SourceParts=-
        -o "Dir::State=$folder/apt/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$folder/apt/cache"
        -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any)
    "${elsewhere[@]}" update >/dev/null 2>&1
}

# slapd 2.4.57 of Debian 11, the last release with back-hdb and back-bdb, in build/slapd-2.4/root.
need_hdb() {
    local folder=$PWD/build/slapd-2.4
    [ ! -e "$folder/.complete" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder/packages"
    (
        cd "$folder/packages"
        apt_elsewhere "$folder" deb bullseye || exit 1
        "${elsewhere[@]}" download slapd libldap-2.4-2 libdb5.3 libltdl7 libodbc1 libperl5.32 libwrap0 >/dev/null 2>&1 || exit 1
        for package in *.deb; do dpkg -x "$package" ../root; done
    ) || { echo "setup: slapd 2.4 of Debian 11 is not to be had here; the bench and some tests do without" >&2; return 0; }
    rm -rf "$folder/packages" "$folder/apt"
    touch "$folder/.complete"
    echo "setup: slapd 2.4 with back-hdb and back-bdb is unpacked in build/slapd-2.4"
}

# The sources of a package of Debian, as their authors released them, in build/programs/sources.
need_debian_source() { # PACKAGE
    local folder=$PWD/build/programs/sources
    [ ! -e "$folder/$1/.complete" ] || return 0
    rm -rf "${folder:?}/$1"
    mkdir -p "$folder/$1"
    (
        cd "$folder"
        apt_elsewhere "$folder" deb-src "$(. /etc/os-release && echo "$VERSION_CODENAME")" || exit 1
        "${elsewhere[@]}" source --tar-only "$1" >/dev/null 2>&1 || exit 1
        tar -C "$1" --strip-components=1 -xf "$1"_*.orig.tar.*
        rm "$1"_*.orig.tar.*
    ) || { echo "setup: the source of $1 is not to be had here; its recipe is skipped" >&2; return 0; }
    rm -rf "$folder/apt"
    touch "$folder/$1/.complete"
    echo "setup: the source of $1 is in $folder/$1"
}

# 389 Directory Server in build/389-ds/root, with those of its libraries that this machine lacks.
# Leaves out the packages that only its installation and its tools in Python and Perl need.
need_389ds() {
    [ -e build/389-ds/.complete ] && return 0
    refresh_apt_list
    local libraries library
    libraries=$(apt-cache depends 389-ds-base 389-ds-base-libs | sed -n 's/^ *Depends: \(lib[a-z0-9.+-]*\)$/\1/p' | grep -v -e '-perl$' | sort -u)
    rm -rf build/389-ds
    mkdir -p build/389-ds/packages
    (
        cd build/389-ds/packages
        apt-get download -qq 389-ds-base 389-ds-base-libs 2>/dev/null || exit 1
        for library in $libraries; do
            dpkg -s "$library" >/dev/null 2>&1 || apt-get download -qq "$library" 2>/dev/null || true
        done
        for package in *.deb; do dpkg -x "$package" ../root; done
    ) || { echo "setup: 389-ds is not to be had here; the bench does without" >&2; return 0; }
    rm -rf build/389-ds/packages
    touch build/389-ds/.complete
    echo "setup: 389-ds is unpacked in build/389-ds"
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

# A browser with its driver, Selenium and axe-core in build/console: they try the console.
need_browser() {
    command -v chromedriver >/dev/null && command -v chromium >/dev/null ||
        (need chromium chromium-driver) ||
        { echo "setup: Chromium is not to be had here; nothing tries the console in a browser" >&2; return 0; }
    mkdir -p build/console
    [ -e build/console/venv/.complete ] || {
        /usr/bin/python3 -m venv build/console/venv &&
            build/console/venv/bin/python -m pip install --quiet --disable-pip-version-check selenium==4.51.0 &&
            touch build/console/venv/.complete
    } || { echo "setup: Selenium is not to be had here; nothing tries the console in a browser" >&2; return 0; }
    [ -e build/console/axe.min.js ] || {
        command -v npm >/dev/null || (need npm)
        (cd build/console && npm pack --silent axe-core@4.14.1 >/dev/null &&
            tar xzf axe-core-4.14.1.tgz --strip-components=1 package/axe.min.js)
    } || echo "setup: axe-core is not to be had here; the console's accessibility is not checked" >&2
}

# Unpacks packages and those of their libraries that this machine lacks into FOLDER/root, unless
# they are there.
unpack() { # FOLDER PACKAGES...
    local folder=$1 files=$1/root wanted
    shift
    wanted=$*
    [ "$(cat "$files/.complete" 2>/dev/null)" != "$wanted" ] || return 0
    refresh_apt_list
    rm -rf "$files"
    mkdir -p "$files" "$folder/packages"
    (
        cd "$folder/packages"
        # The packages, and what apt would install here for them: what they need and is missing.
        {
            printf '%s\n' "$@"
            apt-get install -s --no-install-recommends "$@" | awk '/^Inst/ { print $2 }'
        } | sort -u | xargs apt-get download -qq 2>/dev/null
        for package in *.deb; do dpkg -x "$package" ../root; done
    )
    rm -rf "$folder/packages"
    echo "$wanted" > "$files/.complete"
    echo "setup: $wanted are unpacked in $files"
}

# PHP's packages carry its version, which php-cli depends on.
php_version() {
    apt-cache depends php-cli | sed -n 's/^ *Depends: \(php[0-9.]*\)-cli$/\1/p'
}

# Programs that use LMDB.
need_debian_programs() {
    local php
    php=$(php_version)
    unpack build/programs postfix postfix-lmdb knot "$php-cli" "$php-dba" pdns-server pdns-backend-lmdb bind9 bind9-dnsutils \
        ldb-tools liblmdb-file-perl liblmdb++-dev
}

# More of them, with their libraries in a folder that no other recipe uses.
need_debian_services() {
    unpack build/programs/services dnsdist knot-resolver dns-root-data cfengine3
}

# Programs that ask a directory.
need_debian_clients() {
    local php
    php=$(php_version)
    unpack build/clients libnet-ldap-perl libio-socket-ssl-perl "$php-cli" "$php-ldap" postfix postfix-ldap dovecot-core dovecot-ldap apache2-bin nslcd libnss-ldapd
}

# The real library, which ours is compared with: its newest release of the 0.9 line comes with
# PyPI's lmdb. lmdb.h and liblmdb.so in build/lmdb-0.9.36, and the same as an installed prefix
# (include/, lib/).
reference_release=3.0.0
reference_version=0.9.36

need_reference_lmdb() {
    local folder=build/lmdb-$reference_version sources
    [ ! -e "$folder/.complete" ] || return 0
    need gcc libc6-dev python3-venv
    rm -rf "$folder"
    mkdir -p "$folder/lib/pkgconfig" "$folder/include"
    sources=$(source_of lmdb "$reference_release")/lib
    (
        gcc -std=gnu11 -O2 -fPIC -shared -pthread -w -Wl,-soname,liblmdb.so.0 \
            -o "$folder/lib/liblmdb.so.0" "$sources/mdb.c" "$sources/midl.c"
        cp "$sources/lmdb.h" "$folder/include/"
        ln -s liblmdb.so.0 "$folder/lib/liblmdb.so"
        ln -s lib/liblmdb.so "$folder/liblmdb.so"
        ln -s lib/liblmdb.so.0 "$folder/liblmdb.so.0"
        ln -s include/lmdb.h "$folder/lmdb.h"
        cat > "$folder/lib/pkgconfig/lmdb.pc" <<PC
prefix=$PWD/$folder
Name: lmdb
Description: the real LMDB, for comparison
Version: $reference_version
Libs: -L\${prefix}/lib -llmdb
Cflags: -I\${prefix}/include
PC
    )
    touch "$folder/.complete"
    echo "setup: the real LMDB $reference_version is built in $folder"
}

# The unpacked source release of a Python package, below build/programs/python; prints the folder.
source_of() { # NAME VERSION
    local folder=build/programs/python
    if [ ! -d "$folder/$1-$2" ]; then
        mkdir -p "$folder"
        need_pip >&2
        build/programs/pip/bin/python -m pip download --quiet --disable-pip-version-check \
            --no-deps --no-binary "$1" --dest "$folder" "$1==$2" >&2
        tar -C "$folder" -xzf "$folder/$1-$2.tar.gz"
        rm "$folder/$1-$2.tar.gz"
    fi
    echo "$folder/$1-$2"
}

# A Python of our own that downloads and builds packages.
need_pip() {
    [ ! -x build/programs/pip/bin/maturin ] || return 0
    need python3-venv python3-dev gcc
    mkdir -p build/programs
    /usr/bin/python3 -m venv build/programs/pip
    build/programs/pip/bin/python -m pip install --quiet --disable-pip-version-check setuptools wheel pytest cffi maturin
}

# The sources of Rust's bindings and wrappers, in build/programs/rust/vendor, and what their tests
# need from the registry.
rust_wrappers="heed=0.23.1 lmdb-rkv=0.14.0"

need_rust_wrappers() {
    local folder=build/programs/rust wrapper
    [ "$(cat "$folder/.complete" 2>/dev/null)" != "$rust_wrappers" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder/src"
    touch "$folder/src/lib.rs"
    {
        printf '[package]\nname = "wrappers"\nedition = "2021"\n[workspace]\n[dependencies]\n'
        for wrapper in $rust_wrappers; do echo "${wrapper%=*} = \"=${wrapper#*=}\""; done
    } > "$folder/Cargo.toml"
    cargo vendor --quiet --manifest-path "$folder/Cargo.toml" "$folder/vendor" >/dev/null
    # Each is outside of the workspaces above it, so that its tests can run.
    for wrapper in heed lmdb-master-sys lmdb-rkv lmdb-rkv-sys; do
        printf '\n[workspace]\n' >> "$folder/vendor/$wrapper/Cargo.toml"
        cargo fetch --quiet --manifest-path "$folder/vendor/$wrapper/Cargo.toml"
    done
    echo "$rust_wrappers" > "$folder/.complete"
    echo "setup: sources of ${rust_wrappers//=/ } are in $folder"
}

# The sources of Go's wrappers, in build/programs/go, and of the modules that they name.
go_wrappers="bmatsuo/lmdb-go@v1.8.0 PowerDNS/lmdb-go@v1.9.3"

need_go_wrappers() {
    local folder=$PWD/build/programs/go wrapper
    [ "$(cat "$folder/.complete" 2>/dev/null)" != "$go_wrappers" ] || return 0
    command -v go >/dev/null || need golang-go
    rm -rf "$folder"
    mkdir -p "$folder"
    for wrapper in $go_wrappers; do
        cp -r "$(cd "$folder" && go mod download -json "github.com/$wrapper" | sed -n 's/^\t*"Dir": "\(.*\)",$/\1/p')" \
            "$folder/${wrapper%%/*}"
        chmod -R u+w "$folder/${wrapper%%/*}"
        (
            cd "$folder/${wrapper%%/*}"
            # The older one comes from a time before modules.
            [ -e go.mod ] || printf 'module github.com/%s\n\ngo 1.19\n' "${wrapper%@*}" > go.mod
            [ ! -e go.sum ] || go mod download
        )
    done
    echo "$go_wrappers" > "$folder/.complete"
    echo "setup: sources of Go's wrappers are in $folder"
}

# lmdbjava and its jars, in build/programs/java.
need_lmdbjava() {
    local folder=$PWD/build/programs/java
    cmp -s scripts/programs/java/pom.xml "$folder/pom.xml" && return 0
    command -v javac >/dev/null || need default-jdk-headless
    command -v mvn >/dev/null || need maven
    rm -rf "$folder"
    mkdir -p "$folder"
    mvn -q -B -f scripts/programs/java/pom.xml dependency:copy-dependencies -DoutputDirectory="$folder"
    cp scripts/programs/java/pom.xml "$folder/"
    echo "setup: lmdbjava is in $folder"
}

# The key/value stores of the bench. Debian's are in build/engines/root, libmdbx is built from its
# crate's sources. An adapter lets Rust call Berkeley DB, whose functions are members of C
# structures.
mdbx_release=14.4.0

need_engines() {
    local folder=build/engines files=build/engines/root
    need gcc libc6-dev binutils
    unpack "$folder" librocksdb7.8 libleveldb1d libkyotocabinet16v5 libdb5.3 libdb5.3-dev libsqlite3-0 liblmdb0
    if ! cmp -s bench/compare/adapters/berkeley.c "$folder/berkeley.c"; then
        gcc -O2 -fPIC -shared -Wall -I "$files/usr/include" -o "$folder/libberkeley-adapter.so" bench/compare/adapters/berkeley.c \
            "$(echo "$files"/usr/lib/*-linux-gnu/libdb-5.3.so)"
        cp bench/compare/adapters/berkeley.c "$folder/"
    fi
    need_mdbx "$folder/mdbx-$mdbx_release"
}

# memcached, which `fulgurite memcached` and the founding tables are compared with.
need_memcached() {
    unpack build/memcached memcached libevent-2.1-7
}

# Clients of memcached.
need_memcached_clients() {
    local php
    php=$(php_version)
    unpack build/memcached-clients libmemcached-tools libmemcached11 libmemcachedutil2 libhashkit2 libcache-memcached-perl \
        libstring-crc32-perl python3-pymemcache python3-pylibmc python3-six "$php-cli" "$php-memcached" "$php-igbinary" "$php-msgpack"
}

# A KDC of MIT Kerberos that keeps its principals in a directory.
need_kdc() {
    unpack build/kdc krb5-kdc krb5-admin-server krb5-kdc-ldap krb5-user
}

# Redis, the peer of durable sets in the bench.
need_redis() {
    unpack build/redis redis-server redis-tools
}

need_mdbx() { # FOLDER
    [ ! -e "$1/.complete" ] || return 0
    rm -rf "$1"
    mkdir -p "$1/src"
    touch "$1/src/lib.rs"
    printf '[package]\nname = "mdbx"\nedition = "2021"\n[workspace]\n[dependencies]\nmdbx-sys = "=%s"\n' "$mdbx_release" > "$1/Cargo.toml"
    cargo vendor --quiet --manifest-path "$1/Cargo.toml" "$1/vendor" >/dev/null
    gcc -std=gnu11 -O2 -fPIC -shared -pthread -w -DNDEBUG -o "$1/libmdbx.so" "$(find "$1/vendor" -name mdbx.c | head -1)"
    touch "$1/.complete"
    echo "setup: libmdbx of crate mdbx-sys $mdbx_release is built in $1"
}

# The tools of scripts/cross.sh.
need_cross() {
    need musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static lmdb-utils binutils
    local target libraries
    libraries=$(rustc --print sysroot)/lib/rustlib
    for target in x86_64-unknown-linux-musl aarch64-unknown-linux-gnu; do
        [ ! -d "$libraries/$target/lib" ] || continue
        command -v rustup >/dev/null || {
            echo "setup: please install Rust's standard library for $target" >&2
            exit 1
        }
        rustup target add "$target"
    done
}

# The programs that scripts/programs.sh runs on our liblmdb.so.
need_programs() {
    need liblmdb-dev lmdb-utils ldap-utils pkg-config
    need_slapd
    need_debian_programs
    need_debian_services
    need_rust_wrappers
    need_pip
    source_of lmdb 1.4.1 >/dev/null
    source_of lmdb 1.8.1 >/dev/null
    source_of lmdb "$reference_release" >/dev/null
}

# Recipes that build their program need these; a quick run leaves them out.
need_built_programs() {
    need gcc make libssl-dev autoconf automake libtool flex bison libjson-perl libncurses-dev comerr-dev
    need_reference_lmdb
    need_debian_source cyrus-sasl2
    need_debian_source heimdal
    need_go_wrappers
    need_lmdbjava
    need_389ds
}

case "${1:-all}" in
    rust) need_rust ;;
    lint) need_rust; need g++; need_linters ;;
    demo) need_rust; need ldap-utils lmdb-utils ;;
    site) need_crate mdbook ;;
    fuzz) need_crate cargo-fuzz ;;
    package) need_rust; need binutils dpkg rpm ;;
    release) need_rust; need xz-utils binutils dpkg rpm; need_sbom ;;
    all)
        need_rust
        need ldap-utils lmdb-utils liblmdb-dev xz-utils g++ pkg-config sqlite3 db5.3-util gdbmtool
        need_slapd
        need_hdb
        need_python
        need_browser
        need_programs
        need_debian_clients
        need_memcached
        need_memcached_clients
        need_kdc
        need_reference_lmdb
        need_promtool
        need_etcd
        need valgrind
        ;;
    bench)
        need_rust
        need liblmdb-dev ldap-utils valgrind python3
        need_slapd
        need_389ds
        need_hdb
        need_reference_lmdb
        need_engines
        need_memcached
        need_redis
        ;;
    cross) need_rust; need_cross ;;
    hdb) need_hdb ;;
    clients)
        need_rust
        need openssl curl ldap-utils
        # Any version of these will do, wherever it comes from.
        command -v go >/dev/null || need golang-go
        command -v npm >/dev/null || need nodejs npm
        command -v javac >/dev/null || need default-jdk-headless
        need_slapd
        need_debian_clients
        need_memcached_clients
        need_kdc
        ;;
    programs) need_rust; need_programs; need_built_programs ;;
    *) echo "setup: there is no part \"$1\"; there are rust, lint, demo, package, site, release, clients, programs, cross, hdb, bench and all" >&2; exit 2 ;;
esac
