#!/usr/bin/env bash
# Heimdal's KDC with its database in LMDB. Principals are added, changed, renamed, deleted, dumped
# and loaded, and the KDC gives tickets. Its own tests of databases follow.
. "$(dirname "$0")/common.sh"
not_in_a_quick_run

build_source heimdal --disable-berkeley-db --without-sqlite3 --disable-static --without-openldap --without-readline \
    --without-libedit --without-x --disable-otp --disable-afs-support --disable-heimdal-documentation
need "the real LMDB" test -e "$reference/.complete"
more_libraries=$built/installed/lib
by_library=with_library
realm=EXAMPLE.ORG
port=$(free_port)
export KRB5_CONFIG=$work/krb5.conf KRB5CCNAME=FILE:$work/tickets OPENSSL_CONF=$work/openssl.cnf
cat > "$KRB5_CONFIG" <<CONF
[libdefaults]
    default_realm = $realm
    dns_lookup_kdc = no
    dns_lookup_realm = no
    dns_canonicalize_hostname = false
    rdns = false
[realms]
    $realm = {
        kdc = tcp/127.0.0.1:$port
    }
[kdc]
    database = {
        realm = $realm
        dbname = lmdb:$work/principals
        mkey_file = $work/master
        log_file = $work/changes
        acl_file = $work/acl
    }
[hdb]
    db-dir = $work
[logging]
    default = FILE:$work/kerberos.log
CONF
# Each principal also gets a key of RC4, which OpenSSL 3 counts as one of the past.
printf '%s\n' 'openssl_conf = init' '[init]' 'providers = all' '[all]' 'default = on' 'legacy = on' '[on]' 'activate = 1' > "$OPENSSL_CONF"

heimdal() { # PROGRAM ARGUMENTS...
    local name=$1
    shift
    $by_library "$(ls "$built"/installed/{,s}bin/"$name" "$built/installed/libexec/$name" 2>/dev/null)" "$@"
}
kadmin() { heimdal kadmin -l -r "$realm" "$@"; }
ticket() { # PRINCIPAL PASSWORD
    printf '%s\n' "$2" > "$work/password"
    heimdal kinit --password-file="$work/password" "$1"
}
no_ticket() { ! ticket "$@"; }
start() {
    serve heimdal kdc --addresses=127.0.0.1 --ports="$port/tcp"
    wait_for_port "$port"
}
people() { kadmin list "${1:-user*}" | wc -l; }

check "a realm" kadmin init --realm-max-ticket-life=1d --realm-max-renewable-life=1w "$realm"
check "a principal" kadmin add --password=secret --use-defaults ada
check "a service" kadmin add --random-key --use-defaults host/localhost
add_many() { for n in $(seq 300); do echo "add --random-key --use-defaults user$n"; done | kadmin; }
check "many of them" add_many
says "they are listed" 300 people
attribute() { kadmin get "$1" | sed -n "s/^ *$2: //p"; }
says "one is shown" 1 attribute ada Kvno
check "one is changed" kadmin modify --max-ticket-life=1h user7
says "and shows it" "1 hour" attribute user7 "Max ticket life"
check "one is renamed" kadmin rename user8 renamed
check "one is deleted" kadmin delete user9
gone() { ! kadmin get "$1"; }
check "its name is gone" gone user9
check "the old name too" gone user8

check "the KDC starts" start
check_mapped "the KDC" "${servers[0]}"
check "a ticket" ticket ada secret
check "one for a service" heimdal kgetcred host/localhost
issued() { heimdal klist | grep -o '[^ ]*@EXAMPLE.ORG$' | tail -n 2 | sort | paste -sd' '; }
says "the tickets" "host/localhost@$realm krbtgt/$realm@$realm" issued
check "no ticket for a wrong password" no_ticket ada wrong
check "nor for nobody" no_ticket nobody wrong
check "a password is changed while the KDC runs" kadmin cpw --password=other ada
check "the new one holds at once" ticket ada other
check "the old one does not" no_ticket ada secret
check "a key is written for the service" kadmin ext_keytab --keytab="$work/keytab" host/localhost
check "a ticket by that key" heimdal kinit --keytab="$work/keytab" host/localhost
busy() {
    local writer
    for n in $(seq 50); do echo "cpw --random-key user$((n + 20))"; done | kadmin & writer=$!
    for n in $(seq 10); do ticket ada other || return 1; done
    wait "$writer"
}
check "tickets while keys are changed" busy
stop_servers KILL
check "the KDC starts after a kill" start
check "and gives tickets" ticket ada other
stop_servers

# LMDB reads the file, changes it, and counts as this library does.
entries() { "$@" -n "$work/principals.mdb" | sed -n 's/^ *Entries: //p'; }
ours=$prefix/bin/mdb_stat
[ -x "$ours" ] || ours=/usr/bin/mdb_stat
says "LMDB counts as many records" "$(entries "$ours")" entries /usr/bin/mdb_stat
by_library=with_reference
says "LMDB finds them" 298 people
check "and adds one" kadmin add --password=secret --use-defaults user-lmdb
by_library=with_library
says "which is here too" 299 people

check "all is dumped" kadmin dump --decrypt "$work/dump"
rm "$work"/principals.mdb*
check "and loaded" kadmin load "$work/dump"
check "into the same dump" kadmin dump --decrypt "$work/again"
says "which has the same principals" "$(cut -d' ' -f1 "$work/dump" | sort)" sh -c "cut -d' ' -f1 '$work/again' | sort"

own_tests() { # FOLDER NAMES...
    local folder=$built/tests/$1 name
    shift
    with_library make -C "$folder" clean "$@" >> "$log" 2>&1
    with_library make -C "$folder" -k check TESTS="$*" >> "$log" 2>&1 || true
    for name in "$@"; do check "its own $name" grep -q "^:test-result: PASS" "$folder/$name.trs"; done
}
own_tests db loaddump-db add-modify-delete check-dbinfo check-aliases
finish "Heimdal $(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$source/configure" | head -1)"
