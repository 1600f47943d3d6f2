#!/usr/bin/env bash
# lmdbjava, of Java. Its release has no tests; a program here uses all of its interface.
. "$(dirname "$0")/common.sh"
not_in_a_quick_run

jars=$PWD/build/programs/java
need "a Java compiler" javac -version
need "lmdbjava" test -e "$jars/pom.xml"
javac -cp "$jars/*" -d "$work/classes" scripts/programs/java/LmdbJava.java >> "$log" 2>&1
mkdir "$work/data"
# Java 17 opens its buffers to nobody unless told so.
counted with_library java --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
    -Dlmdbjava.native.lib="$library" -cp "$jars/*:$work/classes" LmdbJava "$work/data"
finish "lmdbjava $(sed -n '/lmdbjava</,/version/s/.*<version>\(.*\)<.*/\1/p' "$jars/pom.xml")"
