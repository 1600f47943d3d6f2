#!/usr/bin/env bash
# Shows the directory at work: loads, serves, asks with Debian's own LDAP tools, measures a little.
# With a terminal it serves until Ctrl-C; without one it ends.
set -euo pipefail
cd "$(dirname "$0")/.."

port=${PORT:-3890}
url="ldap://127.0.0.1:$port"
suffix="dc=example,dc=org"
root_dn="cn=admin,$suffix"
root_password="demo-secret"
ada="uid=ada,ou=Engineering,ou=People,$suffix"
users=10000

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# Prints a command as one would type it, then runs it.
show() {
    local word line='$'
    for word in "$@"; do
        case "$word" in
            *[\ \(\)\*\&\|\$]*) line+=" '$word'" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '\n\033[36m%s\033[0m\n' "$line"
    "$@"
}

say "Building (release)"
cargo build --release --package fulgurite-cli --package fulgurite-bench
fulgurite=target/release/fulgurite
bench=target/release/fulgurite-bench

if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "demo: something listens on port $port already; choose another with: make demo PORT=3891" >&2
    exit 1
fi

demo=build/demo
rm -rf "$demo"
mkdir -p "$demo"
printf '%s\n' "$root_password" >"$demo/root-password"
chmod 600 "$demo/root-password"

say "The example organisation, and $users invented users beside it"
show "$fulgurite" generate --users "$users" --seed 1 --suffix "ou=Generated,$suffix" >"$demo/users.ldif"
began=$(date +%s.%N)
show "$fulgurite" load --data "$demo/data" --suffix "$suffix" examples/harbour.ldif "$demo/users.ldif"
ended=$(date +%s.%N)

say "Serving them"
log="$demo/server.log"
echo "\$ fulgurite serve --data $demo/data --suffix $suffix --listen $url --root-dn $root_dn --root-password-file $demo/root-password"
"$fulgurite" serve --data "$demo/data" --suffix "$suffix" --listen "$url" --root-dn "$root_dn" \
    --root-password-file "$demo/root-password" >"$log" 2>&1 &
server=$!
stop() {
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
}
trap stop EXIT
for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
    kill -0 "$server" 2>/dev/null || { cat "$log" >&2; exit 1; }
    sleep 0.1
done

say "Asking, with the tools of ldap-utils"
show ldapsearch -x -LLL -H "$url" -b "$suffix" "(uid=ada)" cn mail title manager
show ldapsearch -x -LLL -H "$url" -b "$suffix" "(&(sn=*berg)(l=Nordhafen)(mail=user.1*))" cn telephoneNumber
show ldapsearch -x -LLL -H "$url" -b "$suffix" -s one "(objectClass=organizationalUnit)" ou hasSubordinates
show ldapwhoami -x -H "$url" -D "$ada" -w ada-demo

say "Changing, as the administrator"
printf 'dn: %s\nchangetype: modify\nreplace: title\ntitle: Head of Lightning\n' "$ada" >"$demo/change.ldif"
show cat "$demo/change.ldif"
show ldapmodify -x -H "$url" -D "$root_dn" -w "$root_password" -f "$demo/change.ldif"
show ldapsearch -x -LLL -H "$url" -b "$ada" -s base title modifyTimestamp

say "The store is an LMDB environment: the original mdb_stat reads it, while we serve"
show mdb_stat -e -a "$demo/data"

say "In figures"
entries=$(grep -c '^dn:' examples/harbour.ldif "$demo/users.ldif" | awk -F: '{ sum += $2 } END { print sum }')
seconds=$(awk -v began="$began" -v ended="$ended" 'BEGIN { printf "%.2f", ended - began }')
rate() { "$bench" "$@" --server "127.0.0.1:$port" | sed -n 's/.* rate=\([0-9]*\)\/s.*/\1/p'; }
searches=$(rate uid --ldif "$demo/users.ldif" --base "$suffix" --requests 50000 --connections 4)
pipelined=$(rate uid --ldif "$demo/users.ldif" --base "$suffix" --requests 100000 --connections 4 --depth 32)
row() { printf '  %-44s %14s\n' "$1" "$2"; }
row "entries loaded" "$entries"
row "load, entries per second" "$(awk -v n="$entries" -v s="$seconds" 'BEGIN { printf "%d", n / s }')"
row "searches by uid per second" "$searches"
row "the same, 32 outstanding per connection" "$pipelined"
row "LDIF loaded, KiB" "$(cat examples/harbour.ldif "$demo/users.ldif" | wc -c | awk '{ printf "%d", $1 / 1024 }')"
row "store on disk, KiB" "$(du -sk "$demo/data" | cut -f1)"
echo "  (this machine: $(nproc) cores, client and server share them)"

say "To try next"
cat <<EOT
  ldapsearch -x -H $url -b "$suffix" "(cn=*ø*)"
  ldapsearch -x -H $url -b "$suffix" -E pr=100/noprompt "(objectClass=posixAccount)" uid
  ldapsearch -x -H $url -b cn=Subschema -s base attributeTypes
  ldapwhoami -x -H $url -D "$root_dn" -w $root_password
  $fulgurite export --data $demo/data | less
EOT

if [ -t 0 ] && [ -t 1 ]; then
    say "Serving at $url until Ctrl-C (log: $log)"
    trap 'echo; stop; exit 0' INT
    wait "$server"
fi
