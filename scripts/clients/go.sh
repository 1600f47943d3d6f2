#!/usr/bin/env bash
# go-ldap: StartTLS, binds, searches with and without pages, every kind of update.
. "$(dirname "$0")/common.sh"
need go go version
mkdir -p "$PWD/build/clients/go"
need "go-ldap" env GOFLAGS=-mod=mod GOBIN="$PWD/build/clients/go" sh -c "cd $here/go && go build -o '$PWD/build/clients/go/client' ."
start_server
counted build/clients/go/client
finish "go-ldap $(sed -n 's/.*go-ldap\/ldap\/v3 v\([0-9.]*\).*/\1/p' $here/go/go.mod | head -1)"
