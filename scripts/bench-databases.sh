#!/usr/bin/env bash
# Measures durable modifies of several databases in one server, next to those of one database.
#
#   scripts/bench-databases.sh [OPTION VALUE]...
#
#   --databases N      databases of the servers that have several: 6
#   --clients WHICH    separate: each connection modifies people of one database; together: of all, at random
#   --connections N    connections in all, of depth 1: 24
#   --seconds N        length of each round of a server: 5
#   --rounds N         rounds, each with every server: 5
#   --people N         people in all, divided among the databases: 6000
#   --disk FOLDER      folder for the databases, on the disk to measure: build/bench-databases
#   --other PROGRAM    another build of fulgurite, to take part too
#   --server-cores LIST, --load-cores LIST    cores, as taskset writes them; without them the system chooses
#
# In each round each server starts, answers for some seconds and stops. Each modify waits for the
# disk. The table has the median of the rounds. A ratio is the median of the ratios of each round.
# Real-time priority for the whole (chrt -r 1) keeps other work away from the processors.
set -euo pipefail
cd "$(dirname "$0")/.."

databases=6 clients=separate connections=24 seconds=5 rounds=5 people=6000 disk=build/bench-databases other=
server_cores= load_cores=
while [ $# -gt 0 ]; do
    case $1 in
        --databases) databases=$2 ;;
        --clients) clients=$2 ;;
        --connections) connections=$2 ;;
        --seconds) seconds=$2 ;;
        --rounds) rounds=$2 ;;
        --people) people=$2 ;;
        --disk) disk=$2 ;;
        --other) other=$2 ;;
        --server-cores) server_cores=$2 ;;
        --load-cores) load_cores=$2 ;;
        *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done

cargo build --quiet --release --package fulgurite-cli
cargo build --quiet --release --package fulgurite-bench
ours=target/release/fulgurite load=target/release/fulgurite-bench
slapd_root=build/slapd
libraries=$slapd_root/usr/lib/$(uname -m)-linux-gnu:$slapd_root/lib/$(uname -m)-linux-gnu
root_dn=cn=admin,dc=bench password=secret port=3899
rm -rf "$disk"
mkdir -p "$disk"
disk=$(cd "$disk" && pwd)

# The people of each database, and of all together.
for number in 1 "$databases"; do
    mkdir -p "$disk/people-$number"
    for database in $(seq "$number"); do
        "$ours" generate --users $((people / number)) --seed "$database" \
            --suffix "o=d$database,dc=bench" > "$disk/people-$number/$database.ldif"
    done
    cat "$disk/people-$number"/*.ldif > "$disk/people-$number/all"
done

# Writes the settings of a server with N databases, and fills it.
fill() { # FOLDER NUMBER PROGRAM
    local folder=$1 number=$2 program=$3 database
    mkdir -p "$folder"
    {
        for schema in core cosine inetorgperson nis; do
            echo "include $PWD/$slapd_root/etc/ldap/schema/$schema.schema"
        done
        echo "modulepath $PWD/$slapd_root/usr/lib/ldap"
        echo "moduleload back_mdb.so"
        echo "loglevel 0"
        echo "pidfile $folder/pid"
        for database in $(seq "$number"); do
            mkdir -p "$folder/$database"
            echo "database mdb"
            echo "suffix o=d$database,dc=bench"
            echo "rootdn $root_dn"
            echo "directory $folder/$database"
            echo "maxsize 1073741824"
            echo "index objectClass,uid,mail,entryUUID,entryCSN eq"
        done
        # The root binds here, and is root everywhere.
        echo "database mdb"
        mkdir -p "$folder/root"
        echo "suffix dc=bench"
        echo "rootdn $root_dn"
        echo "rootpw $password"
        echo "directory $folder/root"
    } > "$folder/slapd.conf"
    for database in $(seq "$number"); do
        local ldif=$disk/people-$number/$database.ldif suffix=o=d$database,dc=bench
        if [ "$program" = slapd ]; then
            LD_LIBRARY_PATH=$libraries "$slapd_root/usr/sbin/slapadd" -q -f "$folder/slapd.conf" \
                -b "$suffix" -l "$ldif"
        else
            "$program" load --quiet --config "$folder/slapd.conf" --suffix "$suffix" "$ldif"
        fi
    done
}

on_cores() { # CORES COMMAND...
    local cores=$1
    shift
    if [ -n "$cores" ]; then exec taskset -c "$cores" "$@"; else exec "$@"; fi
}

# Asks with a number of connections for people of a file. Prints the rate, the median, the 99th
# percentile, and the number of errors and wrong answers.
ask() { # LDIF CONNECTIONS SEED
    on_cores "$load_cores" "$load" modify --server "127.0.0.1:$port" --ldif "$1" --connections "$2" --seed "$3" \
        --requests 100000000 --seconds "$seconds" --bind-dn "$root_dn" --password "$password" --json |
        sed 's/[{}",:]/ /g' | tr -s ' \n' ' ' |
        awk '{ for (i = 1; i < NF; i += 2) field[$i] = $(i + 1)
               print field["requests"] / field["wall_us"] * 1e6, field["p50_us"], field["p99_us"], field["errors"] + field["wrong"] }'
}

# Runs one server and its load. Prints the same for the load as a whole; percentiles are means.
round() { # FOLDER NUMBER PROGRAM
    local folder=$1 number=$2 program=$3 server part parts=() asked=()
    if [ "$program" = slapd ]; then
        (export LD_LIBRARY_PATH=$libraries
         on_cores "$server_cores" "$slapd_root/usr/sbin/slapd" -d 0 -h "ldap://127.0.0.1:$port" \
            -f "$folder/slapd.conf") 2> "$disk/slapd.log" &
    else
        (on_cores "$server_cores" "$program" serve --config "$folder/slapd.conf" --log-level error \
            --listen "ldap://127.0.0.1:$port") &
    fi
    server=$!
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.05; done
    rm -f "$disk"/asked.*
    if [ "$clients" = together ]; then
        ask "$disk/people-$number/all" "$connections" 1 > "$disk/asked.1"
    else
        mapfile -t parts < <(ls "$disk/people-$number"/*.ldif)
        for part in $(seq 0 $((databases - 1))); do
            ask "${parts[part % number]}" $((connections / databases)) "$part" > "$disk/asked.$part" &
            asked+=($!)
        done
        wait "${asked[@]}"
    fi
    cat "$disk"/asked.* | awk '{ rate += $1; p50 += $2; p99 += $3; wrong += $4 }
        END { printf "%.0f %.0f %.0f %d\n", rate, p50 / NR, p99 / NR, wrong }'
    kill "$server"
    wait "$server" || true
}

contenders=("ours-1 1 $ours" "ours-$databases $databases $ours")
[ -z "$other" ] || contenders+=("other-1 1 $other" "other-$databases $databases $other")
[ ! -x "$slapd_root/usr/sbin/slapd" ] || contenders+=("slapd-1 1 slapd" "slapd-$databases $databases slapd")
for contender in "${contenders[@]}"; do
    read -r name number program <<< "$contender"
    fill "$disk/$name" "$number" "$program"
done
for round in $(seq "$rounds"); do
    for contender in "${contenders[@]}"; do
        read -r name number program <<< "$contender"
        echo "$round $name $(round "$disk/$name" "$number" "$program")" | tee -a "$disk/rounds" >&2
    done
done

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, Linux $(uname -r), $(stat -f -c %T "$disk")"
echo "$databases databases, clients $clients, $connections connections, $rounds rounds of $seconds s, $people people"
echo
awk -v several="ours-$databases" '
    function median(list, count,    i, j, t) {
        for (i = 2; i <= count; i++)
            for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
        return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
    }
    function row(name, of,    n, i, r) {
        n = 0
        for (i = 1; i <= rounds; i++) column[++n] = value[i, name, of]
        return median(column, n)
    }
    { rounds = $1; if (!($2 in seen)) { seen[$2]; names[++count] = $2 }
      value[$1, $2, 1] = $3; value[$1, $2, 2] = $4; value[$1, $2, 3] = $5; wrong += $6 }
    END {
        print "| server and databases | modifies/s | median, us | p99, us | ours with several / this, by round |"
        print "| --- | --- | --- | --- | --- |"
        for (c = 1; c <= count; c++) {
            name = names[c]
            for (i = 1; i <= rounds; i++) ratio[i] = value[i, several, 1] / value[i, name, 1]
            m = median(ratio, rounds)
            printf "| %s | %.0f | %.0f | %.0f | %.2f (%.2f to %.2f) |\n", name, row(name, 1), row(name, 2), row(name, 3), m, ratio[1], ratio[rounds]
        }
        printf "\nerrors and wrong answers: %d\n", wrong
        exit wrong > 0
    }' "$disk/rounds"
