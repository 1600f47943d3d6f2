#!/usr/bin/env bash
# From nothing to a running directory: loads, serves, asks with real LDAP clients, measures, and
# tells what next. With a terminal it keeps serving until Ctrl-C; without one it ends by itself.
set -euo pipefail
cd "$(dirname "$0")/.."

SUFFIX=dc=example,dc=org
ADA="uid=ada,ou=Engineering,ou=People,$SUFFIX"
ROOT="cn=admin,$SUFFIX"
USERS=10000

bold=$(tput bold 2>/dev/null || true)
plain=$(tput sgr0 2>/dev/null || true)

say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# Prints a command, then runs it. Values that would not fit a screen are cut.
show() {
    local word line='$'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./:=@,+-]*) line+=" '$word'" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '\n%s%s%s\n' "$bold" "$line" "$plain"
    "$@" 2>&1 | cut -c1-140
}

port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

say "Building (the first time takes some minutes)"
cargo build --release --quiet --package fulgurite-cli
cargo build --quiet --release --package fulgurite-bench
fulgurite=target/release/fulgurite
bench=target/release/fulgurite-bench
"$fulgurite" --version

work=$(mktemp -d "${TMPDIR:-/tmp}/fulgurite-demo.XXXXXX")
server=
finish() {
    [ -z "$server" ] || { kill -TERM "$server" 2>/dev/null && wait "$server"; } || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "Loading the example organisation and $USERS invented users"
"$fulgurite" generate --users "$USERS" --seed 1 --suffix "ou=many,$SUFFIX" > "$work/many.ldif"
begun=$(date +%s%N)
"$fulgurite" load --data "$work/data" --suffix "$SUFFIX" examples/harbour.ldif "$work/many.ldif"
ended=$(date +%s%N)
entries=$(cat examples/harbour.ldif "$work/many.ldif" | grep -c '^dn:')
load_rate=$(awk "BEGIN { printf \"%.0f\", $entries / (($ended - $begun) / 1e9) }")

port=3890
while ! port_is_free "$port"; do
    echo "Port $port is taken by another program; trying $((port + 1))."
    port=$((port + 1))
done
url=ldap://127.0.0.1:$port
say "Serving at $url"
(umask 077 && echo secret > "$work/password")
"$fulgurite" serve --data "$work/data" --suffix "$SUFFIX" --listen "$url" \
    --root-dn "$ROOT" --root-password-file "$work/password" 2> "$work/log" &
server=$!
for _ in $(seq 100); do
    ! port_is_free "$port" && break
    kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
    sleep 0.05
done

say "Asking with OpenLDAP's clients"
show ldapsearch -x -LLL -H "$url" -b "$SUFFIX" '(uid=ada)' cn mail title
show ldapsearch -x -LLL -H "$url" -b "ou=People,$SUFFIX" '(&(objectClass=person)(mail=*@example.org)(!(sn=a*)))' mail -z 5 || true
show ldapsearch -x -LLL -H "$url" -b "$ADA" -s base '(objectClass=*)' + || true
show ldapwhoami -x -H "$url" -D "$ADA" -w ada-demo
printf 'dn: %s\nchangetype: modify\nreplace: title\ntitle: Head of Everything\n' "$ADA" > "$work/change.ldif"
sed 's/^/    /' "$work/change.ldif"
show ldapmodify -x -H "$url" -D "$ROOT" -w secret -f "$work/change.ldif"
show ldapsearch -x -LLL -H "$url" -b "$SUFFIX" '(title=head of everything)' title modifiersName
show ldapcompare -x -H "$url" -D "$ADA" -w ada-demo "$ADA" 'title:Head of Everything' || true

show ldappasswd -x -H "$url" -D "$ROOT" -w secret -s "ada's new secret" "$ADA"
show ldapwhoami -x -H "$url" -D "$ADA" -w "ada's new secret"
show ldapsearch -x -LLL -H "$url" -b "ou=People,$SUFFIX" -E sss=-sn:caseIgnoreOrderingMatch -z 3 '(objectClass=person)' sn || true

say "An administrator of slapd finds slapd.conf, slapcat, slapacl"
{
    printf 'include /etc/ldap/schema/%s.schema\n' core cosine inetorgperson nis
    cat <<CONF
access to attrs=userPassword by self write by anonymous auth
access to * by users write by * read
database mdb
suffix "$SUFFIX"
rootdn "$ROOT"
directory $work/data
CONF
} > "$work/slapd.conf"
sed 's/^/    /' "$work/slapd.conf"
show "$fulgurite" slaptest -u -f "$work/slapd.conf"
show "$fulgurite" slapcat -f "$work/slapd.conf" -a '(uid=bjorn)'
show "$fulgurite" access explain -f "$work/slapd.conf" -D "$ADA" -b "uid=bjorn,ou=Engineering,ou=People,$SUFFIX" userPassword/read title/write || true

say "The store is an LMDB file: the real mdb_stat reads it while it is served"
show mdb_stat -e "$work/data"

say "Measuring"
search() { "$bench" uid --server "127.0.0.1:$port" --base "$SUFFIX" --ldif "$work/many.ldif" "$@"; }
field() { sed -n "s/.* $1=\([^ ]*\).*/\1/p"; }
one=$(search --connections 1 --requests 20000)
many=$(search --connections 8 --depth 16 --requests 200000)
printf '  %-44s %12s\n' \
    "entries loaded" "$entries" \
    "entries loaded a second" "$load_rate" \
    "searches a second, one after the other" "$(field rate <<<"$one")" \
    "   half of them answered within" "$(field p50 <<<"$one")" \
    "searches a second, 8 connections, pipelined" "$(field rate <<<"$many")" \
    "wrong answers" "$(($(field wrong <<<"$one") + $(field wrong <<<"$many")))" \
    "size of the data file" "$(du -h --apparent-size "$work/data/data.mdb" | cut -f1)"

say "What next"
cat <<TEXT
  ldapsearch -x -H $url -b $SUFFIX '(uid=user.42)'
  ldapmodify -x -H $url -D $ROOT -w secret
  ldappasswd -x -H $url -D $ROOT -w secret $ADA
  $fulgurite export --data $work/data | less
  $fulgurite import --from /var/lib/ldap --data DIR    takes over a database of OpenLDAP's
  $fulgurite --help                                 and slapd, slapadd, ... by their own names

  README.md tells how to keep a directory of your own, and how to use the engine without one.
TEXT

if [ -t 0 ] && [ -t 1 ]; then
    say "Serving at $url until Ctrl-C"
    trap 'echo; exit 0' INT
    wait "$server" || true
fi
