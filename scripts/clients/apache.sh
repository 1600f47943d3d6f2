#!/usr/bin/env bash
# Apache's mod_authnz_ldap: users log in, groups and attributes decide.
. "$(dirname "$0")/common.sh"
modules=$root/usr/lib/apache2/modules
need Apache test -e "$modules/mod_authnz_ldap.so"
need "a folder that other users can enter" enterable
start_server
web=$(free_port)
mkdir -p "$work/htdocs"/{user,group,attribute}
for folder in user group attribute; do echo "welcome to $folder" > "$work/htdocs/$folder/index.html"; done
group=$(ldapsearch -x -LLL -o ldif-wrap=no -H "$URL" -b "$SUFFIX" "(&(objectClass=groupOfNames)(member=$USER_DN))" 1.1 | sed -n 's/^dn: //p' | head -1)
{
    for module in mpm_event authn_core authz_core authz_user auth_basic ldap authnz_ldap; do
        echo "LoadModule ${module}_module $modules/mod_$module.so"
    done
    cat <<CONF
ServerName localhost
ServerRoot $work
Listen 127.0.0.1:$web
PidFile $work/httpd.pid
ErrorLog $work/error.log
DefaultRuntimeDir $work
DocumentRoot $work/htdocs
User daemon
Group users
LDAPTrustedGlobalCert CA_BASE64 $CA
LDAPTrustedMode TLS
LDAPSharedCacheSize 0
<Location />
  AuthType Basic
  AuthName "test"
  AuthBasicProvider ldap
  AuthLDAPURL "ldap://localhost:$PORT/$SUFFIX?uid?sub?(objectClass=inetOrgPerson)" TLS
  AuthLDAPBindDN "$ROOT_DN"
  AuthLDAPBindPassword "$ROOT_PASSWORD"
</Location>
<Location /user>
  Require valid-user
</Location>
<Location /group>
  Require ldap-group $group
</Location>
<Location /attribute>
  Require ldap-attribute objectClass=posixAccount
</Location>
CONF
} > "$work/httpd.conf"
apache() { LD_LIBRARY_PATH=$root/usr/lib/$(gcc -print-multiarch):$root/usr/lib ${by:-} "$root/usr/sbin/apache2" "$@"; }
chmod 755 "$work" "$work/htdocs" "$work/htdocs"/*
serve apache -X -f "$work/httpd.conf"
wait_for_port "$web"
ask() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
at=http://127.0.0.1:$web
member=$(ldapsearch -x -LLL -o ldif-wrap=no -H "$URL" -b "$SUFFIX" "(&(objectClass=inetOrgPerson)(!(uid=ada)))" uid | sed -n 's/^uid: //p' | tail -1)
says "nobody" 401 ask "$at/user/index.html"
says "a user" 200 ask -u "ada:$USER_PASSWORD" "$at/user/index.html"
says "a wrong password" 401 ask -u "ada:wrong" "$at/user/index.html"
says "somebody unknown" 401 ask -u "nobody:x" "$at/user/index.html"
says "wildcards are no user" 401 ask -u "a*:$USER_PASSWORD" "$at/user/index.html"
says "a member of a group" 200 ask -u "ada:$USER_PASSWORD" "$at/group/index.html"
says "an attribute" 200 ask -u "ada:$USER_PASSWORD" "$at/attribute/index.html"
says "another user without the password" 401 ask -u "$member:x" "$at/group/index.html"
finish "$(apache -v | sed -n 's/^Server version: \([^ ]*\).*/\1/p')"
