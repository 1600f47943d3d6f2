#!/usr/bin/env bash
# Takes the steps of the image without a container engine. The root has the program and its
# libraries, and is read-only. The server has its own user and no capabilities. The script asks for
# health, sends SIGTERM and starts again.
#
#   packaging/container/check.sh PROGRAM
#
# Needs root and the right to mount. Without them it exits with 77, as skipped tests do.
set -euo pipefail
program=$(realpath "${1:?usage: packaging/container/check.sh PROGRAM}")
user=10001
if [ "${2:-}" != inside ]; then
    [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || {
        echo "container: skipped, because this needs root and mounts" >&2
        exit 77
    }
    exec unshare --mount -- "$0" "$program" inside
fi

PATH=$PATH:/usr/sbin:/sbin
chroot=$(command -v chroot)
setpriv=$(command -v setpriv)
work=$(mktemp -d)
root=$work/root
pid=
finish() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
    umount -l "$root" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
# mktemp's folder is root's alone; the image's root is open.
chmod 755 "$work"
install -d -m 755 "$root" "$root/usr/bin" "$root/run/secrets" "$root/dev"
install -d -o $user -g $user -m 700 "$root/data" "$work/data"
install -m 755 "$program" "$root/usr/bin/fulgurite"
ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
    install -D -m 755 "$library" "$root$library"
done
printf 'sesame' > "$root/run/secrets/admin-password"
chown $user:$user "$root/run/secrets/admin-password"
chmod 400 "$root/run/secrets/admin-password"
touch "$root/dev/urandom"
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind /dev/urandom "$root/dev/urandom"
mount -o remount,bind,ro "$root"
# The volume is all that can be written.
mount --bind "$work/data" "$root/data"

inside() { # COMMAND...
    # exec, so that a signal to this process reaches the program. The change of the root and of the
    # user needs three capabilities, which the program then lacks.
    exec env -i FULGURITE_DATA=/data "${variables[@]}" "$setpriv" --bounding-set=-all,+sys_chroot,+setuid,+setgid --no-new-privs \
        "$chroot" --userspec=$user:$user "$root" /usr/bin/fulgurite "$@"
}

fail() {
    echo "container: $1" >&2
    cat "$work/log" >&2
    exit 1
}

by_variables() {
    variables=(LDAP_DOMAIN=example.org LDAP_ORGANISATION='Example Ltd' "LDAP_PORT_NUMBER=$port"
        LDAP_ADMIN_PASSWORD_FILE=/run/secrets/admin-password)
    serve=(serve)
    health=(doctor --answers)
}

# The settings of the cluster's example are in the volume. Its health check has to read them.
example=$(dirname "$0")/compose-cluster.yaml
by_example() {
    variables=()
    read -ra serve <<< "$(sed -n 's/^  command: \["serve", "\(.*\)", "\(.*\)"\]$/serve \1 \2/p' "$example")"
    read -ra health <<< "$(sed -n 's/^    test: .*"\/usr\/bin\/fulgurite", \(.*\)\]$/\1/p' "$example" | tr -d '",')"
    printf 'suffix = "dc=example,dc=org"\ndata = "/data/store"\nlisten = ["ldap://127.0.0.1:%s"]\n' \
        "$port" > "$work/data/fulgurite.toml"
    chown $user:$user "$work/data/fulgurite.toml"
    [ "${serve[*]}" = "serve --config /data/fulgurite.toml" ] || fail "the example has another command"
}

start() { # by_variables | by_example
    # A port that was free a moment ago; another program may take it first.
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 20000))
        "$1"
        (inside "${serve[@]}") > "$work/log" 2>&1 &
        pid=$!
        for _ in $(seq 300); do
            if (inside "${health[@]}") > "$work/health" 2>&1; then return; fi
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -0 "$pid" 2>/dev/null && fail "the server is not healthy: $(cat "$work/health")"
    done
    fail "the server does not start"
}

stop() {
    kill -TERM "$pid"
    wait "$pid" || fail "the server ends with $? after SIGTERM"
    pid=
}

start by_variables
[ "$(stat -c %u "/proc/$pid")" = $user ] || fail "the server runs as another user"
grep -q '^CapEff:\s*0*$' "/proc/$pid/status" || fail "the server has capabilities"
[ -n "$(find "$work/data" -name data.mdb -user $user -perm 600)" ] || fail "the store is not in the volume"
if (inside generate --users 1 > /dev/null) && touch "$root/usr/x" 2>/dev/null; then
    fail "the root file system can be written"
fi
if command -v ldapsearch >/dev/null; then
    found=$(ldapsearch -x -LLL -H "ldap://127.0.0.1:$port" -D cn=admin,dc=example,dc=org -w sesame \
        -b dc=example,dc=org -s base o 2>&1)
    case $found in *"o: Example Ltd"*) ;; *) fail "the top is not there: $found" ;; esac
fi
stop
if (inside "${health[@]}") > "$work/health" 2>&1; then fail "a stopped server is healthy"; fi
# The second start finds the data of the first.
start by_variables
stop
start by_example
stop
echo "container: the steps of the image work"
