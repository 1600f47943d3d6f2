#!/usr/bin/env bash
# Postfix's LDAP tables: addresses and aliases looked up by postmap.
. "$(dirname "$0")/common.sh"
need "postfix-ldap" test -e "$root/usr/lib/postfix/postfix-ldap.so"
start_server
mkdir -p "$work/etc/dynamicmaps.cf.d" "$work/queue"
cat > "$work/etc/main.cf" <<CONF
compatibility_level = 3.6
mail_owner = daemon
setgid_group = users
data_directory = $work/queue
queue_directory = $work/queue
shlib_directory = $root/usr/lib/postfix
meta_directory = $work/etc
CONF
touch "$work/etc/master.cf"
echo "ldap postfix-ldap.so dict_ldap_open" > "$work/etc/dynamicmaps.cf"
table() { # NAME FILTER ATTRIBUTE MORE...
    local name=$1 filter=$2 attribute=$3
    shift 3
    printf '%s\n' "server_host = $URL" "version = 3" "search_base = $SUFFIX" "bind = yes" "bind_dn = $USER_DN" \
        "bind_pw = $USER_PASSWORD" "query_filter = $filter" "result_attribute = $attribute" "$@" > "$work/$name.cf"
}
ask() { # TABLE KEY
    LD_LIBRARY_PATH=$root/usr/lib/postfix:$root/usr/lib/$(gcc -print-multiarch) "$root/usr/sbin/postmap" -c "$work/etc" -q "$2" "ldap:$work/$1.cf"
}
table users "(mail=%s)" uid
table members "(&(objectClass=groupOfNames)(cn=%s))" mail "special_result_attribute = member"
table tls "(mail=%s)" uid "start_tls = yes" "tls_ca_cert_file = $CA" "tls_require_cert = yes"
mail=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(uid=ada)" mail | sed -n 's/^mail: //p' | head -1)
group=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(&(objectClass=groupOfNames)(member=$USER_DN))" cn | sed -n 's/^cn: //p' | head -1)
says "an address" ada ask users "$mail"
says "none" "" ask users "nobody@example.org"
says "a key with wildcards is taken as it is" "" ask users "*"
says "a member of a group is among its addresses" "$mail" sh -c "$(declare -f ask); root='$root' work='$work'; ask members '$group' | tr ',' '\n' | grep -x '$mail'"
says "over StartTLS" ada ask tls "$mail"
finish "postfix $("$root/usr/sbin/postconf" -c "$work/etc" -dh mail_version 2>/dev/null)"
