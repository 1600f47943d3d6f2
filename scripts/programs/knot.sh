#!/usr/bin/env bash
# Knot DNS: its journal, key, timer and configuration databases are LMDB. A signed zone is served,
# changed, restarted, printed.
. "$(dirname "$0")/common.sh"

port=$(free_port)
knot() { # TOOL ARGUMENTS...
    local name=$1
    shift
    with_library "$unpacked/usr/sbin/$name" "$@"
}
control() { knot knotc -b -s "$work/knot.sock" "$@"; }

mkdir -p "$work/db"
cat > "$work/knot.conf" <<CONF
server:
    listen: 127.0.0.1@$port
    rundir: $work
database:
    storage: $work/db
    journal-db-max-size: 64M
    kasp-db-max-size: 16M
    timer-db-max-size: 2M
policy:
  - id: signed
    algorithm: ecdsap256sha256
template:
  - id: default
    storage: $work
    file: "%s.zone"
    zonefile-sync: -1
    zonefile-load: difference-no-serial
    journal-content: all
zone:
  - domain: plain.example
  - domain: signed.example
    dnssec-signing: on
    dnssec-policy: signed
CONF
for zone in plain signed; do
    {
        printf '%s.example. 3600 SOA ns.%s.example. hostmaster.%s.example. 1 3600 600 86400 300\n' $zone $zone $zone
        printf '%s.example. 3600 NS ns.%s.example.\nns.%s.example. 3600 A 192.0.2.1\n' $zone $zone $zone
        for n in $(seq 300); do echo "host$n.$zone.example. 3600 A 192.0.2.$((n % 250))"; done
    } > "$work/$zone.example.zone"
done

start() {
    serve knot knotd -c "$work/knot.conf"
    wait_for_port "$port"
    # Loaded, and signed where it is to be.
    local _
    for _ in $(seq 100); do
        [ -n "$(ask plain.example SOA)" ] && [ -n "$(ask signed.example RRSIG)" ] && return
        sleep 0.1
    done
    return 1
}
ask() { # NAME TYPE
    with_library "$unpacked/usr/bin/dig" +short +tcp @127.0.0.1 -p "$port" "$@" 2>> "$log"
}
change() { # ZONE CHANGES...: one transaction; each change is "set OWNER TTL TYPE DATA" or "unset OWNER TYPE"
    local zone=$1 line
    shift
    control zone-begin "$zone"
    for line in "$@"; do
        # shellcheck disable=SC2086 # words of the change
        control "zone-${line%% *}" "$zone" ${line#* } || return 1
    done
    control zone-commit "$zone"
}

check "the configuration is right" knot knotc -c "$work/knot.conf" conf-check
check "knotd starts" start
check_mapped knotd "${servers[0]}"
says "a record of a plain zone" 192.0.2.7 ask host7.plain.example A
zone_keys() { ask signed.example DNSKEY | wc -l; }
says "a signed zone has keys" 2 zone_keys
check "a record is added" change plain.example "set new 3600 A 198.51.100.1"
says "it is served" 198.51.100.1 ask new.plain.example A
check "records are replaced and removed" change plain.example "unset host7 A" "set host8 3600 TXT changed"
says "a removed record is gone" "" ask host7.plain.example A
says "an added one beside another" '"changed"' ask host8.plain.example TXT
check "a signed zone is changed" change signed.example "set new 3600 A 198.51.100.2"
says "and served" 198.51.100.2 ask new.signed.example A
signature() { ask new.signed.example A +dnssec | cut -d' ' -f1-3; }
says "with a signature" $'198.51.100.2\nA 13 3' signature
changes() { for n in $(seq 15); do change plain.example "set many$n 60 TXT $(printf %0200d "$n")" || return 1; done; }
check "many small changes" changes
says "the last of them" "\"$(printf %0200d 15)\"" ask many15.plain.example TXT
check "all keys are rolled" control zone-key-rollover signed.example zsk

printed() { knot kjournalprint -n "$work/db/journal" plain.example | grep -c many; }
check "the live journal is printed" printed
zones() { knot kjournalprint -z "$work/db/journal" | sort | tr '\n' ' '; }
says "its zones" "plain.example. signed.example. " zones
keys() { knot keymgr -c "$work/knot.conf" signed.example list | grep -ci ecdsa; }
says "the keys are listed" 3 keys
check "a backup is made" control zone-backup +backupdir "$work/backup"

stop_servers
# From here on the zone is what the journal says, whatever the zone file does.
sed -i 's/zonefile-load: .*/zonefile-load: none/' "$work/knot.conf"
check "it starts again" start
says "with the changes that only the journal holds" "\"$(printf %0200d 15)\"" ask many15.plain.example TXT
says "and the signed zone's" 198.51.100.2 ask new.signed.example A
stop_servers KILL
check "it starts after a kill" start
says "with everything" 198.51.100.1 ask new.plain.example A
stop_servers

# The configuration as a database.
configuration() { knot knotc -C "$work/confdb" "$@"; }
check "the configuration is imported" configuration conf-import "$work/knot.conf"
exported() { configuration conf-export "$work/exported.conf" > /dev/null && grep -c 'domain:' "$work/exported.conf"; }
says "and exported" 2 exported
serve_database() {
    serve knot knotd -C "$work/confdb"
    local _
    for _ in $(seq 100); do
        control status && return
        sleep 0.1
    done
    return 1
}
check "knotd runs on it" serve_database
set_there() {
    control conf-begin
    control conf-set 'zone[third.example]'
    control conf-commit
}
check "a zone is added to it" set_there
read_there() { control conf-read 'zone.domain' | tr '\n' ' '; }
says "all zones" "zone.domain = plain.example. zone.domain = third.example. zone.domain = signed.example. " read_there
stop_servers
says "it stays" 3 exported

finish "$(knot knotd --version | sed 's/.*version //')"
