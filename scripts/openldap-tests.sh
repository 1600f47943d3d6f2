#!/usr/bin/env bash
# Runs test scripts of OpenLDAP, unmodified, with our program as slapd: one line each, and a sum.
#
#   scripts/openldap-tests.sh CHECKOUT [NUMBERS...]     CHECKOUT has OpenLDAP's folder tests/
#   FULGURITE=program scripts/openldap-tests.sh ...     another program than target/debug/fulgurite
#   KEEP=folder scripts/openldap-tests.sh ...           keep output and databases there
#   PORT=9010 scripts/openldap-tests.sh ...             the ports after this one are used
#   WITH="otp valsort" scripts/openldap-tests.sh ...    scripts of these overlays do not skip
#   SLAPD=build/slapd scripts/openldap-tests.sh ...     Debian's slapd in our place, unpacked there
#   scripts/openldap-tests.sh CHECKOUT 050 its8444      a regression test has the number of its issue
#
# The clients are those of the system (ldap-utils), the schema files those of build/slapd. The
# filter of the scripts is compiled from the checkout. A script that says "skipped" did not run.
set -uo pipefail
cd "$(dirname "$0")/.."

checkout=$(realpath "${1:?the path of a checkout of OpenLDAP is missing}")
shift
# Those that pass with the clients of a system. 008 and 060 need OpenLDAP's test programs.
default="000 001 002 003 004 005 006 007 009 010 011 012 013 014 015 016 017 018 019 021 023 024"
default="$default 025 026 027 033 037 040 051 054 055 056 057 061 064 067 068 084"
program=$(realpath -m "${FULGURITE:-target/debug/fulgurite}")
keep=${KEEP:-$(mktemp -d)}
mkdir -p "$keep"
keep=$(realpath "$keep")
schema=$PWD/build/slapd/etc/ldap/schema

# The layout of a build of OpenLDAP, as far as the scripts look at it.
tree=$keep/tree
mkdir -p "$tree/servers/slapd/overlays" "$tree/clients/tools" "$tree/tests/progs" "$tree/include/ac"
ln -sfn "$schema" "$tree/tests/schema"
ln -sfn "$checkout/tests/data" "$tree/tests/testdata"
rm -rf "$tree/servers/slapd/slapd" "$tree/servers/slapd/overlays"
if [ -n "${SLAPD:-}" ]; then
    # The name in front lets the end of a script find its servers.
    slapd=$(realpath "$SLAPD")
    cat > "$tree/servers/slapd/slapd" <<WRAPPER
#!/bin/bash
export LD_LIBRARY_PATH=$(echo "$slapd"/usr/lib/*-linux-gnu)
exec -a "$tree/servers/slapd/slapd" "$slapd/usr/sbin/slapd" "\$@"
WRAPPER
    chmod +x "$tree/servers/slapd/slapd"
    ln -sfn "$slapd/usr/lib/ldap" "$tree/servers/slapd/overlays"
    ln -sfn "$slapd/usr/lib/ldap" "$tree/servers/slapd/back-mdb"
    is_module=mod
else
    ln -sfn "$program" "$tree/servers/slapd/slapd"
    mkdir -p "$tree/servers/slapd/overlays"
    is_module=yes
fi
for client in search modify add modrdn delete compare passwd whoami exop; do
    ln -sfn "$(command -v "ldap$client")" "$tree/clients/tools/ldap$client"
done
[ -f "$checkout/tests/progs/ldif-filter.c" ] || { echo "$checkout has no tests/progs" >&2; exit 2; }
echo "#include <assert.h>" > "$tree/include/portable.h"
for header in ctype stdlib string unistd; do
    echo "#include <$header.h>" > "$tree/include/ac/$header.h"
done
cc -w -O1 -I "$tree/include" -o "$tree/tests/progs/ldif-filter" \
    "$checkout/tests/progs/ldif-filter.c" || exit 2

# The variables that OpenLDAP's tests/run sets. 2.7 reads some from a file.
: > "$tree/tests/AC_defs.sh"
export SRCDIR=$checkout/tests TOPSRCDIR=$checkout OBJDIR=$tree LN_S="ln -s" EGREP_CMD="grep -E"
export BACKEND=mdb BACKENDTYPE=$is_module INDEXDB=indexdb MAINDB=maindb WAIT=0 KILLSERVERS=yes
export PRESERVE=no SYNCMODE=rp USERDATA=no LDAPNOINIT=true SLAPD_BASEPORT=${PORT:-9010}
export AC_mdb=$is_module AC_WITH_SASL=yes AC_WITH_TLS=yes AC_TLS_TYPE=openssl
export AC_WITH_MODULES_ENABLED=no AC_ACI_ENABLED=acino AC_LIBS_DYNAMIC=libyes AC_lloadd=lloaddno
# conf.sh turns comments into directives where one of these is empty.
for missing in ldap meta asyncmeta relay sql argon2 autoca dds dynlist homedir nestgroup \
    otp pcache remoteauth retcode rwm translucent valsort; do
    export "AC_$missing=${missing}no"
done
export RDBMS=rdbmsno RELAY=no
for overlay in accesslog auditlog constraint deref memberof ppolicy refint syncprov unique; do
    export "AC_$overlay=${overlay}$is_module"
done
for overlay in ${WITH:-}; do export "AC_$overlay=${overlay}$is_module"; done

[ $# -gt 0 ] || set -- $default
passed=0 failed=0 skipped=0
for number in "$@"; do
    script=$(ls "$SRCDIR/scripts/test$number-"* "$SRCDIR/data/regressions/$number/$number" 2>/dev/null | grep -v '\.py$')
    [ -n "$script" ] || { echo "missing  $number"; continue; }
    name=$(basename "$script")
    rm -rf "$tree/tests/testrun"
    mkdir -p "$tree/tests/testrun"
    if (cd "$tree/tests" && timeout "${LIMIT:-300}" "$script") > "$keep/$name.log" 2>&1; then
        if grep -qiE 'skipp?ed|not available|skipping' "$keep/$name.log" &&
            ! grep -q '>>>>> Test succeeded' "$keep/$name.log"; then
            echo "skipped  $name"; skipped=$((skipped + 1))
        else
            echo "passed   $name"; passed=$((passed + 1))
        fi
    else
        echo "FAILED   $name: see $keep/$name.log"; failed=$((failed + 1))
        rm -rf "$keep/$name.run"
        cp -r "$tree/tests/testrun" "$keep/$name.run"
    fi
    # A script that fails may leave its servers.
    for pid in $(pgrep -f "^$tree/servers/slapd/slapd "); do kill "$pid" 2>/dev/null; done
done
echo "$passed passed, $skipped skipped, $failed failed"
[ "$failed" -eq 0 ]
