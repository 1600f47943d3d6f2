# Asks a directory what Net::LDAP can ask, and prints a line for each check.
use strict;
use warnings;
use utf8;
use Encode qw(decode);
use Net::LDAP;
use Net::LDAP::Control::Paged;
use Net::LDAP::Control::Sort;
use Net::LDAP::Constant qw(LDAP_CONTROL_PAGED LDAP_CONTROL_SORTRESULT);
use Net::LDAP::Extension::WhoAmI;
use Net::LDAP::Extension::SetPassword;
binmode STDOUT, ':utf8';

my ($suffix, $user, $password) = @ENV{qw(SUFFIX USER_DN USER_PASSWORD)};

sub check {
    my ($what, $good, $details) = @_;
    print $good ? "ok $what\n" : "FAILED $what " . ($details // '') . "\n";
}

sub is {
    my ($what, $expected, $message) = @_;
    check($what, $message->code == $expected, $message->code . ' ' . $message->error);
}

my $ldap = Net::LDAP->new($ENV{URL}) or die "no connection: $@";
is('a wrong password', 49, $ldap->bind($user, password => 'wrong'));
is('bind', 0, $ldap->bind($user, password => $password));
check('who am I', $ldap->who_am_i->response eq "dn:$user");
check('the root DSE', $ldap->root_dse->get_value('namingContexts') eq $suffix);
check('the schema', defined $ldap->schema->attribute('uid') && defined $ldap->schema->objectclass('inetOrgPerson'));

my $found = $ldap->search(base => $suffix, filter => '(uid=ada)', attrs => ['cn', 'mail']);
check('search', $found->count == 1 && $found->entry(0)->exists('mail'), $found->error);
my $all = $ldap->search(base => $suffix, filter => '(objectClass=*)', attrs => ['1.1'])->count;
check('everything', $all > 30, $all);
my ($paged, $page) = (0, Net::LDAP::Control::Paged->new(size => 8));
while (1) {
    my $result = $ldap->search(base => $suffix, filter => '(objectClass=*)', attrs => ['1.1'], control => [$page]);
    last if $result->code;
    $paged += $result->count;
    my ($answer) = $result->control(LDAP_CONTROL_PAGED) or last;
    my $cookie = $answer->cookie or last;
    $page->cookie($cookie);
}
check('pages', $paged == $all, "$paged of $all");
my $sort = Net::LDAP::Control::Sort->new(order => '-sn:caseIgnoreOrderingMatch', critical => 1);
my $sorted = $ldap->search(base => $suffix, filter => '(objectClass=person)', attrs => ['sn'], control => [$sort]);
my @names = map { lc $_->get_value('sn') } $sorted->entries;
check('sorted', @names > 3 && "@names" eq join(' ', reverse sort @names), "@names");

my $dn = "cn=Grüße,ou=People,$suffix";
my @entry = (attrs => [objectClass => ['person'], cn => ['Grüße', 'second'], sn => 'Perl', userPassword => 'first secret']);
is('add', 0, $ldap->add($dn, @entry));
is('add again', 68, $ldap->add($dn, @entry));
is('modify', 0, $ldap->modify($dn, changes => [
    add => [description => ['one', 'two', 'three']], delete => [description => ['two']], replace => [telephoneNumber => '+1 555 0188']]));
$found = $ldap->search(base => $suffix, filter => '(telephoneNumber=+1-555-0188)');
check('what was modified', $found->count == 1 && (my @values = $found->entry(0)->get_value('description')) == 2);
check('text in other scripts', (grep { decode('UTF-8', $_) eq 'Grüße' } $found->entry(0)->get_value('cn')) == 1);
is('an unknown attribute', 17, $ldap->modify($dn, add => { undefinedAttribute => 'x' }));
is('an attribute that is not allowed', 65, $ldap->modify($dn, add => { mail => 'x@example.org' }));
is('compare, true', 6, $ldap->compare($dn, attr => 'sn', value => 'PERL'));
is('compare, false', 5, $ldap->compare($dn, attr => 'sn', value => 'other'));
is('rename and move', 0, $ldap->moddn($dn, newrdn => 'cn=renamed', deleteoldrdn => 1, newsuperior => "ou=Groups,$suffix"));
$dn = "cn=renamed,ou=Groups,$suffix";

my $other = Net::LDAP->new($ENV{URL});
my $tls = $other->start_tls(verify => 'require', cafile => $ENV{CA});
is('StartTLS', 0, $tls);
is('the new name binds', 0, $other->bind($dn, password => 'first secret'));
is('password modify', 0, $other->set_password(oldpasswd => 'first secret', newpasswd => 'second secret'));
is('the new password binds', 0, $other->bind($dn, password => 'second secret'));
$other->unbind;
is('delete', 0, $ldap->delete($dn));
is('delete again', 32, $ldap->delete($dn));
is('delete what has children', 66, $ldap->delete("ou=People,$suffix"));
$ldap->unbind;
print "done\n";
