#!/usr/bin/env bash
# BIND 9: zones added while named runs are kept in LMDB. They are added, changed and deleted, and
# are there after a restart.
. "$(dirname "$0")/common.sh"

port=$(free_port)
control_port=$(free_port)
bind() { # TOOL ARGUMENTS...
    local name=$1
    shift
    with_library "$(ls "$unpacked/usr/sbin/$name" "$unpacked/usr/bin/$name" 2>/dev/null | head -1)" "$@"
}
control() { bind rndc -c "$work/rndc.conf" "$@"; }
ask() { bind dig +short +time=2 @127.0.0.1 -p "$port" "$1" "$2"; }

cat > "$work/named.conf" <<CONF
key control { algorithm hmac-sha256; secret "$(head -c 32 /dev/zero | base64)"; };
controls { inet 127.0.0.1 port $control_port allow { 127.0.0.1; } keys { control; }; };
options {
    directory "$work";
    pid-file none;
    session-keyfile none;
    listen-on port $port { 127.0.0.1; };
    listen-on-v6 { none; };
    allow-new-zones yes;
    lmdb-mapsize 32M;
    recursion no;
    dnssec-validation no;
};
CONF
cat > "$work/rndc.conf" <<CONF
key control { algorithm hmac-sha256; secret "$(head -c 32 /dev/zero | base64)"; };
options { default-key control; default-server 127.0.0.1; default-port $control_port; };
CONF
for n in $(seq 40); do
    printf '$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A 192.0.2.%d\n' "$n" > "$work/zone$n.db"
done

start() {
    serve bind named -f -n 1 -c "$work/named.conf"
    local _
    for _ in $(seq 100); do
        control status && return
        sleep 0.1
    done
    return 1
}
add_zones() {
    local n
    for n in $(seq 40); do
        control addzone "zone$n.example" "{ type primary; file \"zone$n.db\"; };" || return 1
    done
}
check "named starts" start
check_mapped named "${servers[0]}"
check "zones are added" add_zones
says "they are served" 192.0.2.17 ask ns.zone17.example A
check "one is changed" control modzone zone17.example '{ type primary; file "zone18.db"; };'
check "one is deleted" control delzone zone20.example
says "it is gone" "" ask ns.zone20.example A
check "a zone is shown" control showzone zone17.example
stop_servers

printed() { bind named-nzd2nzf "$work/_default.nzd" | grep -c '^zone'; }
says "the database is printed" 39 printed
check "it starts again" start
says "with the zones" 192.0.2.33 ask ns.zone33.example A
says "the changed one" 192.0.2.18 ask ns.zone17.example A
says "without the deleted one" "" ask ns.zone20.example A
stop_servers KILL
check "it starts after a kill" start
check "and adds a zone" control addzone zone20.example '{ type primary; file "zone20.db"; };'
says "which is served" 192.0.2.20 ask ns.zone20.example A
finish "$(bind named -v | sed 's/^BIND \([^ ]*\).*/\1/')"
