#!/usr/bin/env bash
# nslcd: accounts and groups for the system's lookups, in a separate mount namespace without a
# network.
. "$(dirname "$0")/common.sh"
need nslcd test -x "$root/usr/sbin/nslcd"
need "a right to make namespaces" unshare --mount --net true
need "the system's loopback" sh -c "unshare --net ip link set lo up"
PORT=3890
cat > "$work/nslcd.conf" <<CONF
uid daemon
gid daemon
uri ldap://localhost:$PORT
base $SUFFIX
binddn $USER_DN
bindpw $USER_PASSWORD
ssl start_tls
tls_cacertfile $work/ca.pem
tls_reqcert demand
CONF
# Everything from here on happens inside: the server, nslcd, and getent.
if [ "${INSIDE:-}" != 1 ]; then
    INSIDE=1 exec unshare --mount --net "$0"
fi
ip link set lo up
free_port() { echo "$PORT"; }
start_server
mount -t tmpfs none /run
mkdir -p /run/nslcd
chown daemon /run/nslcd 2>/dev/null || true
mount -t tmpfs none /mnt
mkdir /mnt/upper /mnt/work
cp "$work/nslcd.conf" /mnt/upper/nslcd.conf
chmod 600 /mnt/upper/nslcd.conf
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc
export LD_LIBRARY_PATH=$root/lib/$(gcc -print-multiarch):$root/usr/lib/$(gcc -print-multiarch)
nslcd() { ${by:-} "$root/usr/sbin/nslcd" "$@"; }
serve nslcd -d
for _ in $(seq 100); do [ -S /run/nslcd/socket ] && break; sleep 0.05; done
line=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(uid=ada)" uidNumber gidNumber homeDirectory | sed -n 's/^uidNumber: //p')
field() { getent -s ldap passwd "$1" | cut -d: -f"$2"; }
says "a user by name" "$line" field ada 3
says "a user by number" ada sh -c "getent -s ldap passwd $line | cut -d: -f1"
says "nobody" "" field nobody-of-that-name 1
users=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(objectClass=posixAccount)" uid | sed -n 's/^uid: //p' | sort)
says "all users" "$users" sh -c "getent -s ldap passwd | cut -d: -f1 | sort"
groups=$(ldapsearch -x -LLL -H "$URL" -b "$SUFFIX" "(objectClass=posixGroup)" cn | sed -n 's/^cn: //p' | sort)
says "all groups" "$groups" sh -c "getent -s ldap group | cut -d: -f1 | sort"
finish "$(nslcd --version 2>/dev/null | head -1)"
