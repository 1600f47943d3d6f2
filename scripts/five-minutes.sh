#!/usr/bin/env bash
# Times docs/five-minutes.md: from nothing to the login of a first user over TLS.
#
#   scripts/five-minutes.sh PACKAGE.deb
#   scripts/five-minutes.sh ARCHIVE.tar.xz
#   scripts/five-minutes.sh ARCHIVE.tar.xz image
#
# The archive is that of a release. With `image`, its program serves as the image does: by variables
# alone, as a user without rights.
#
# It works as root, in a throwaway copy of this machine's root (an overlay), so nothing stays. The
# steps are those of the page, but no person reads or types.
set -euo pipefail
usage="usage: scripts/five-minutes.sh PACKAGE.deb|ARCHIVE.tar.xz [image]"
file=$(realpath "${1:?$usage}")
case $file:${2:-} in
    *.deb:) way=package ;;
    *.tar.xz:) way=archive ;;
    *.tar.xz:image) way=image ;;
    *) echo "$usage" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo "five-minutes: run it as root" >&2; exit 1; }
work=$(mktemp -d /var/tmp/five-minutes.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp "$file" "$work/file"
echo "$way" > "$work/way"

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
way=$(cat /way)
plain=ldap://localhost encrypted=ldaps://localhost login=()
person=uid=ada,ou=people,dc=example,dc=org base=dc=example,dc=org
case $way in
    package)
        dpkg --force-depends -i /file > /steps.log 2>&1
        step "dpkg -i" ;;
    archive | image)
        tar -C /usr/local --strip-components=1 -xJf /file > /steps.log 2>&1
        step "tar -C /usr/local -xJ" ;;
esac
if [ $way = image ]; then
    # The secrets of an image are files, and its volume belongs to its user.
    install -d -m 755 /run/secrets
    install -d -o 10001 -g 10001 -m 700 /data
    printf sesame > /run/secrets/password
    # libldap compares with the name of the machine, where a URL has localhost.
    key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
    cd /run/secrets
    {
        openssl req -x509 "${key[@]}" -days 90 -subj /CN=Example -keyout /ca-key.pem -out ca.pem
        openssl req "${key[@]}" -subj /CN=localhost -keyout key.pem -out /request.pem
        openssl x509 -req -in /request.pem -CA ca.pem -CAkey /ca-key.pem -CAcreateserial -days 90 \
            -extfile <(echo "subjectAltName=DNS:localhost,DNS:$(hostname)") -out certificate.pem
    } >> /steps.log 2>&1
    chown 10001:10001 ./*
    step "secrets"
    variables=(FULGURITE_DATA=/data LDAP_DOMAIN=example.org LDAP_ORGANISATION=Example
        LDAP_ADMIN_PASSWORD_FILE=/run/secrets/password LDAP_PORT_NUMBER=1389
        LDAP_LDAPS_PORT_NUMBER=1636 LDAP_ENABLE_TLS=yes
        LDAP_TLS_CERT_FILE=/run/secrets/certificate.pem LDAP_TLS_KEY_FILE=/run/secrets/key.pem)
    setpriv --reuid 10001 --regid 10001 --clear-groups --bounding-set=-all --inh-caps=-all \
        --no-new-privs env -i "${variables[@]}" /usr/local/bin/fulgurite serve >> /steps.log 2>&1 &
    plain=ldap://localhost:1389 encrypted=ldaps://localhost:1636
    export LDAPTLS_CACERT=/run/secrets/ca.pem
    # As in osixia's image, a user reads the own entry only.
    base=$person
    login=(-H "$encrypted" -D cn=admin,dc=example,dc=org -y /run/secrets/password)
    health() { env -i "${variables[@]}" /usr/local/bin/fulgurite doctor --answers; }
else
    fulgurite setup --yes --suffix dc=example,dc=org --host localhost >> /steps.log 2>&1
    step "fulgurite setup --yes"
    # No systemd runs here. This is the command that setup prints.
    setpriv --reuid fulgurite --regid fulgurite --init-groups --inh-caps -all,+net_bind_service \
        --ambient-caps +net_bind_service \
        fulgurite serve --config /etc/fulgurite/fulgurite.toml >> /steps.log 2>&1 &
    export LDAPTLS_CACERT=/etc/fulgurite/tls/ca.pem
    # A warning is an answer, too.
    health() { fulgurite status || [ $? = 1 ]; }
fi
server=$!
trap 'kill $server; wait $server' EXIT
for _ in $(seq 100); do
    health > /dev/null 2>&1 && break
    sleep 0.05
done
health > /dev/null
step "the server answers"
password=$(fulgurite user add ada --first Ada --last Norgaard --mail ada@example.org --generate \
    "${login[@]}" 2>> /steps.log | tail -1)
step "fulgurite user add ada"
ldapwhoami -x -ZZ -H "$plain" -D "$person" -w "${password##* }"
step "login by StartTLS"
ldapsearch -x -LLL -H "$encrypted" -D "$person" -w "${password##* }" \
    -b "$base" "(mail=ada@example.org)" dn
step "search by ldaps"
if [ $way != image ]; then
    fulgurite doctor --config /etc/fulgurite/fulgurite.toml || true
    step "fulgurite doctor"
fi
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
    cp "$work/file" "$work/way" "$work/steps" "$work/tree/"
    chroot "$work/tree" bash /steps || { tail -20 "$work/tree/steps.log"; exit 1; }
'
