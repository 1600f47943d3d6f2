#!/usr/bin/env bash
# OpenLDAP's slapd with its mdb backend: offline load, index and dump. Then serving, searching,
# changing, a restart, and several at once.
#
# Debian compiles LMDB into the backend, which exports its functions: preloaded, the library under
# test takes their place. The dynamic linker's record of bindings proves that it did for each of
# them. slapd refuses any LMDB but the release of its build. Our library reports that release if the
# environment asks for it.
. "$(dirname "$0")/common.sh"

slapd_root=$PWD/build/slapd
suffix=dc=example,dc=com
root=cn=admin,$suffix
port=$(free_port)
url=ldap://127.0.0.1:$port
FULGURITE_LMDB_VERSION=$(strings -a "$slapd_root/usr/lib/ldap/back_mdb.so" | sed -n 's/^LMDB \(0\.9\.[0-9]*\): .*/\1/p' | head -1)
export FULGURITE_LMDB_VERSION

slap() {
    more_libraries=$(echo "$slapd_root"/usr/lib/*-linux-gnu) with_library \
        LD_DEBUG=libs,bindings LD_PRELOAD="$library" "$slapd_root/usr/sbin/slapd" "$@"
}
tool() { # add, cat, index, ...
    local name=$1
    shift
    slap -T"$name" -f "$work/slapd.conf" "$@"
}
start() {
    serve slap -d 0 -h "$url" -f "$work/slapd.conf"
    wait_for_port "$port"
}

mkdir -p "$work/data" "$work/other"
cat > "$work/slapd.conf" <<CONF
include $slapd_root/etc/ldap/schema/core.schema
include $slapd_root/etc/ldap/schema/cosine.schema
include $slapd_root/etc/ldap/schema/inetorgperson.schema
modulepath $slapd_root/usr/lib/ldap
moduleload back_mdb
pidfile $work/slapd.pid
sizelimit unlimited
threads 4

database mdb
suffix "$suffix"
rootdn "$root"
rootpw secret
directory $work/data
maxsize 268435456
# Attributes with many values move to a separate database of sorted duplicates.
multival member 20,10
index objectClass,entryUUID eq
index uid,mail eq,pres,sub
index cn,sn eq,sub
index member eq

database mdb
suffix "o=other"
rootdn "cn=admin,o=other"
rootpw secret
directory $work/other
maxsize 67108864
envflags writemap nometasync
index objectClass,sn eq
CONF

people=3000
ldif() { # SUFFIX COUNT: an organisation, its people, a group of all of them
    awk -v suffix="$1" -v count="$2" 'BEGIN {
        if (suffix ~ /^dc=/) printf "dn: %s\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n\n", suffix
        else printf "dn: %s\nobjectClass: organization\no: other\n\n", suffix
        for (n = 1; n <= count; n++)
            printf "dn: uid=user%d,%s\nobjectClass: inetOrgPerson\nuid: user%d\ncn: First%d Last%d\nsn: Last%d\nmail: user%d@example.com\ndescription: %0300d\n\n", n, suffix, n, n, n, n % 50, n, n
        printf "dn: cn=all,%s\nobjectClass: groupOfNames\ncn: all\n", suffix
        for (n = 1; n <= count; n++) printf "member: uid=user%d,%s\n", n, suffix
        printf "\n"
    }'
}
ldif "$suffix" "$people" > "$work/people.ldif"
ldif o=other 200 > "$work/other.ldif"

check "slapadd, quick" tool add -q -b "$suffix" -l "$work/people.ldif"
check "slapadd, with every write synced" tool add -b o=other -l "$work/other.ldif"
entries() { tool cat -b "$1" | grep -c '^dn:'; }
says "slapcat has all entries" $((people + 2)) entries "$suffix"
members() { tool cat -b "$suffix" -a '(cn=all)' -o ldif-wrap=no | grep -c '^member:'; }
says "and all values" "$people" members
check "slapindex" tool index -q -b "$suffix"

check "slapd starts" start
check_mapped slapd "${servers[0]}"
ask() { # BASE FILTER: number of entries
    ldapsearch -x -LLL -o ldif-wrap=no -H "$url" -D "$root" -w secret -b "$1" "$2" 1.1 | grep -c '^dn:'
}
as_root() { # TOOL ARGUMENTS...; LDIF comes on standard input
    local client=$1
    shift
    "$client" -x -H "$url" -D "$root" -w secret "$@"
}
says "equality" 1 ask "$suffix" '(uid=user1234)'
says "an indexed group of entries" $((people / 50)) ask "$suffix" '(sn=Last7)'
says "presence" "$people" ask "$suffix" '(mail=*)'
says "a substring" 11 ask "$suffix" '(cn=First123*)'
says "everything, unindexed" "$((people - 1))" ask "$suffix" '(&(objectClass=inetOrgPerson)(!(description=*0042)))'
says "one value among thousands" 1 ask "$suffix" "(member=uid=user77,$suffix)"
says "the database with a written map" 4 ask o=other '(sn=Last7)'

modify() { printf '%s\n' "$1" | as_root ldapmodify; }
check "an attribute is replaced" modify "dn: uid=user1,$suffix
changetype: modify
replace: sn
sn: Changed"
says "and found by its new value" 1 ask "$suffix" '(sn=Changed)'
check "members are deleted and added" modify "dn: cn=all,$suffix
changetype: modify
delete: member
member: uid=user1,$suffix
member: uid=user2,$suffix
-
add: member
member: cn=somebody else,$suffix"
says "a deleted value is gone" 0 ask "$suffix" "(member=uid=user1,$suffix)"
says "an added one is there" 1 ask "$suffix" "(member=cn=somebody else,$suffix)"
check "an entry is renamed" as_root ldapmodrdn -r "uid=user2,$suffix" uid=renamed
says "under its new name" 1 ask "uid=renamed,$suffix" '(objectClass=*)'
check "an entry is deleted" as_root ldapdelete "uid=user3,$suffix"
says "it is gone" 0 ask "$suffix" '(uid=user3)'
check "in the other database too" ldapdelete -x -H "$url" -D cn=admin,o=other -w secret uid=user3,o=other

# Four writers and four readers at once; every answer must be whole.
write_some() { # WRITER
    for n in $(seq 40); do
        printf 'dn: uid=w%s-%s,%s\nobjectClass: inetOrgPerson\nuid: w%s-%s\ncn: Writer %s\nsn: Busy\n\n' "$1" "$n" "$suffix" "$1" "$n" "$1"
    done | as_root ldapadd > /dev/null
}
read_some() {
    for _ in $(seq 10); do [ "$(ask "$suffix" '(sn=Last9)')" = $((people / 50)) ] || return 1; done
}
all_at_once() {
    local pid pids=()
    for n in 1 2 3 4; do
        write_some "$n" & pids+=($!)
        read_some & pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || return 1; done
}
check "writers and readers at once" all_at_once
says "all that was written" 160 ask "$suffix" '(sn=Busy)'

stat=$prefix/bin/mdb_stat
[ -x "$stat" ] || stat=$(command -v mdb_stat)
counted() { "$stat" -s id2e "$work/data" | sed -n 's/^ *Entries: //p'; }
says "mdb_stat on the live environment" $((people + 2 - 1 + 160)) counted
live_dump() { tool cat -b "$suffix" | grep -c '^dn:'; }
says "slapcat beside the server" $((people + 2 - 1 + 160)) live_dump

stop_servers
check "it starts again" start
says "with everything" 160 ask "$suffix" '(sn=Busy)'
stop_servers KILL
check "it starts after a kill" start
check "and writes" modify "dn: uid=user5,$suffix
changetype: modify
add: description
description: after a kill"
stop_servers

tool cat -b "$suffix" > "$work/dump.ldif" 2>> "$log" || true
rm "$work/data/"*.mdb
check "the dump loads" tool add -q -b "$suffix" -l "$work/dump.ldif"
same_dump() { tool cat -b "$suffix" | cmp - "$work/dump.ldif"; }
check "and dumps the same" same_dump

# None of LMDB's own functions may have stayed with the backend's built-in copy.
bound() { # OBJECT: LMDB functions that were bound to it
    find "$work/loaded" -type f -exec sed -n "s/.*binding file [^ ]*back_mdb[^ ]* \[0\] to [^ ]*$1[^ ]* \[0\]: normal symbol .\(mdb_[a-z0-9_]*\)'.*/\1/p" {} + | sort -u |
        comm -12 - <(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)
}
says "functions bound to the backend's own copy" "" bound back_mdb
ours=$(bound liblmdb | wc -l)
check "functions bound to the library under test: $ours" test "$ours" -ge 30
finish "$(strings -a "$slapd_root/usr/sbin/slapd" | sed -n 's/.*OpenLDAP: slapd \([^ ]*\).*/\1/p' | head -1), expects LMDB $FULGURITE_LMDB_VERSION"
