#!/usr/bin/env bash
# 389 Directory Server with its mdb backend: a load, searches, changes, a kill, a dump.
. "$(dirname "$0")/common.sh"
not_in_a_quick_run

root=$PWD/build/389-ds/root
shared=$root/usr/share/dirsrv
libraries=$root/usr/lib/$(gcc -print-multiarch)
need "389 Directory Server" test -x "$root/usr/sbin/ns-slapd"
more_libraries=$libraries:$libraries/dirsrv:$libraries/dirsrv/plugins
suffix=dc=example,dc=com
manager="cn=Directory Manager"
port=$(free_port)
url=ldap://127.0.0.1:$port

# An instance as its tools would make one. Its template has names of values between percent signs.
place=$work/instance
settings=$place/conf
mkdir -p "$settings/schema" "$place"/{data,lock,tmp,cert,ldif,bak,run,inst,log}
cp "$shared"/schema/* "$root"/etc/dirsrv/schema/* "$settings/schema"
cp "$root"/etc/dirsrv/config/* "$settings"
values=(-e "s|%config_dir%|$settings|g" -e "s|%schema_dir%|$settings/schema|g" -e "s|%ds_port%|$port|g"
    -e "s|%db_home_dir%|$place/data|g" -e "s|%db_dir%|$place/data|g" -e "s|%db_lib%|mdb|g" -e "s|%fqdn%|localhost|g"
    -e "s|%ds_user%|$(id -un)|g" -e "s|%rootdn%|$manager|g" -e "s|%ds_passwd%|{SSHA}1G904nLkTkGWjKNnQuB/hpWXC/hzYWx0c2FsdA==|g"
    -e "s|%ldapi_enabled%|off|g" -e "s|%ldapi_autobind%|off|g" -e "s|%ldapi%|$place/ldapi|g" -e "s|%ds_suffix%|$suffix|g")
for folder in lock tmp cert ldif bak run inst log; do values+=(-e "s|%${folder}_dir%|$place/$folder|g"); done
databases="cn=ldbm database,cn=plugins,cn=config"
{
    sed "${values[@]}" "$shared/data/template-dse.ldif" |
        sed -E -e "s#^(nsslapd-plugin[Pp]ath): ([^/]*)\$#\1: $libraries/dirsrv/plugins/\2#" -e '/^nsslapd-plugin[Pp]ath/{s/\.so$//; s/$/.so/}' |
        sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
    # A start would add these two with the folder of an installed package.
    for plugin in entryuuid:betxnpreoperation entryuuid_syntax:syntax; do
        name=${plugin%:*}
        printf '\ndn: cn=%s,cn=plugins,cn=config\nobjectClass: top\nobjectClass: nsSlapdPlugin\ncn: %s\n' "$name" "$name"
        printf 'nsslapd-pluginPath: %s/dirsrv/plugins/lib%s-plugin.so\n' "$libraries" "${name/_/-}"
        printf 'nsslapd-pluginInitfunc: %s_plugin_init\nnsslapd-pluginType: %s\n' "$name" "${plugin#*:}"
        printf 'nsslapd-pluginEnabled: on\nnsslapd-pluginId: %s\nnsslapd-pluginVersion: none\n' "$name"
        printf 'nsslapd-pluginVendor: 389 Project\nnsslapd-pluginDescription: %s\n' "$name"
    done
    cat <<LDIF

dn: cn=mdb,cn=config,$databases
objectClass: top
objectClass: extensibleObject
cn: mdb
nsslapd-mdb-max-size: 1073741824
nsslapd-mdb-max-readers: 126
nsslapd-mdb-max-dbs: 512

dn: cn="$suffix",cn=mapping tree,cn=config
objectClass: top
objectClass: extensibleObject
objectClass: nsMappingTree
cn: $suffix
nsslapd-state: backend
nsslapd-backend: userRoot

dn: cn=userRoot,$databases
objectClass: top
objectClass: extensibleObject
objectClass: nsBackendInstance
cn: userRoot
nsslapd-suffix: $suffix

dn: cn=index,cn=userRoot,$databases
objectClass: top
objectClass: extensibleObject
cn: index
LDIF
    for attribute in uid mail sn; do
        printf '\ndn: cn=%s,cn=index,cn=userRoot,%s\nobjectClass: top\nobjectClass: nsIndex\ncn: %s\nnsSystemIndex: false\nnsIndexType: eq\nnsIndexType: sub\n' \
            "$attribute" "$databases" "$attribute"
    done
} > "$settings/dse.ldif"
cp "$settings/dse.ldif" "$settings/dse.ldif.startOK"

people=3000
{
    printf 'dn: %s\nobjectClass: domain\ndc: example\n' "$suffix"
    printf 'aci: (targetattr="*")(version 3.0; acl "read"; allow (read,search,compare) userdn="ldap:///anyone";)\n\n'
    for n in $(seq "$people"); do
        printf 'dn: uid=user%d,%s\nobjectClass: inetOrgPerson\nuid: user%d\ncn: User %d\nsn: Last%d\nmail: user%d@example.com\n\n' \
            "$n" "$suffix" "$n" "$n" "$((n % 50))" "$n"
    done
} > "$work/people.ldif"

server() { with_library "$root/usr/sbin/ns-slapd" "$@"; }
start() {
    serve server -D "$settings" -i "$place/run/pid" -d 0
    wait_for_port "$port"
}
ask() { ldapsearch -x -LLL -H "$url" -D "$manager" -w secret -b "$suffix" "$1" 1.1 | grep -c '^dn:'; }
modify() { printf '%s\n' "$1" | ldapmodify -x -H "$url" -D "$manager" -w secret; }

# Its indexes are values of 12 bytes in databases of integer duplicates.
load() { server ldif2db -D "$settings" -n userRoot -i "$work/people.ldif"; }
check "a load" load
check "it starts" start
check_mapped ns-slapd "${servers[0]}"
says "equality" 1 ask '(uid=user1234)'
says "an indexed group" 60 ask '(sn=Last7)'
says "a substring" 11 ask '(uid=user123*)'
says "everything" 3000 ask '(objectClass=inetOrgPerson)'
check "an entry is changed" modify "dn: uid=user1,$suffix
changetype: modify
replace: sn
sn: Changed"
says "and found by its new value" 1 ask '(sn=Changed)'
check "one is added" modify "dn: uid=new,$suffix
changetype: add
objectClass: inetOrgPerson
uid: new
cn: New
sn: Changed"
check "one is renamed" modify "dn: uid=user2,$suffix
changetype: modrdn
newrdn: uid=renamed
deleteoldrdn: 1"
check "one is deleted" modify "dn: uid=user3,$suffix
changetype: delete"
says "both are found" 2 ask '(sn=Changed)'
says "the new name too" 1 ask '(uid=renamed)'
says "the old ones are gone" 0 ask '(|(uid=user2)(uid=user3))'
stop_servers KILL
check "it starts after a kill" start
says "with everything" 3000 ask '(objectClass=inetOrgPerson)'
check "and writes" modify "dn: uid=new,$suffix
changetype: modify
add: description
description: after a kill"
stop_servers
check "all is dumped" server db2ldif -D "$settings" -n userRoot -a "$work/dump.ldif"
says "all entries" 3001 grep -c '^dn:' "$work/dump.ldif"
counted_by_lmdb() { /usr/bin/mdb_stat -a "$place/data" | grep -c '^Status of'; }
check "LMDB reads its databases" test "$(counted_by_lmdb)" -ge 10
finish "$(sed -n 's/^\t\(389-Directory.[0-9.]*\).*/\1/p' "$place/log/errors" | head -n 1)"
