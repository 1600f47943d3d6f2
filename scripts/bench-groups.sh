#!/usr/bin/env bash
# Measures questions about groups in a large directory, next to slapd's memberof and dynlist.
#
#   scripts/bench-groups.sh [OPTION VALUE]...
#
#   --people N      people, in ten organizational units: 1000000
#   --groups N      groups of fifty random people, and ten more, each a member of the next: 10000
#   --large N       members of one more group: 100000
#   --asked N       how often a short question is asked: 1000
#   --limit N       seconds after which a question is given up: 120
#   --with NAMES    contenders: "ours-memberof ours-dynlist slapd-memberof slapd-dynlist"
#   --disk FOLDER   folder for the databases: build/bench-groups
#
# The contenders are ours and slapd with overlay memberof, and both with overlay dynlist. Overlay
# dynlist also follows groups within groups. slapd's memberof keeps values in the entries, so its
# LDIF has them. The others compute them from the groups. Each server has one core, the client the
# other. The table has wall-clock time and the server's CPU time, per operation. Each answer is
# counted and compared with the expected number of entries or values.
set -euo pipefail
cd "$(dirname "$0")/.."

people=1000000 groups=10000 large=100000 asked=1000 limit=120 with= disk=build/bench-groups
while [ $# -gt 0 ]; do
    case $1 in
        --people) people=$2 ;;
        --groups) groups=$2 ;;
        --large) large=$2 ;;
        --asked) asked=$2 ;;
        --limit) limit=$2 ;;
        --with) with=$2 ;;
        --disk) disk=$2 ;;
        *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done

cargo build --quiet --release --package fulgurite-cli
ours=target/release/fulgurite
slapd_root=$PWD/build/slapd
libraries=$slapd_root/usr/lib/$(uname -m)-linux-gnu:$slapd_root/lib/$(uname -m)-linux-gnu
suffix=dc=bench root_dn=cn=admin,dc=bench password=secret port=3898
rm -rf "$disk"
mkdir -p "$disk"
disk=$(cd "$disk" && pwd)

# Writes the LDIF; with "stored", people have their values of memberOf. The random numbers are
# computed from the group's number, so both files have the same groups.
ldif() { # stored|computed
    awk -v people="$people" -v groups="$groups" -v large="$large" -v stored="$1" '
        function person(n) { return "uid=u" n ",ou=o" n % 10 ",ou=people,dc=bench" }
        function member(g, i) { return (g * 7919 + i * 104729 + g * i * 31) % people }
        function group(name) {
            printf "dn: cn=%s,ou=groups,dc=bench\nobjectClass: groupOfNames\ncn: %s\n", name, name
        }
        BEGIN {
            print "dn: dc=bench\nobjectClass: dcObject\nobjectClass: organization\ndc: bench\no: bench\n"
            print "dn: ou=people,dc=bench\nobjectClass: organizationalUnit\nou: people\n"
            print "dn: ou=groups,dc=bench\nobjectClass: organizationalUnit\nou: groups\n"
            for (o = 0; o < 10; o++)
                printf "dn: ou=o%d,ou=people,dc=bench\nobjectClass: organizationalUnit\nou: o%d\n\n", o, o
            if (stored == "stored") {
                for (g = 0; g < groups; g++)
                    for (i = 0; i < 50; i++) {
                        m = member(g, i)
                        if (of[m] !~ ("=g" g ",")) of[m] = of[m] "memberOf: cn=g" g ",ou=groups,dc=bench\n"
                    }
                for (m = 0; m < large; m++) of[m] = of[m] "memberOf: cn=large,ou=groups,dc=bench\n"
                of[0] = of[0] "memberOf: cn=n0,ou=groups,dc=bench\n"
            }
            for (n = 0; n < people; n++)
                printf "dn: %s\nobjectClass: inetOrgPerson\nuid: u%d\ncn: Person %d\nsn: %d\nmail: u%d@bench.example\n%s\n", person(n), n, n, n, n, of[n]
            for (g = 0; g < groups; g++) {
                group("g" g)
                split("", have)
                for (i = 0; i < 50; i++) {
                    m = member(g, i)
                    if (!(m in have)) print "member: " person(m)
                    have[m]
                }
                print ""
            }
            group("large")
            for (m = 0; m < large; m++) print "member: " person(m)
            print ""
            # A chain: the person is a member of n0, which is a member of n1, and so on.
            for (k = 0; k < 10; k++) {
                group("n" k)
                print "member: " (k ? "cn=n" k - 1 ",ou=groups,dc=bench" : person(0))
                if (stored == "stored" && k < 9) print "memberOf: cn=n" k + 1 ",ou=groups,dc=bench"
                print ""
            }
        }'
}

# Writes the settings of a contender and fills its database.
fill() { # NAME PROGRAM OVERLAY
    local folder=$disk/$1 program=$2 overlay=$3 file=$disk/computed.ldif
    mkdir -p "$folder/db"
    {
        for schema in core cosine inetorgperson nis; do
            echo "include $slapd_root/etc/ldap/schema/$schema.schema"
        done
        [ "$overlay" = memberof ] || echo "include $slapd_root/etc/ldap/schema/dyngroup.schema"
        echo "modulepath $slapd_root/usr/lib/ldap"
        echo "moduleload back_mdb.so"
        echo "moduleload $overlay.so"
        echo "loglevel 0"
        echo "threads 4"
        echo "tool-threads 2"
        echo "pidfile $folder/pid"
        echo "database mdb"
        echo "suffix $suffix"
        echo "rootdn $root_dn"
        echo "rootpw $password"
        echo "directory $folder/db"
        echo "maxsize 17179869184"
        echo "sizelimit unlimited"
        echo "index objectClass,uid,member,memberOf,entryUUID,entryCSN eq"
        echo "overlay $overlay"
        [ "$overlay" = memberof ] || echo "dynlist-attrset groupOfURLs memberURL member+memberOf@groupOfNames*"
    } > "$folder/slapd.conf"
    if [ "$program" = slapd ]; then
        [ "$overlay" != memberof ] || file=$disk/stored.ldif
        LD_LIBRARY_PATH=$libraries "$slapd_root/usr/sbin/slapadd" -q -f "$folder/slapd.conf" -l "$file" 2> "$folder/load.log"
    else
        "$program" load --quiet --config "$folder/slapd.conf" "$file"
    fi
}

cpu() { # PID: processor time of all threads, in microseconds
    cat /proc/"$1"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f\n", ns / 1000 }'
}

# Runs one command of a client; prints a row of the results.
question() { # NAME QUESTION OPERATIONS EXPECTED PATTERN COMMAND...
    local name=$1 what=$2 operations=$3 expected=$4 pattern=$5 before begun status=0 got
    shift 5
    before=$(cpu "$server")
    begun=$(date +%s%N)
    taskset -c 1 timeout "$limit" "$@" > "$disk/answer" 2> "$disk/answer.log" || status=$?
    local wall=$((($(date +%s%N) - begun) / 1000)) used=$(($(cpu "$server") - before))
    got=$(grep -c "$pattern" "$disk/answer" || true)
    local note=
    if [ "$status" = 124 ]; then
        note="given up"
    elif [ "$status" != 0 ]; then
        note="failed with $status"
    elif [ "$got" != "$expected" ]; then
        note="$got answers, expected $expected"
    fi
    echo "$what|$name|$((wall / operations))|$((used / operations))|$note" | tee -a "$disk/results" >&2
}

# Starts a contender and asks everything.
ask() { # NAME PROGRAM OVERLAY
    local name=$1 program=$2 overlay=$3 folder=$disk/$1 uri=ldap://127.0.0.1:$port
    if [ "$program" = slapd ]; then
        LD_LIBRARY_PATH=$libraries taskset -c 0 "$slapd_root/usr/sbin/slapd" -d 0 -h "$uri" -f "$folder/slapd.conf" 2> "$folder/log" &
    else
        taskset -c 0 "$program" serve --config "$folder/slapd.conf" --log-level error --listen "$uri" &
    fi
    server=$!
    until ldapsearch -x -H "$uri" -b '' -s base 1.1 > "$disk/answer" 2>&1; do sleep 0.05; done
    local bind=(-x -H "$uri" -D "$root_dn" -w "$password") read=(ldapsearch -LLL -o ldif-wrap=no)
    read+=("${bind[@]}")
    question "$name" "memberOf of a member, \`(uid=u)\`" "$asked" "$asked" '^dn:' "${read[@]}" -b "$suffix" -f "$disk/uids" '(uid=%s)' memberOf
    question "$name" "members of fifty, \`(memberOf=g)\`" "$asked" "$(cat "$disk/members")" '^dn:' "${read[@]}" -b "$suffix" -f "$disk/dns" '(memberOf=%s)' 1.1
    question "$name" "members of the large group" 1 "$large" '^dn:' "${read[@]}" -b "$suffix" "(memberOf=cn=large,ou=groups,$suffix)" 1.1
    if [ "$overlay" = dynlist ]; then
        question "$name" "memberOf through ten groups" 1 "$nested" '^memberOf:' "${read[@]}" -b "$suffix" '(uid=u0)' memberOf
        question "$name" "members through ten groups" 1 10 '^dn:' "${read[@]}" -b "$suffix" "(memberOf=cn=n9,ou=groups,$suffix)" 1.1
    fi
    question "$name" "one member more in the large group" 100 100 '^modifying' ldapmodify "${bind[@]}" -f "$disk/joins"
    question "$name" "rename of a unit with a tenth of the people" 1 1 '^rename complete' ldapmodify -v "${bind[@]}" -f "$disk/rename"
    kill "$server"
    wait "$server" || true
}

echo "bench: LDIF" >&2
ldif computed > "$disk/computed.ldif"
ldif stored > "$disk/stored.ldif"
awk -v asked="$asked" -v large="$large" 'BEGIN { srand(1); for (i = 0; i < asked; i++) print "u" int(rand() * large) }' > "$disk/uids"
awk -v asked="$asked" -v groups="$groups" 'BEGIN { srand(2); for (i = 0; i < asked; i++) print "cn=g" int(rand() * groups) ",ou=groups,dc=bench" }' > "$disk/dns"
# The number of members of the groups that are asked for.
awk 'NR == FNR { times[$0]++; next }
     /^dn: / { dn = substr($0, 5) }
     /^member: / { if (dn in times) sum += times[dn] }
     END { print sum + 0 }' "$disk/dns" "$disk/computed.ldif" > "$disk/members"
awk -v large="$large" 'BEGIN {
    for (i = 0; i < 100; i++) { n = large + i
        printf "dn: cn=large,ou=groups,dc=bench\nchangetype: modify\nadd: member\nmember: uid=u%d,ou=o%d,ou=people,dc=bench\n\n", n, n % 10 } }' > "$disk/joins"
printf 'dn: ou=o3,ou=people,dc=bench\nchangetype: modrdn\nnewrdn: ou=o3renamed\ndeleteoldrdn: 1\n' > "$disk/rename"
# The groups of the first person: those with fifty members, the large one, and the ten.
nested=$(($(awk '/^dn: uid=u0,/ { found = 1 } found && /^memberOf:/ { n++ } found && /^$/ { print n + 0; exit }' "$disk/stored.ldif") + 9))

contenders=("ours-memberof $ours memberof" "ours-dynlist $ours dynlist")
[ ! -x "$slapd_root/usr/sbin/slapd" ] || contenders+=("slapd-memberof slapd memberof" "slapd-dynlist slapd dynlist")
for contender in "${contenders[@]}"; do
    read -r name program overlay <<< "$contender"
    [[ -z "$with" || " $with " = *" $name "* ]] || continue
    echo "bench: load $name" >&2
    fill "$name" "$program" "$overlay"
    ask "$name" "$program" "$overlay"
    rm -rf "${disk:?}/$name/db"
done

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, Linux $(uname -r), $(stat -f -c %T "$disk")"
echo "$people people, $groups groups of fifty, one of $large, ten nested; $(date -u +%F)"
echo
echo "| question | contender | time, us | server's CPU, us | |"
echo "| --- | --- | --- | --- | --- |"
sort -s -t '|' -k 1,1 "$disk/results" | sed 's/|/ | /g; s/^/| /; s/$/ |/'
if grep -q 'expected\|failed' "$disk/results"; then exit 1; fi
