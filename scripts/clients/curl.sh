#!/usr/bin/env bash
# curl: LDAP URLs with attributes, scopes and filters.
. "$(dirname "$0")/common.sh"
need curl sh -c "curl --version | grep -qw ldap"
start_server
ask() { curl -sS --user "$USER_DN:$USER_PASSWORD" "$@"; }
count() { ask "$@" | grep -c '^DN: ' || true; }

says "one entry" 1 count "$URL/$SUFFIX?cn?sub?(uid=ada)"
says "an attribute" "$(printf 'DN: %s\n\tmail: ada@example.org' "$USER_DN")" sh -c "curl -sS --user '$USER_DN:$USER_PASSWORD' '$URL/$SUFFIX?mail?sub?(uid=ada)' | sed '/^\$/d; s/[[:space:]]*\$//'"
says "nothing" 0 count "$URL/$SUFFIX?cn?sub?(uid=nobody)"
says "one level" "$(ldapsearch -x -LLL -o ldif-wrap=no -H "$URL" -b "$SUFFIX" -s one 1.1 | grep -c '^dn:')" count "$URL/$SUFFIX?cn?one"
says "a wrong password is refused" 67 sh -c "curl -sS --user '$USER_DN:wrong' '$URL/$SUFFIX?cn?base' 2>/dev/null; echo \$?"
finish "$(curl --version | cut -d' ' -f1-2 | head -1)"
