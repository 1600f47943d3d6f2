#!/usr/bin/env bash
# The UnboundID SDK, of Java: controls of many kinds, transactions, root DSE, schema, and content
# synchronisation.
. "$(dirname "$0")/common.sh"
version=7.0.5
digest=463f0ee93f8046c6f72766f111fc27b18ab4727541968b9fa72699023e1b0ff0
need "a Java compiler" javac -version
folder=$PWD/build/clients/java
jar=$folder/unboundid-ldapsdk-$version.jar
mkdir -p "$folder"
[ -e "$jar" ] || need "the UnboundID SDK" sh -c "
    curl -sSfL -o '$jar.part' https://repo1.maven.org/maven2/com/unboundid/unboundid-ldapsdk/$version/unboundid-ldapsdk-$version.jar &&
    echo '$digest  $jar.part' | sha256sum -c && mv '$jar.part' '$jar'"
javac -cp "$jar" -d "$folder" "$here"/java/*.java >> "$log" 2>&1
start_server
counted java -cp "$jar:$folder" Client
counted java -cp "$jar:$folder" ContentSync
finish "UnboundID SDK $version"
