#!/usr/bin/env bash
# PHP's dba extension with its lmdb handler: a table made, read, walked, changed and optimised by a
# PHP program.
. "$(dirname "$0")/common.sh"

more_libraries=$unpacked/usr/lib
php() {
    local version
    version=$(basename "$(ls -d "$unpacked"/usr/lib/php/2*)")
    with_library "$unpacked"/usr/bin/php[0-9]* -n -d extension_dir="$unpacked/usr/lib/php/$version" -d extension=dba "$@"
}

cat > "$work/dba.php" <<'PHP'
<?php
[, $file] = $argv;
$passed = $failed = 0;
function check($what, $good) {
    global $passed, $failed;
    if ($good) { $passed++; } else { $failed++; echo "FAILED: $what\n"; }
}
check('the handler is there', in_array('lmdb', dba_handlers()));

$db = dba_open($file, 'c', 'lmdb');
check('a new table opens', $db !== false);
check('a record is inserted', dba_insert('one', 'first', $db));
check('a second insert of it is refused', !dba_insert('one', 'other', $db));
check('the first stays', dba_fetch('one', $db) === 'first');
check('a record is replaced', dba_replace('one', 'uno', $db) && dba_fetch('one', $db) === 'uno');
check('binary keys and values', dba_insert("\0\xff", "a\0b", $db) && dba_fetch("\0\xff", $db) === "a\0b");
check('a long value', dba_insert('long', str_repeat('x', 100000), $db) && strlen(dba_fetch('long', $db)) === 100000);
check('a missing key does not exist', !dba_exists('two', $db) && dba_fetch('two', $db) === false);
for ($n = 0; $n < 500; $n++) { if (!dba_insert(sprintf('key%05d', $n), "value$n", $db)) { break; } }
check('500 more', $n === 500);
check('sync', dba_sync($db));
check('optimize', dba_optimize($db));
dba_close($db);

$db = dba_open($file, 'r', 'lmdb');
check('it opens for reading', $db !== false);
$keys = [];
for ($key = dba_firstkey($db); $key !== false; $key = dba_nextkey($db)) { $keys[] = $key; }
check('all keys are walked', count($keys) === 503);
$sorted = $keys;
sort($sorted, SORT_STRING);
check('in order', $keys === $sorted);
check('a value', dba_fetch('key00499', $db) === 'value499');
check('writing is refused', @dba_insert('no', 'no', $db) === false);
dba_close($db);

$db = dba_open($file, 'w', 'lmdb');
for ($n = 0; $n < 500; $n += 2) { if (!dba_delete(sprintf('key%05d', $n), $db)) { break; } }
check('every other is deleted', $n === 500);
check('a deleted one is gone', !dba_exists('key00000', $db) && dba_exists('key00001', $db));
check('deleting it again is refused', !dba_delete('key00000', $db));
dba_close($db);

$db = dba_popen($file, 'wl', 'lmdb');
check('persistent, with locks', $db !== false && dba_fetch('key00001', $db) === 'value1');
dba_close($db);

preg_match_all('~r-xp.* (/\S*liblmdb\S*)~', file_get_contents('/proc/self/maps'), $mapped);
check('mapped: ' . join(' ', $mapped[1]), array_unique(array_map('realpath', $mapped[1])) === [getenv('LIBRARY')]);
echo "$passed passed, $failed failed\n";
PHP

export LIBRARY=$library
php "$work/dba.php" "$work/table" >> "$log" 2>&1 || failed=$((failed + 1))
read -r passed _ failed _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" || echo "0 passed, 1 failed")
finish "$(php -r 'echo PHP_VERSION;')"
