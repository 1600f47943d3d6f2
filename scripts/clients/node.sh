#!/usr/bin/env bash
# ldapts, of Node.js: StartTLS, binds, searches with pages and limits, every kind of update, many
# requests at once.
. "$(dirname "$0")/common.sh"
need Node.js node --version
folder=$PWD/build/clients/node
mkdir -p "$folder"
cp "$here"/node/*.json "$here"/node/client.mjs "$folder"
cmp -s "$folder/package-lock.json" "$folder/.complete" ||
    need ldapts sh -c "cd '$folder' && npm ci --no-audit --no-fund && cp package-lock.json .complete"
start_server
counted node "$folder/client.mjs"
finish "ldapts $(sed -n 's/.*"ldapts": "\(.*\)".*/\1/p' "$here/node/package.json"), Node.js $(node --version)"
