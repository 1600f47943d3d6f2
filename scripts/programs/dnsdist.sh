#!/usr/bin/env bash
# dnsdist: a table of names in LMDB decides which questions are answered and how. The table changes
# while dnsdist runs.
. "$(dirname "$0")/common.sh"

services=$PWD/build/programs/services/root
port=$(free_port)
table=$work/names.mdb
library_path=$services/usr/lib/$(gcc -print-multiarch)
dnsdist() { more_libraries=$library_path with_library "$services/usr/bin/dnsdist" "$@"; }
ask() { # NAME
    with_library "$unpacked/usr/bin/dig" +noall +answer +comments +time=2 @127.0.0.1 -p "$port" "$1" A |
        sed -n -e 's/.*status: \([A-Z]*\),.*/\1/p' -e 's/.*\sA\s\(.*\)/\1/p' | paste -sd' '
}
load() { # PROGRAM; pairs of lines on standard input
    { printf 'VERSION=3\nformat=print\ntype=btree\nmapsize=10485760\nHEADER=END\n'; sed 's/^/ /'; echo DATA=END; } |
        "$1" -n -s names "$table"
}
pairs() { # FROM TO VALUE
    seq "$1" "$2" | awk -v value="$3" '{ printf "host%d.example\n%s\n", $1, value }'
}
# The first table is made by LMDB itself.
make() { pairs 1 500 spoof | load /usr/bin/mdb_load; }
change() { { pairs 501 600 spoof; pairs 7 7 refuse; } | load "$loader"; }
loader=$prefix/bin/mdb_load
[ -x "$loader" ] || loader=/usr/bin/mdb_load

cat > "$work/dnsdist.conf" <<CONF
setLocal("127.0.0.1:$port")
setSecurityPollSuffix("")
newServer("127.0.0.1:1")
names = newLMDBKVStore("$table", "names")
key = KeyValueLookupKeyQName(false)
addAction(AllRule(), KeyValueStoreLookupAction(names, key, "way"))
addAction(TagRule("way", "refuse"), RCodeAction(DNSRCode.REFUSED))
addAction(KeyValueStoreLookupRule(names, key), SpoofAction("192.0.2.1"))
addAction(KeyValueStoreLookupRule(names, KeyValueLookupKeySuffix(2, false)), SpoofAction("192.0.2.2"))
addAction(AllRule(), RCodeAction(DNSRCode.NXDOMAIN))
CONF

check "LMDB makes a table" make
serve dnsdist --supervised --disable-syslog -C "$work/dnsdist.conf"
wait_for_port "$port"
check_mapped dnsdist "${servers[0]}"
says "a name of the table" "NOERROR 192.0.2.1" ask host17.example
says "in capitals" "NOERROR 192.0.2.1" ask HOST17.Example
says "below a name" "NOERROR 192.0.2.2" ask below.host17.example
says "another name" NXDOMAIN ask host501.example
check "the table changes" change
says "a new name" "NOERROR 192.0.2.1" ask host501.example
says "a changed one" REFUSED ask host7.example
all_names() {
    for n in $(seq 600); do echo "host$n.example A"; done > "$work/questions"
    with_library "$unpacked/usr/bin/dig" +short +time=2 @127.0.0.1 -p "$port" -f "$work/questions" | sort | uniq -c | tr -s ' '
}
says "all names" " 599 192.0.2.1" all_names
finish "$(dnsdist --version 2>/dev/null | sed -n 's/^\(dnsdist [^ ]*\).*/\1/p')"
