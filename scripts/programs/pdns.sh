#!/usr/bin/env bash
# PowerDNS with its LMDB backend: zones made, signed and changed by pdnsutil, served, and listed.
. "$(dirname "$0")/common.sh"

port=$(free_port)
pdns() { # TOOL ARGUMENTS...
    local path
    path=$(ls "$unpacked/usr/sbin/$1" "$unpacked/usr/bin/$1" 2>/dev/null | head -1)
    shift
    with_library "$path" --config-dir="$work" "$@"
}
util() { pdns pdnsutil "$@"; }
ask() { with_library "$unpacked/usr/bin/dig" +short +time=2 @127.0.0.1 -p "$port" "$@"; }

cat > "$work/pdns.conf" <<CONF
launch=lmdb
module-dir=$unpacked_libraries/pdns
lmdb-filename=$work/zones.lmdb
lmdb-shards=4
lmdb-random-ids=yes
lmdb-map-size=100
local-address=127.0.0.1
local-port=$port
socket-dir=$work
setuid=
setgid=
zone-cache-refresh-interval=1
CONF

zones() {
    local n
    for n in $(seq 12); do
        util create-zone "zone$n.example" "ns.zone$n.example" || return 1
        util add-record "zone$n.example" ns A 60 "192.0.2.$n" || return 1
    done
}
check "zones are made" zones
load() {
    {
        echo "big.example. 60 IN SOA ns.big.example. hostmaster.big.example. 1 60 60 60 60"
        echo "big.example. 60 IN NS ns.big.example."
        for n in $(seq 2000); do echo "host$n.big.example. 60 IN A 192.0.$((n / 250)).$((n % 250))"; done
    } > "$work/big.zone"
    util load-zone big.example "$work/big.zone"
}
check "a zone is loaded" load
check "a zone is signed" util secure-zone zone1.example
check "a record is replaced" util replace-rrset zone2.example www A 60 198.51.100.2
check "a record is deleted" util delete-rrset zone3.example ns A
check "a zone is deleted" util delete-zone zone4.example
count() { util list-all-zones | grep -c 'example$'; }
says "the zones are listed" 12 count
records() { util list-zone big.example | grep -c 'IN.A'; }
says "the records of one" 2000 records
check "all is checked" util check-zone big.example
metadata() { util set-meta zone5.example ALLOW-AXFR-FROM 127.0.0.1 >/dev/null && util get-meta zone5.example ALLOW-AXFR-FROM; }
says "metadata are kept" $'Metadata for \'zone5.example\'\nALLOW-AXFR-FROM = 127.0.0.1' metadata

start() {
    serve pdns pdns_server --daemon=no --guardian=no --disable-syslog --write-pid=no
    local _
    for _ in $(seq 100); do
        [ "$(ask ns.zone5.example A)" = 192.0.2.5 ] && return
        sleep 0.1
    done
    return 1
}
check "the server starts" start
check_mapped pdns_server "${servers[0]}"
says "a record" 192.0.4.77 ask host1077.big.example A
says "a replaced one" 198.51.100.2 ask www.zone2.example A
says "a deleted one" "" ask ns.zone3.example A
signatures() { ask ns.zone1.example A +dnssec | grep -c ' 13 '; }
says "a signature" 1 signatures
check "a change beside the server" util add-record zone6.example late A 60 203.0.113.6
says "is served" 203.0.113.6 ask late.zone6.example A
finish "$(util --version 2>&1 | sed 's/.* //' | head -1)"
