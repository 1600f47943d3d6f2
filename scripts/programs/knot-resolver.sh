#!/usr/bin/env bash
# Knot Resolver keeps its cache in LMDB. Names are asked, and two processes answer from the cache
# when their server is gone. A kill loses nothing of it.
#
# It finds its modules and the root's keys below /usr only. So it runs in a separate mount namespace
# that shows them there.
. "$(dirname "$0")/common.sh"

services=$PWD/build/programs/services/root
libraries=$services/usr/lib/$(gcc -print-multiarch)
more_libraries=$libraries
need "Knot Resolver" test -x "$services/usr/sbin/kresd"
need "the keys of the root" test -e "$services/usr/share/dns/root.key"
need "a right to mount" unshare --mount mount -t overlay overlay \
    -o "lowerdir=$libraries:/usr/lib/$(gcc -print-multiarch)" "/usr/lib/$(gcc -print-multiarch)"

authority_port=$(free_port) port=$(free_port)
cat > "$work/knot.conf" <<CONF
server:
    listen: 127.0.0.1@$authority_port
    rundir: $work
database:
    storage: $work/authority
zone:
  - domain: example
    storage: $work
    file: example.zone
CONF
{
    printf '%s\n' 'example. 3600 SOA ns.example. hostmaster.example. 1 3600 600 86400 300' 'example. 3600 NS ns.example.' 'ns.example. 3600 A 192.0.2.1'
    for n in $(seq 400); do echo "host$n.example. 3600 A 192.0.2.$((n % 250))"; done
} > "$work/example.zone"
cat > "$work/kresd.conf" <<CONF
net.ipv6 = false
net.listen('127.0.0.1', $port)
trust_anchors.remove('.')
cache.open(20 * MB, 'lmdb://$work/cache')
policy.add(policy.all(policy.STUB('127.0.0.1@$authority_port')))
CONF
# The name of the command on the machine, as it is in the namespace.
resolver() {
    with_library unshare --mount sh -c '
        mount -t overlay overlay -o "lowerdir=$0/usr/lib/$1:/usr/lib/$1" "/usr/lib/$1" &&
            mount -t overlay overlay -o "lowerdir=$0/usr/share:/usr/share" /usr/share && shift && exec "$@"' \
        "$services" "$(gcc -print-multiarch)" "$@"
}
start() {
    serve resolver "$services/usr/sbin/kresd" -n -c "$work/kresd.conf" "$work"
    wait_for_port "$port"
}
ask() { with_library "$unpacked/usr/bin/dig" +short +time=2 +tries=1 @127.0.0.1 -p "$port" "$@"; }
answers() {
    local _
    for _ in $(seq 20); do ask host1.example A | grep '^192' && return; done
    return 1
}
ask_all() {
    for n in $(seq "$1" "$2"); do echo "host$n.example A"; done > "$work/questions"
    ask -f "$work/questions" | grep -c '^192\.0\.2\.'
}

authority() { with_library "$unpacked/usr/sbin/knotd" "$@"; }
serve authority -c "$work/knot.conf"
wait_for_port "$authority_port"
check "kresd starts" start
check_mapped kresd "${servers[1]}"
check "it answers" answers
says "names are asked" 300 ask_all 1 300
check "a second process of the same cache" start
kill "${servers[0]}"
wait "${servers[0]}" 2>/dev/null || true
says "the cache answers when their server is gone" 300 ask_all 1 300
stop_servers KILL
serve authority -c "$work/knot.conf"
wait_for_port "$authority_port"
check "it starts after a kill" start
check "and answers" answers
says "also new names" 100 ask_all 301 400
stop_servers
records() { /usr/bin/mdb_stat "$work/cache" | sed -n 's/^ *Entries: //p'; }
check "LMDB counts the records" test "$(records)" -ge 400
check "the collector of old records" resolver "$services/usr/sbin/kres-cache-gc" -c "$work/cache" -u 0 -d 0 -v
finish "Knot Resolver $(LD_LIBRARY_PATH=$libraries "$services/usr/sbin/kresd" --version 2>/dev/null | sed 's/.*version //')"
