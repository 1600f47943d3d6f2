# Cache::Memcached, of Perl: commands, structures as values, several keys.
use strict;
use warnings;
use Cache::Memcached;

sub check {
    my ($what, $expected, $found) = @_;
    my $same = defined $expected ? defined $found && $expected eq $found : !defined $found;
    print $same ? "ok" : "FAILED", " Cache::Memcached: $what", $same ? "" : ": " . ($found // "nothing"), "\n";
}

my $client = Cache::Memcached->new({ servers => ["127.0.0.1:$ENV{PORT}"] });
$client->flush_all;
check("set", 1, $client->set("a", "one"));
check("get", "one", $client->get("a"));
check("a structure", "2 x", do { $client->set("h", { list => [1, 2], text => "x" }); my $h = $client->get("h"); "$h->{list}[1] $h->{text}" });
check("add refuses", "", $client->add("a", "two") || "");
check("replace", 1, $client->replace("a", "5"));
check("incr", 7, $client->incr("a", 2));
check("decr", 4, $client->decr("a", 3));
check("append", 1, $client->append("a", "!"));
check("prepend", 1, $client->prepend("a", "!"));
check("get again", "!4!", $client->get("a"));
$client->set("k$_", "v$_") for 0 .. 99;
my $many = $client->get_multi(map { "k$_" } 0 .. 199);
check("get_multi", 100, scalar keys %$many);
check("a value of many", "v42", $many->{k42});
check("delete", 1, $client->delete("a"));
check("get of nothing", undef, $client->get("a"));
check("a large value", 500_000, do { $client->set("l", "x" x 500_000); length $client->get("l") });
check("stats", 1, $client->stats(["misc"])->{total}{cmd_set} > 0 ? 1 : 0);
print "done\n";
