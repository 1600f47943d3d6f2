#!/usr/bin/env bash
# Cyrus SASL's database of passwords, built with LMDB: users are added, changed, deleted and listed.
# Its test-suite authenticates by each mechanism. LMDB itself reads and makes the same file.
. "$(dirname "$0")/common.sh"
not_in_a_quick_run

build_source cyrus-sasl2 --with-dblib=lmdb --disable-gssapi --disable-sample --without-pam --without-ldap \
    --without-saslauthd --without-pwcheck --without-authdaemond --with-plugindir="$PWD/build/programs/built/cyrus-sasl2/plugins"
need "the real LMDB" test -e "$reference/.complete"
more_libraries=$built/installed/lib
export SASL_PATH=$built/plugins
by_library=with_library
users=$built/installed/sbin/saslpasswd2
file=$work/sasldb

set_password() { # USER PASSWORD [OPTION]...
    local user=$1 password=$2
    shift 2
    printf '%s' "$password" | $by_library "$users" -p -f "$file" -u example.org "$@" "$user"
}
delete() { $by_library "$users" -d -f "$file" -u example.org "$1"; }
list() { $by_library "$built/installed/sbin/sasldblistusers2" -f "$file" | sort; }
listing() { # USERS...
    local user
    for user in "$@"; do printf '%s@example.org: cmusaslsecretOTP\n%s@example.org: userPassword\n' "$user" "$user"; done | sort
}
fill() {
    local n
    for n in $(seq 30); do set_password "user$n" "password $n" -c || return 1; done
    set_password user7 changed && delete user9
}
names() { seq 30 | grep -v '^9$' | sed 's/^/user/'; }
# The records as LMDB's mdb_dump prints them. The secrets of one-time passwords are random.
records() { # FILE
    /usr/bin/mdb_dump -n "$1" | sed -n '/^ /p' | paste - - | sed "/$(printf cmusaslsecretOTP | od -An -tx1 | tr -d ' \n')/s/\t.*//"
}
statistics() { /usr/bin/mdb_stat -n "$1"; }

check "users are added, one is changed, one is deleted" fill
# shellcheck disable=SC2046 # one word per name
says "they are listed" "$(listing $(names))" list
file=$work/reference by_library=with_reference
check "LMDB makes the same file" fill
says "its records" "$(records "$work/reference")" records "$work/sasldb"
says "its pages" "$(statistics "$work/reference")" statistics "$work/sasldb"

# Each library changes the file that the other one made.
file=$work/sasldb
check "LMDB adds to the file" set_password other "by LMDB" -c
check "and deletes" delete user8
file=$work/reference by_library=with_library
check "the library under test adds to LMDB's" set_password other "by LMDB" -c
check "and deletes" delete user8
says "both are the same again" "$(records "$work/reference")" records "$work/sasldb"

# Eight processes at a time.
file=$work/crowd
crowd() {
    local n pid pids=()
    set_password first first -c || return 1
    for n in $(seq 8); do
        { for m in $(seq 5); do set_password "user$n-$m" "$n" -c || exit 1; done } & pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || return 1; done
}
check "several processes add users at once" crowd
count() { list | wc -l; }
says "all of them are there" 82 count

# The package's own tests. One-time passwords stay out: their plug-in writes while the file is open
# for reading only, which LMDB refuses too. Behind the tests of the database, the program crashes
# with either library.
mkdir "$work/plugins"
cp "$built"/plugins/*.so "$work/plugins"
rm -f "$work"/plugins/libotp*
[ -x "$built/utils/testsuite" ] || make -C "$built/utils" testsuite >> "$log" 2>&1
own_tests() { # FOLDER
    mkdir -p "$work/$1"
    (
        cd "$work/$1"
        printf 1234 | $by_library "$users" -p -c -f ./sasldb ken
        SASL_PATH=$work/plugins $by_library stdbuf -oL "$built/utils/testsuite" -s 7 -r 1 2>&1 || true
    ) | sed -n -e '/callbacks interface/q' -e '/ok$/p' -e '/successful result/p' -e '/[Ff]ail/p'
}
by_library=with_reference
expected=$(own_tests by-reference 2>/dev/null)
by_library=with_library
says "its own tests end as on LMDB" "$expected" own_tests by-ours
check "these are many" test "$(grep -c 'ok$\|successful' <<< "$expected")" -ge 40
check "none fails" test "$(grep -ci fail <<< "$expected")" = 0
finish "$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$source/configure" | head -1)"
