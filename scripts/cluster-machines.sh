#!/usr/bin/env bash
# Three machines as network namespaces, each with a member of etcd and a node, by the commands of
# docs/cluster.md. A client writes while one machine is lost. In the end all that was acknowledged
# must be at the other nodes. Prints the times.
#
#   scripts/cluster-machines.sh PROGRAM [ETCD]
#
# Needs root, ip, etcd, ldapmodify and ldapsearch. Without namespaces it exits with 77, as skipped
# tests do.
set -euo pipefail
program=$(realpath "${1:?usage: scripts/cluster-machines.sh PROGRAM [ETCD]}")
etcd=$(realpath "${2:-$(dirname "$0")/../build/etcd/usr/bin/etcd}")
tag=fg$$
bridge=${tag}br
work=$(mktemp -d)
pids=()

if ! ip netns add "$tag-0" 2>/dev/null; then
    echo "cluster-machines: skipped, because there are no namespaces here" >&2
    exit 77
fi

finish() {
    [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    for n in 0 1 2 3; do ip netns del "$tag-$n" 2>/dev/null || true; done
    for n in 1 2 3; do rm -rf "/etc/netns/$tag-$n"; done
    ip link del "$bridge" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

now() { date +%s%N; }
since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f s", (to - from) / 1e9 }'; }
on() { ip netns exec "$tag-$1" "${@:2}"; }
say() { printf '%-44s %s\n' "$1" "$2"; }

ip netns del "$tag-0"
ip link add "$bridge" type bridge
ip link set "$bridge" up
hosts="127.0.0.1 localhost"
for n in 1 2 3; do hosts+=$'\n'"10.99.0.$n node-$n etcd-$n"; done
for n in 1 2 3; do
    ip netns add "$tag-$n"
    ip link add "$tag-v$n" type veth peer name eth0 netns "$tag-$n"
    ip link set "$tag-v$n" master "$bridge" up
    on $n ip address add "10.99.0.$n/24" dev eth0
    on $n ip link set eth0 up
    on $n ip link set lo up
    mkdir -p "/etc/netns/$tag-$n" "$work/$n"
    printf '%s\n' "$hosts" > "/etc/netns/$tag-$n/hosts"
done

begun=$(now)
peers=etcd-1=http://etcd-1:2380,etcd-2=http://etcd-2:2380,etcd-3=http://etcd-3:2380
for n in 1 2 3; do
    on $n "$etcd" --name etcd-$n --data-dir "$work/$n/etcd" \
        --listen-client-urls "http://10.99.0.$n:2379" --advertise-client-urls "http://etcd-$n:2379" \
        --listen-peer-urls "http://10.99.0.$n:2380" \
        --initial-advertise-peer-urls "http://etcd-$n:2380" \
        --initial-cluster "$peers" --initial-cluster-state new > "$work/$n/etcd.log" 2>&1 &
    pids+=($!)
    eval "etcd_$n=$!"
    disown
done

serve() { # NODE
    (cd "$work/$1" && exec ip netns exec "$tag-$1" "$program" serve --config fulgurite.toml) \
        > "$work/$1/serve.log" 2>&1 &
    pids+=($!)
    eval "node_$1=$!"
    disown
}

answers() { # NODE
    on "$1" ldapsearch -x -o nettimeout=2 -H "ldap://node-$1" -s base -b dc=example,dc=com -LLL dn \
        2>/dev/null | grep -q '^dn:'
}

patiently() { # COMMAND...
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
    done
    echo "cluster-machines: not in time: $*" >&2
    tail -n 5 "$work"/*/serve.log >&2
    exit 1
}

printf sesame > "$work/password"
printf 'suffix = "dc=example,dc=com"\ndata = "store"\nlisten = ["ldap://:389"]\n' > "$work/settings"
cat >> "$work/settings" <<'TOML'
[root]
dn = "cn=admin,dc=example,dc=com"
password_file = "PASSWORD"
[start]
create_suffix = true
TOML
urls=http://etcd-1:2379,http://etcd-2:2379,http://etcd-3:2379
for n in 1 2 3; do sed "s|\"store\"|\"$work/$n/store\"|; s|PASSWORD|$work/password|" "$work/settings" > "$work/$n/fulgurite.toml"; done
init() {
    (cd "$work/1" && on 1 "$program" cluster init --config fulgurite.toml --peers node-1:7390 \
        --etcd "$urls") > "$work/init.log" 2>&1
}
patiently init
serve 1
patiently answers 1
for n in 2 3; do
    (cd "$work/1" && on 1 "$program" cluster token --config fulgurite.toml) > "$work/$n/token"
    (cd "$work/$n" && on $n "$program" cluster join token --config fulgurite.toml \
        --peers "node-$n:7390") > "$work/join.log" 2>&1
    serve $n
    patiently answers $n
done
say "three empty machines to three nodes" "$(since "$begun")"

add() { # NODE NAME
    printf 'dn: ou=%s,dc=example,dc=com\nchangetype: add\nobjectClass: organizationalUnit\n' "$2" |
        timeout 20 ip netns exec "$tag-$1" ldapmodify -x -o nettimeout=5 -H "ldap://node-$1" \
            -D cn=admin,dc=example,dc=com -y "$work/password" > /dev/null 2>&1
}
patiently add 2 first

sequencer() {
    (cd "$work/2" && on 2 "$program" cluster status --config fulgurite.toml 2>/dev/null || true) |
        sed -n 's/^sequencer *node \([0-9]*\).*/\1/p'
}
lost=$(sequencer)
lost=${lost:-1}
writer=$((lost % 3 + 1))
other=$((writer % 3 + 1))
: > "$work/done"
write() {
    local at=0
    while [ ! -e "$work/over" ]; do
        at=$((at + 1))
        if add "$writer" "w$at"; then
            echo "$(now) w$at" >> "$work/done"
        fi
    done
}
write &
pids+=($!)
writing=$!
sleep 3
# The machine is off: its processes are dead, and its wire is cut.
cut=$(now)
ip link set "$tag-v$lost" down
node=node_$lost member=etcd_$lost
kill -KILL "${!node}" "${!member}"
sleep 20
touch "$work/over"
wait "$writing" || true
before=$(awk -v cut="$cut" '$1 < cut' "$work/done" | wc -l)
first=$(awk -v cut="$cut" '$1 > cut + 1e9 { print $1; exit }' "$work/done")
after=$(awk -v cut="$cut" '$1 >= cut' "$work/done" | wc -l)
[ -n "$first" ] || { echo "cluster-machines: no update after the loss" >&2; exit 1; }
say "machine $lost with the sequencer was lost" "$before updates before, $after in 20 s after"
say "the longest pause of the writer" "$(awk '
    last && $1 - last > most { most = $1 - last } { last = $1 }
    END { printf "%.1f s", most / 1e9 }' "$work/done")"

present() {
    on "$1" ldapsearch -x -H "ldap://node-$1" -b dc=example,dc=com -LLL \
        -E '!2.25.302819891496272786015889299600346220401' '(ou=w*)' ou | sed -n 's/^ou: //p' | sort
}
cut -d ' ' -f 2 "$work/done" | sort > "$work/acknowledged"
for n in $writer $other; do
    missing=$(present "$n" | comm -13 - "$work/acknowledged" | wc -l)
    say "acknowledged updates missing at node $n" "$missing"
    [ "$missing" = 0 ]
done
say "all" "$(since "$begun")"
