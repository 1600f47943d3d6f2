# Functions of the scripts of this folder; sourced.
#
# It starts a server on the example organisation, and `finish` prints the line that
# scripts/clients.sh counts. Files go to build/clients/run/NAME; nothing is installed, and nothing
# runs for longer than the script.

set -euo pipefail
program=$(basename "$0" .sh)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=scripts/clients
root=$PWD/build/clients/root
work=$PWD/build/clients/run/$program
log=$work/log
. scripts/checks.sh
rm -rf "$work"
mkdir -p "$work"

SUFFIX="dc=example,dc=org"
ROOT_DN="cn=admin,$SUFFIX"
ROOT_PASSWORD="root secret"
USER_DN="uid=ada,ou=Engineering,ou=People,$SUFFIX"
USER_PASSWORD="ada-demo"
export SUFFIX ROOT_DN ROOT_PASSWORD USER_DN USER_PASSWORD

# Succeeds if other users can enter the folder of this test. They cannot where the clone is private.
enterable() { setpriv --reuid daemon --clear-groups test -x "$work"; }

# Starts the server: URL, HOST, PORT and with TLS its certificate's authority in CA.
start_server() {
    PORT=$(free_port) HOST=localhost
    URL=ldap://localhost:$PORT
    make_certificates
    CA=$work/ca.pem
    export URL HOST PORT CA
    cat > "$work/slapd.conf" <<CONF
$(schemas)
TLSCACertificateFile $work/ca.pem
TLSCertificateFile $work/server.pem
TLSCertificateKeyFile $work/server.key
access to attrs=userPassword by self write by anonymous auth by * none
access to * by users write by * read
database mdb
suffix "$SUFFIX"
rootdn "$ROOT_DN"
rootpw "$ROOT_PASSWORD"
directory $work/data
index objectClass,uid,mail,memberUid,uidNumber,gidNumber,member eq
index cn,sn eq,sub
overlay sssvlv
overlay syncprov
CONF
    mkdir -p "$work/data"
    slap slapadd -q -f "$work/slapd.conf" -l examples/harbour.ldif >> "$log" 2>&1
    serve slap slapd -d 0 -f "$work/slapd.conf" -h "$URL${more_urls:+ $more_urls}"
    wait_for_port "$PORT"
}

# Runs a program of slapd's family: ours, or Debian's.
slap() { # TOOL ARGUMENTS...
    local tool=$1
    shift
    if [ "${SLAPD:-}" = 1 ]; then
        LD_LIBRARY_PATH=$(echo build/slapd/usr/lib/*-linux-gnu) ${by:-} "build/slapd/usr/sbin/$tool" "$@"
    else
        ${by:-} target/debug/fulgurite "$tool" "$@"
    fi
}

schemas() {
    local name
    for name in core cosine inetorgperson nis; do echo "include $PWD/build/slapd/etc/ldap/schema/$name.schema"; done
    [ -z "${more_schema:-}" ] || echo "include $more_schema"
    [ "${SLAPD:-}" != 1 ] || printf 'modulepath %s\nmoduleload back_mdb.so\nmoduleload sssvlv.so\nmoduleload syncprov.so\n' "$PWD/build/slapd/usr/lib/ldap"
}

# An authority and a server's certificate of it for this machine, by all names that clients make of
# localhost.
make_certificates() {
    (
        cd "$work"
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj "/CN=Test authority"
        openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj "/CN=localhost"
        printf 'subjectAltName=DNS:localhost,DNS:%s,IP:127.0.0.1\n' "$(uname -n)" > server.ext
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 30 -extfile server.ext
    ) >> "$log" 2>&1
}

finish() { # VERSION
    stop_servers
    printf '%-10s %-34s %4d passed, %d failed, %d skipped; %d s\n' "$program" "$1" "$passed" "$failed" "$skipped" "$((SECONDS - begun))"
    [ "$failed" = 0 ] || { echo "$program: see $log" >&2; exit 1; }
    exit 0
}
