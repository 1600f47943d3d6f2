#!/usr/bin/env bash
# A KDC of MIT Kerberos (krb5-kdc-ldap) with its principals in the directory. Realm, policies,
# tickets, changed passwords, accounts that lock, and a restart.
. "$(dirname "$0")/common.sh"
kerberos=$PWD/build/kdc/root
need "krb5-kdc-ldap" test -x "$kerberos/usr/sbin/kdb5_ldap_util"
more_schema=$work/kerberos.schema
gunzip -c "$kerberos/usr/share/doc/krb5-kdc-ldap/kerberos.schema.gz" > "$more_schema"
# The KDC's tools ask at a socket of the same machine, as they do by default.
socket=ldapi://$(sed 's/\//%2F/g' <<< "$work/ldapi")
more_urls=$socket
start_server

realm=EXAMPLE.ORG
kdc_port=$(free_port) admin_port=$(free_port) password_port=$(free_port)
libraries=$kerberos/usr/lib/$(gcc -print-multiarch)
export KRB5_CONFIG=$work/krb5.conf KRB5_KDC_PROFILE=$work/kdc.conf KRB5CCNAME=FILE:$work/tickets
cat > "$KRB5_CONFIG" <<CONF
[libdefaults]
    default_realm = $realm
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    plugin_base_dir = $libraries/krb5/plugins
[realms]
    $realm = {
        kdc = 127.0.0.1:$kdc_port
        admin_server = 127.0.0.1:$admin_port
        kpasswd_server = 127.0.0.1:$password_port
        database_module = directory
    }
[logging]
    default = FILE:$work/kerberos.log
    kdc = FILE:$work/kerberos.log
    admin_server = FILE:$work/kerberos.log
[dbdefaults]
    ldap_kerberos_container_dn = cn=kerberos,$SUFFIX
[dbmodules]
    db_module_dir = $libraries/krb5/plugins/kdb
    directory = {
        db_library = kldap
        ldap_kdc_dn = "$USER_DN"
        ldap_kadmind_dn = "$USER_DN"
        ldap_service_password_file = $work/service.keyfile
        ldap_servers = $socket
    }
CONF
cat > "$KRB5_KDC_PROFILE" <<CONF
[kdcdefaults]
    kdc_listen = 127.0.0.1:$kdc_port
    kdc_tcp_listen = 127.0.0.1:$kdc_port
[realms]
    $realm = {
        acl_file = $work/kadm5.acl
        key_stash_file = $work/stash
        kadmind_listen = 127.0.0.1:$admin_port
        kpasswd_listen = 127.0.0.1:$password_port
        iprop_enable = false
    }
CONF
echo "*/admin@$realm *" > "$work/kadm5.acl"

tool() { # PROGRAM ARGUMENTS...
    local name=$1
    shift
    LD_LIBRARY_PATH=$libraries:$libraries/krb5 ${by:-} "$(ls "$kerberos"/usr/{s,}bin/"$name" 2>/dev/null)" "$@"
}
realms() { tool kdb5_ldap_util -H "$socket" -D "$ROOT_DN" -w "$ROOT_PASSWORD" "$@"; }
service_password() { printf '%s\n%s\n' "$USER_PASSWORD" "$USER_PASSWORD" | tool kdb5_ldap_util stashsrvpw -f "$work/service.keyfile" "$USER_DN"; }
kadmin() { tool kadmin.local -r "$realm" -q "$*"; }
added() { kadmin "$@" 2>&1 | grep ' created\.'; }
ticket() { # PRINCIPAL PASSWORD
    printf '%s\n' "$2" | tool kinit "$1"
}
no_ticket() { ! ticket "$@"; }
tickets() { tool klist | sed -n 's/.*  \([^ ]*@[^ ]*\)$/\1/p'; }
found() { # FILTER ATTRIBUTE
    ldapsearch -x -LLL -o ldif-wrap=no -H "$URL" -D "$USER_DN" -w "$USER_PASSWORD" -b "$SUFFIX" "$1" "$2" | sed -n "s/^$2: //p"
}
start_kdc() {
    serve tool krb5kdc -n -r "$realm" -P "$work/kdc.pid"
    wait_for_port "$kdc_port"
}

# Principals are below the realm's container, which the tool makes, and in people's entries.
check "a realm" realms create -r "$realm" -P master -s -subtrees "ou=People,$SUFFIX"
says "is in the directory" "$realm" found "(objectClass=krbRealmContainer)" cn
says "and listed" "$realm" realms list
check "the service's password is kept" service_password
check "a policy" kadmin add_policy -minlength 8 -maxfailure 3 -lockoutduration 600 people
check "a principal" added addprinc -policy people +requires_preauth -pw first-secret carol
check "one in a person's entry" added addprinc -pw ada-secret -x "dn=$USER_DN" ada
check "a service" added addprinc -randkey host/localhost
says "the person has the name" "ada@$realm" found "(uid=ada)" krbPrincipalName
says "the policy is found by the filter of the KDC" people found "(&(objectClass=krbPwdPolicy)(cn=people))" cn
listed() { kadmin listprincs 2>> "$log" | grep -c "@$realm"; }
says "all principals are listed" 9 listed
too_short() { kadmin cpw -pw short carol 2>&1 | grep 'too short'; }
check "the policy refuses a short password" too_short

check "the KDC starts" start_kdc
check "a ticket" ticket carol first-secret
check "for a service too" tool kvno host/localhost
says "the tickets" "$(printf 'krbtgt/%s@%s\nhost/localhost@%s' $realm $realm $realm)" tickets
check "a ticket of the person" ticket ada ada-secret
check "no ticket for a wrong password" no_ticket ada wrong
check "nor for nobody" no_ticket nobody wrong
check "the last success is in the directory" test -n "$(found "(krbPrincipalName=carol@$realm)" krbLastSuccessfulAuth)"
for _ in 1 2 3; do no_ticket carol wrong >> "$log" 2>&1; done
says "failures are counted" 3 found "(krbPrincipalName=carol@$realm)" krbLoginFailedCount
check "then the right password is refused" no_ticket carol first-secret
check "an administrator unlocks" kadmin modprinc -unlock carol
check "a ticket again" ticket carol first-secret

# Passwords over the network, and administration by kadmin.
check "an administrator" added addprinc -pw admin-secret root/admin
serve tool kadmind -nofork -r "$realm" -P "$work/kadmind.pid"
wait_for_port "$admin_port"
change() { printf 'first-secret\nsecond-secret\nsecond-secret\n' | tool kpasswd carol; }
check "a user changes the password" change
check "the new one" ticket carol second-secret
check "no longer the old one" no_ticket carol first-secret
remote() { tool kadmin -r "$realm" -p root/admin -w admin-secret -q "$*"; }
many() {
    local n
    for n in $(seq 40); do echo "addprinc -randkey user$n"; done | tool kadmin -r "$realm" -p root/admin -w admin-secret
}
check "many are added from far" many
says "they are there" 50 listed
pattern() { remote listprincs 'user1*' | grep -c '^user'; }
says "a pattern finds some" 11 pattern
check "one is renamed" remote rename_principal -force user7 renamed
check "one is deleted" remote delprinc -force user8
says "they are gone" "" found "(|(krbPrincipalName=user7@$realm)(krbPrincipalName=user8@$realm))" krbPrincipalName
says "the new name is there" "renamed@$realm" found "(krbPrincipalName=renamed@$realm)" krbPrincipalName

stop_servers
serve slap slapd -d 0 -f "$work/slapd.conf" -h "$URL $socket"
wait_for_port "$PORT"
check "the KDC starts again" start_kdc
check "a ticket after the restart" ticket carol second-secret
check "the realm is destroyed" realms destroy -f -r "$realm"
says "nothing of it is left" "" found "(objectClass=krbPrincipal)" krbPrincipalName
finish "MIT Kerberos $(tool klist -V | sed 's/.*version //')"
