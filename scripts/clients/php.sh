#!/usr/bin/env bash
# PHP's ldap extension: binds, searches with pages, every kind of update, batches of changes.
. "$(dirname "$0")/common.sh"
need PHP sh -c "ls $root/usr/bin/php[0-9]*"
version=$(basename "$(ls -d "$root"/usr/lib/php/2*)")
php() { "$root"/usr/bin/php[0-9]* -n -d extension_dir="$root/usr/lib/php/$version" -d extension=ldap "$@"; }
start_server
export LDAPTLS_CACERT=$CA
counted php "$here/php/client.php"
finish "PHP $(php -r 'echo PHP_VERSION;')"
