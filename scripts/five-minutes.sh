#!/usr/bin/env bash
# Times docs/five-minutes.md: from a package to the login of a first user over TLS.
#
#   scripts/five-minutes.sh PACKAGE.deb
#
# It works as root, in a throwaway copy of this machine's root (an overlay), so nothing stays. The
# steps are those of the page, but no person reads or types.
set -euo pipefail
package=$(realpath "${1:?usage: scripts/five-minutes.sh PACKAGE.deb}")
work=$(mktemp -d /var/tmp/five-minutes.XXXXXX)
[ "$(id -u)" = 0 ] || { echo "five-minutes: run it as root" >&2; exit 1; }
cp "$package" "$work/package.deb"

cat > "$work/steps" <<'STEPS'
set -euo pipefail
now() { date +%s.%N; }
begun=$(now)
last=$begun
step() {
    local at; at=$(now)
    printf '%6.2f s  %s\n' "$(echo "$at - $last" | bc)" "$1"
    last=$at
}
dpkg --force-depends -i /package.deb > /steps.log 2>&1
step "dpkg -i"
fulgurite setup --yes --suffix dc=example,dc=org --host localhost >> /steps.log 2>&1
step "fulgurite setup --yes"
# No systemd runs here. This is the command that setup prints.
setpriv --reuid fulgurite --regid fulgurite --init-groups --inh-caps -all,+net_bind_service \
    --ambient-caps +net_bind_service \
    fulgurite serve --config /etc/fulgurite/fulgurite.toml >> /steps.log 2>&1 &
server=$!
trap 'kill $server; wait $server' EXIT
for _ in $(seq 100); do
    fulgurite status > /dev/null 2>&1 && break
    [ $? -le 1 ] && break
    sleep 0.05
done
step "the server answers"
password=$(fulgurite user add ada --first Ada --last Norgaard --mail ada@example.org --generate 2>> /steps.log | tail -1)
step "fulgurite user add ada"
export LDAPTLS_CACERT=/etc/fulgurite/tls/ca.pem
ldapwhoami -x -ZZ -H ldap://localhost -D uid=ada,ou=people,dc=example,dc=org -w "${password##* }"
step "login by StartTLS"
ldapsearch -x -LLL -H ldaps://localhost -D uid=ada,ou=people,dc=example,dc=org -w "${password##* }" \
    -b dc=example,dc=org "(mail=ada@example.org)" dn
step "search by ldaps"
fulgurite doctor --config /etc/fulgurite/fulgurite.toml || true
step "fulgurite doctor"
printf '%6.2f s  in all\n' "$(echo "$(now) - $begun" | bc)"
STEPS

export work
unshare --mount --net --pid --fork --kill-child bash -euc '
    trap "umount -l \"$work/tree\" 2>/dev/null || true" EXIT
    ip link set lo up
    mkdir "$work/scratch" "$work/tree"
    mount -t tmpfs none "$work/scratch"
    mkdir "$work/scratch/upper" "$work/scratch/work"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$work/scratch/upper,workdir=$work/scratch/work" "$work/tree"
    mount -t proc proc "$work/tree/proc"
    mount --bind /dev "$work/tree/dev"
    mount -t tmpfs none "$work/tree/run"
    cp "$work/package.deb" "$work/steps" "$work/tree/"
    chroot "$work/tree" bash /steps || { tail -20 "$work/tree/steps.log"; exit 1; }
'
rm -rf "$work"
