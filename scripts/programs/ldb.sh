#!/usr/bin/env bash
# Samba's ldb over LMDB: entries added, searched, changed, renamed and deleted by its command-line
# tools.
. "$(dirname "$0")/common.sh"

more_libraries=$unpacked_libraries/samba
export LDB_MODULES_PATH=$unpacked_libraries/samba/ldb
ldb() { # TOOL ARGUMENTS...
    local tool=$1
    shift
    with_library "$unpacked/usr/bin/$tool" -H "mdb://$work/data.ldb" "$@"
}

people=200
awk -v count=$people 'BEGIN {
    print "dn: @INDEXLIST\n@IDXATTR: uid\n@IDXATTR: sn\n@IDXGUID: objectGUID\n@IDX_DN_GUID: GUID\n"
    for (n = 1; n <= count; n++)
        printf "dn: uid=user%d,dc=example\nobjectGUID: guid-%011d\nuid: user%d\nsn: Last%d\ndescription: %030d\n\n", n, n, n, n % 20, n
}' > "$work/people.ldif"

check "entries are added" ldb ldbadd "$work/people.ldif"
found() { ldb ldbsearch -b dc=example "$1" uid | grep -c '^dn:'; }
says "one of them" 1 found '(uid=user77)'
says "an indexed group" $((people / 20)) found '(sn=Last7)'
says "a substring, unindexed" $((people / 10)) found '(description=*7)'
says "all" $people found '(uid=*)'
value() { ldb ldbsearch "(uid=$1)" description | sed -n "s/^description: 0*//p"; }
says "a value" 123 value user123

modify() { printf '%s\n' "$1" | ldb ldbmodify; }
check "an entry is modified" modify "dn: uid=user7,dc=example
changetype: modify
replace: sn
sn: Changed"
says "and found by its new value" 1 found '(sn=Changed)'
says "not by the old one" $((people / 20 - 1)) found '(sn=Last7)'
check "an entry is renamed" ldb ldbrename uid=user8,dc=example uid=renamed,dc=example
says "it is there" 1 found '(distinguishedName=uid=renamed,dc=example)'
check "an entry is deleted" ldb ldbdel uid=user9,dc=example
says "it is gone" 0 found '(uid=user9)'
add_again() { ! ldb ldbadd "$work/people.ldif"; }
check "adding all again is refused" add_again
says "and changes nothing" $((people - 1)) found '(uid=*)'
finish "$(basename "$(realpath "$unpacked_libraries/libldb.so.2")" | sed "s/libldb.so.//")"
