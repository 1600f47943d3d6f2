#!/usr/bin/env bash
# Net::LDAP, of Perl: StartTLS, binds, searches with pages and sorting, every kind of update, LDIF.
. "$(dirname "$0")/common.sh"
PERL5LIB=$root/usr/share/perl5:$(echo "$root"/usr/lib/*/perl5/5*)
export PERL5LIB
need "Net::LDAP" perl -MNet::LDAP -MIO::Socket::SSL -e1
start_server
counted perl "$here/perl/client.pl"
finish "Net::LDAP $(perl -MNet::LDAP -e 'print $Net::LDAP::VERSION')"
