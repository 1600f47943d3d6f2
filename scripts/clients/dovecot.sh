#!/usr/bin/env bash
# Dovecot's LDAP passdb and userdb: binds as the user, passwords looked up, users listed.
. "$(dirname "$0")/common.sh"
need Dovecot test -x "$root/usr/sbin/dovecot"
need "a right to make namespaces" unshare --mount true
need "a folder that other users can enter" enterable
# Its programs call each other by their installed paths. Here those are the unpacked files, before
# the system's.
if [ "${INSIDE:-}" != 1 ]; then
    INSIDE=1 exec unshare --mount "$0"
fi
mount -t overlay overlay -o "lowerdir=$root/usr/bin:/usr/bin" /usr/bin
mount -t overlay overlay -o "lowerdir=$root/usr/lib:/usr/lib" /usr/lib
start_server
cat > "$work/ldap.conf" <<CONF
uris = $URL
tls = yes
tls_ca_cert_file = $CA
auth_bind = yes
dn = $ROOT_DN
dnpass = $ROOT_PASSWORD
base = $SUFFIX
pass_filter = (&(objectClass=posixAccount)(uid=%u))
pass_attrs = uid=user
user_filter = (&(objectClass=posixAccount)(uid=%u))
user_attrs = homeDirectory=home,uidNumber=uid,gidNumber=gid
iterate_filter = (objectClass=posixAccount)
iterate_attrs = uid=user
CONF
cat > "$work/dovecot.conf" <<CONF
base_dir = $work/run
state_dir = $work/state
auth_mechanisms = plain
protocols =
ssl = no
log_path = $work/dovecot.log
default_internal_user = daemon
default_internal_group = daemon
default_login_user = nobody
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = maildir:/nowhere
passdb {
  driver = ldap
  args = $work/ldap.conf
}
userdb {
  driver = ldap
  args = $work/ldap.conf
}
CONF
export LD_LIBRARY_PATH=$root/usr/lib/dovecot:$root/usr/lib/$(gcc -print-multiarch)
dovecot() { ${by:-} "$root/usr/sbin/dovecot" -c "$work/dovecot.conf" "$@"; }
doveadm() { /usr/bin/doveadm -c "$work/dovecot.conf" "$@"; }
mkdir -p "$work/run" "$work/state"
serve dovecot -F
for _ in $(seq 100); do [ -S "$work/run/auth-userdb" ] && break; sleep 0.05; done
check "a password" doveadm auth test ada "$USER_PASSWORD"
check "a wrong password" sh -c "! doveadm -c '$work/dovecot.conf' auth test ada wrong"
check "somebody unknown" sh -c "! doveadm -c '$work/dovecot.conf' auth test nobody x"
home=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(uid=ada)" homeDirectory | sed -n 's/^homeDirectory: //p')
says "where a user's home is" "$home" sh -c "doveadm -c '$work/dovecot.conf' user -f home ada"
users=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(objectClass=posixAccount)" uid | sed -n 's/^uid: //p' | sort)
says "all users" "$users" sh -c "doveadm -c '$work/dovecot.conf' user '*' | sort"
finish "dovecot $(dovecot --version 2>/dev/null | cut -d' ' -f1)"
