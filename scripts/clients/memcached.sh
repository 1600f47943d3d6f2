#!/usr/bin/env bash
# Clients of memcached, on `fulgurite memcached`: memccapable, pymemcache, pylibmc, PHP, Perl.
. "$(dirname "$0")/common.sh"
root=$PWD/build/memcached-clients/root
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH=$libraries PYTHONPATH=$root/usr/lib/python3/dist-packages
PERL5LIB=$root/usr/share/perl5:$(echo "$root"/usr/lib/*/perl5/5*)
export PERL5LIB
need "the clients of memcached" test -x "$root/usr/bin/memccapable"
PORT=$(free_port)
export PORT
serve target/debug/fulgurite memcached --data "$work/data" --listen "127.0.0.1:$PORT" --durability full
wait_for_port "$PORT"

# Its text part, which ends with the number of failed tests.
says "memccapable" "All tests passed" sh -c "'$root/usr/bin/memccapable' -h 127.0.0.1 -p $PORT -a 2>&1 | tail -n 1"
counted /usr/bin/python3 "$here/memcached/pymemcache_client.py"
counted /usr/bin/python3 "$here/memcached/pylibmc_client.py"
counted perl "$here/memcached/client.pl"
version=$(basename "$(ls -d "$root"/usr/lib/php/2*)")
counted "$root"/usr/bin/php[0-9]* -n -d extension_dir="$root/usr/lib/php/$version" \
    -d extension=igbinary -d extension=msgpack -d extension=memcached "$here/memcached/client.php"
finish "$("$root/usr/bin/memccapable" -V 2>&1 | head -n 1 | cut -c 1-30)"
