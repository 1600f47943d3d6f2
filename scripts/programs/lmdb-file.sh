#!/usr/bin/env bash
# Perl's LMDB_File: functions, objects and tied hashes.
. "$(dirname "$0")/common.sh"

perl() { # ARGUMENTS...
    PERL5LIB=$(dirname "$(find "$unpacked/usr/lib" -name LMDB_File.pm)") with_library /usr/bin/perl "$@"
}

cat > "$work/lmdb_file.pl" <<'PERL'
use strict;
use warnings;
use LMDB_File qw(:all);
my ($passed, $failed) = (0, 0);
sub check { my ($what, $good) = @_; if ($good) { $passed++ } else { $failed++; print STDERR "lmdb-file: FAILED: $what\n" } }
sub dies { my ($code) = @_; local $LMDB_File::die_on_err = 1; !eval { $code->(); 1 } }

my $folder = shift;
mkdir $folder;
my $env = LMDB::Env->new($folder, { mapsize => 64 << 20, maxdbs => 10, mode => 0600 });
check('an environment opens', $env);
check('its statistics', $env->stat->{psize} == 4096);
check('its map', $env->info->{mapsize} == 64 << 20);
{
    my $txn = $env->BeginTxn;
    my $db = $txn->OpenDB('plain', MDB_CREATE);
    $db->put("key$_", "value $_") for 1 .. 2000;
    check('a value', $db->get('key77') eq 'value 77');
    check('its size', length $db->put('big', 'x' x 100_000) && length $db->get('big') == 100_000);
    check('no overwriting', dies(sub { $db->put('key1', 'other', MDB_NOOVERWRITE) }));
    $db->del('key2');
    check('deleted', !defined eval { $db->get('key2') });
    check('counted', $db->stat->{entries} == 2000);
    $txn->commit;
}
{
    my $txn = $env->BeginTxn;
    my $db = $txn->OpenDB('many', MDB_CREATE | MDB_DUPSORT);
    for my $key ('a' .. 'e') { $db->put($key, sprintf '%04d', $_) for reverse 1 .. 300 }
    my $cursor = $db->Cursor;
    my ($key, $value) = ('c', '');
    $cursor->get($key, $value, MDB_SET_KEY);
    check('the first value of a key', $value eq '0001');
    my $count = 0;
    $cursor->count($count);
    check('their number', $count == 300);
    $cursor->get($key, $value, MDB_LAST_DUP);
    check('the last', $value eq '0300');
    $cursor->get($key, $value, MDB_NEXT);
    check('the next key', $key eq 'd' && $value eq '0001');
    $db->del('d', '0002');
    check('one value deleted', $db->stat->{entries} == 1499);
    $txn->commit;
}
{
    # An order of the program's own, in Perl.
    my $txn = $env->BeginTxn;
    my $db = $txn->OpenDB('backwards', MDB_CREATE);
    $db->set_compare(sub { $b cmp $a });
    $db->put($_, 1) for 'a' .. 'z';
    my $cursor = $db->Cursor;
    my ($key, $value, @keys) = ('', '');
    $cursor->get($key, $value, MDB_FIRST);
    do { push @keys, $key } while eval { local $LMDB_File::die_on_err = 1; $cursor->get($key, $value, MDB_NEXT); 1 };
    check('an own order', join('', @keys) eq join('', reverse 'a' .. 'z'));
    $txn->abort;
}
{
    my $txn = $env->BeginTxn;
    my $db = $txn->OpenDB('plain');
    $db->put('outer', 1);
    my $child = $txn->SubTxn;
    my $inner = $child->OpenDB('plain');
    $inner->put('inner', 1);
    $child->abort;
    check('a nested transaction is undone', !defined eval { $db->get('inner') } && $db->get('outer') == 1);
    $txn->commit;
}
{
    my $db = tie my %hash, 'LMDB_File', "$folder/tied", { flags => MDB_NOSUBDIR, mode => 0600 };
    check('tied', $db);
    $hash{$_} = $_ * 2 for 1 .. 100;
    check('stored', $hash{21} == 42 && exists $hash{100} && !exists $hash{101});
    delete $hash{21};
    check('deleted there', !exists $hash{21} && keys %hash == 99);
    my $sum = 0;
    while (my ($key, $value) = each %hash) { $sum += $value }
    check('walked', $sum == 10100 - 42);
    undef $db;
    untie %hash;
}
print "$passed passed, $failed failed\n";
PERL
perl "$work/lmdb_file.pl" "$work/data" >> "$log" || failed=1
read -r passed _ failed _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" || echo "0 passed, 1 failed")
finish "$(perl -MLMDB_File -e 'print "$LMDB_File::VERSION, $^V"')"
