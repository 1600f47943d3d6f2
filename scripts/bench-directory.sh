#!/usr/bin/env bash
# Measures load, searches and a scan, beside Debian's slapd: same LDIF, same indexes, turn and turn about.
#
#   scripts/bench-directory.sh [USERS] [ROUNDS]        1000000 users and 2 rounds unless told otherwise
#
# slapd is the one that scripts/setup.sh unpacks into build/slapd; its files go to build/bench, like ours.
set -euo pipefail
cd "$(dirname "$0")/.."

users=${1:-1000000}
rounds=${2:-2}
suffix=dc=example,dc=com
root=$PWD/build/bench
slapd_root=$PWD/build/slapd
# Debian's slapd, with the libraries it was unpacked with.
slapd=(env "LD_LIBRARY_PATH=$(echo "$slapd_root"/usr/lib/*-linux-gnu)" "$slapd_root/usr/sbin/slapd")
our_port=3893
slapd_port=3894

[ -x "$slapd_root/usr/sbin/slapd" ] || { echo "bench: run scripts/setup.sh all first" >&2; exit 1; }
cargo build --release --quiet --package fulgurite-cli --package fulgurite-bench
fulgurite=$PWD/target/release/fulgurite
bench=$PWD/target/release/fulgurite-bench
mkdir -p "$root"

server=
stop_server() {
    [ -z "$server" ] || { kill -TERM "$server" && wait "$server" || true; } 2>/dev/null
    server=
}
trap stop_server EXIT

# Runs a command and tells wall time, CPU time and peak memory.
measured() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import resource, subprocess, sys, time
begun = time.time()
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"seconds={time.time() - begun:.1f} cpu={used.ru_utime + used.ru_stime:.1f}s "
      f"peak_memory={used.ru_maxrss / 1024:.0f}MiB")
sys.exit(status)
PYTHON
}

wait_for_port() {
    for _ in $(seq 600); do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
        sleep 0.1
    done
    echo "bench: nothing answers at port $1" >&2
    exit 1
}

# The default indexes of `fulgurite load`, in slapd's words.
slapd_conf() {
    cat <<CONF
include $slapd_root/etc/ldap/schema/core.schema
include $slapd_root/etc/ldap/schema/cosine.schema
include $slapd_root/etc/ldap/schema/nis.schema
include $slapd_root/etc/ldap/schema/inetorgperson.schema
modulepath $slapd_root/usr/lib/ldap
moduleload back_mdb
pidfile $root/slapd.pid
sizelimit unlimited
database mdb
suffix "$suffix"
rootdn "cn=admin,$suffix"
rootpw secret
directory $root/slapd-data
maxsize 34359738368
index objectClass,entryUUID,entryCSN eq
index uid,mail eq,pres,sub
index cn,sn,givenName eq,sub
index member,uniqueMember,memberUid,uidNumber,gidNumber eq,pres
CONF
}

load_ours() {
    rm -rf "$root/our-data"
    measured "$fulgurite" load --quiet --data "$root/our-data" --suffix "$suffix" "$root/users.ldif"
    file_size "$root/our-data/data.mdb"
}

load_slapd() {
    rm -rf "$root/slapd-data"
    mkdir -p "$root/slapd-data"
    measured "${slapd[@]}" -Ta -q -f "$root/slapd.conf" -l "$root/users.ldif"
    file_size "$root/slapd-data/data.mdb"
}

file_size() { du -m "$1" | awk '{ print "file=" $1 "MiB" }'; }

start_ours() {
    "$fulgurite" serve --data "$root/our-data" --suffix "$suffix" --listen "ldap://127.0.0.1:$our_port" \
        --size-limit unlimited --log-level warn &
    server=$!
    wait_for_port "$our_port"
}

start_slapd() {
    "${slapd[@]}" -d 0 -h "ldap://127.0.0.1:$slapd_port" -f "$root/slapd.conf" &
    server=$!
    wait_for_port "$slapd_port"
}

ask() { # NAME PORT WORKLOAD OPTIONS...
    local name=$1 port=$2
    shift 2
    "$bench" "$@" --server "127.0.0.1:$port" --base "$suffix" --ldif "$root/users.ldif" \
        --server-pid "$server" --label "$(printf '%-10s' "$name")" || echo "$name: not all answers were right"
}

questions() { # NAME PORT
    # Once for the caches, unmeasured.
    ask "$1" "$2" uid --connections 8 --requests 20000 > /dev/null
    ask "$1" "$2" uid --connections 1 --requests 20000
    ask "$1" "$2" uid --connections 8 --requests 100000
    ask "$1" "$2" uid --connections 8 --depth 16 --requests 100000
    ask "$1" "$2" scan --connections 1 --requests 1
    ask "$1" "$2" scan --connections 1 --requests 1 --filter '(description=no such text)'
}

echo "machine    $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r)"
echo "fulgurite  $("$fulgurite" --version), commit $(git rev-parse --short HEAD)"
echo "slapd      $("${slapd[@]}" -VV 2>&1 | grep -o 'slapd [0-9.+a-z-]*' | head -1)"
echo "data       fulgurite generate --users $users --seed 1 --hash --suffix $suffix"
echo

slapd_conf > "$root/slapd.conf"
"$fulgurite" generate --users "$users" --seed 1 --hash --suffix "$suffix" > "$root/users.ldif"

for round in $(seq "$rounds"); do
    echo "round $round"
    figures=$(load_ours)
    echo "fulgurite load: ${figures//$'\n'/ }"
    figures=$(load_slapd)
    echo "slapadd -q:     ${figures//$'\n'/ }"
done
for round in $(seq "$rounds"); do
    echo "round $round"
    start_ours
    questions fulgurite "$our_port"
    stop_server
    start_slapd
    questions slapd "$slapd_port"
    stop_server
done
