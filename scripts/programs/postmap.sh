#!/usr/bin/env bash
# Postfix's lookup tables (postfix-lmdb): made, asked, changed and listed by postmap.
. "$(dirname "$0")/common.sh"

more_libraries=$unpacked/usr/lib/postfix
postfix() { # TOOL ARGUMENTS...
    local tool=$1
    shift
    with_library "$unpacked/usr/sbin/$tool" -c "$work/etc" "$@"
}

# Postfix wants a configuration with its folders, and where its plug-ins are.
mkdir -p "$work/etc/dynamicmaps.cf.d" "$work/data" "$work/queue"
cat > "$work/etc/main.cf" <<CONF
compatibility_level = 3.6
mail_owner = daemon
setgid_group = users
data_directory = $work/data
queue_directory = $work/queue
shlib_directory = $more_libraries
meta_directory = $work/etc
CONF
touch "$work/etc/master.cf"
echo "lmdb postfix-lmdb.so dict_lmdb_open mkmap_lmdb_open" > "$work/etc/dynamicmaps.cf"

table=$work/addresses
addresses() { seq 1 3000 | awk '{ printf "user%d@example.org box%d@mail.example.org\n", $1, $1 * 7 }'; }
addresses > "$table"
ask() { postfix postmap -q "$1" "lmdb:$table"; }
# Every address asked in one go.
ask_all() { cut -d' ' -f1 "$table" | ask - | sort; }
listing() { postfix postmap -s "lmdb:$table" | tr '\t' ' ' | sort; }

check "a table is made" postfix postmap "lmdb:$table"
says "a key is found" "box14@mail.example.org" ask user2@example.org
says "a missing key is not" "" ask nobody@example.org
says "all keys are found" "$(addresses | tr ' ' '\t' | sort)" ask_all
says "the table is listed" "$(addresses | sort)" listing

check "a key is deleted" postfix postmap -d user2@example.org "lmdb:$table"
says "it is gone" "" ask user2@example.org
delete_again() { ! postfix postmap -d user2@example.org "lmdb:$table"; }
check "deleting it again is refused" delete_again
add() { echo "$1 $2" | postfix postmap -i "lmdb:$table"; }
check "a key is added" add new@example.org new-box
says "it is found" new-box ask new@example.org
says "its neighbour too" box21@mail.example.org ask user3@example.org

# The database grows far beyond lmdb_map_size's first step. Postfix doubles the map after the error
# that it is full.
big() { seq 1 120000 | awk '{ printf "key%d value-%d-%0150d\n", $1, $1, $1 }'; }
big > "$work/big"
echo "lmdb_map_size = 1048576" >> "$work/etc/main.cf"
check "a map that is full grows" postfix postmap "lmdb:$work/big"
table=$work/big
says "the last key is there" "value-120000-$(printf %0150d 120000)" ask key120000
count() { listing | wc -l; }
says "all of them" 120000 count

printf 'postmaster: root\nabuse: root, admin@example.org\n' > "$work/aliases"
check "aliases are made" postfix postalias "lmdb:$work/aliases"
says "an alias is found" "root, admin@example.org" postfix postalias -q abuse "lmdb:$work/aliases"

finish "$(postfix postconf -d -h mail_version)"
