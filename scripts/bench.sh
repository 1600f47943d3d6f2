#!/usr/bin/env bash
# The same load for our server and for Debian's slapd, turn and turn about on this machine.
#
#   USERS=100000 REQUESTS=100000 ROUNDS=3 scripts/bench.sh
set -euo pipefail
cd "$(dirname "$0")/.."
users=${USERS:-100000}
requests=${REQUESTS:-100000}
rounds=${ROUNDS:-3}
suffix="dc=example,dc=com"
work=build/bench
slapd_root=$PWD/build/slapd

cargo build --release --package fulgurite-cli --package fulgurite-bench
fulgurite=target/release/fulgurite
bench=target/release/fulgurite-bench
LD_LIBRARY_PATH=$(echo "$slapd_root"/usr/lib/*-linux-gnu)

rm -rf "$work"
mkdir -p "$work/slapd"
printf 'bench-secret' >"$work/root-password"
"$fulgurite" generate --users "$users" --seed 1 --suffix "$suffix" >"$work/users.ldif"
{
    for schema in core cosine inetorgperson nis; do echo "include $slapd_root/etc/ldap/schema/$schema.schema"; done
    cat <<EOT
modulepath $slapd_root/usr/lib/ldap
moduleload back_mdb
sizelimit unlimited
access to attrs=userPassword by * auth
access to * by * read
database mdb
maxsize 17179869184
suffix "$suffix"
rootdn "cn=admin,$suffix"
rootpw bench-secret
directory $PWD/$work/slapd
index objectClass,entryUUID,entryCSN eq
index uid,mail eq,pres,sub
index cn,sn,givenName eq,sub
index member,uniqueMember,memberUid,uidNumber,gidNumber eq,pres
EOT
} >"$work/slapd.conf"

# Time, CPU and peak memory of a command, on one line.
measured() {
    local label=$1
    shift
    python3 - "$label" "$@" <<'EOT'
import os, resource, subprocess, sys, time
label, command = sys.argv[1], sys.argv[2:]
began = time.monotonic()
status = subprocess.call(command, stdout=subprocess.DEVNULL)
elapsed = time.monotonic() - began
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{label} {elapsed:.1f} s, CPU {use.ru_utime + use.ru_stime:.1f} s, peak {use.ru_maxrss / 1024:.0f} MiB, status {status}")
sys.exit(status)
EOT
}

echo "== load of $users users"
measured "fulgurite load:" "$fulgurite" load --quiet --data "$work/ours" --suffix "$suffix" "$work/users.ldif"
LD_LIBRARY_PATH=$LD_LIBRARY_PATH measured "slapadd -q:    " "$slapd_root/usr/sbin/slapadd" -q -f "$work/slapd.conf" -l "$work/users.ldif"
echo "store on disk, KiB: fulgurite $(du -sk "$work/ours" | cut -f1), slapd $(du -sk "$work/slapd" | cut -f1)"

pids=()
stop() { for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; wait; }
trap stop EXIT
"$fulgurite" serve --data "$work/ours" --suffix "$suffix" --listen ldap://127.0.0.1:3891 --size-limit unlimited \
    --root-dn "cn=admin,$suffix" --root-password-file "$work/root-password" 2>"$work/ours.log" &
ours=$!
pids+=("$ours")
LD_LIBRARY_PATH=$LD_LIBRARY_PATH "$slapd_root/usr/sbin/slapd" -d 0 -f "$work/slapd.conf" -h ldap://127.0.0.1:3892/ 2>"$work/slapd.log" &
theirs=$!
pids+=("$theirs")
for port in 3891 3892; do
    for _ in $(seq 200); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
        sleep 0.1
    done
done

ask() { # workload arguments...
    "$bench" "$@" --label "fulgurite " --server 127.0.0.1:3891 --server-pid "$ours"
    "$bench" "$@" --label "slapd     " --server 127.0.0.1:3892 --server-pid "$theirs"
}
for round in $(seq "$rounds"); do
    echo "== round $round: searches by uid"
    ask uid --ldif "$work/users.ldif" --base "$suffix" --requests "$requests" --connections 4
    ask uid --ldif "$work/users.ldif" --base "$suffix" --requests "$requests" --connections 4 --depth 32
    echo "== round $round: everything, read once"
    ask scan --base "$suffix" --requests 1 --connections 1
done
