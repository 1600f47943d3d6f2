#!/usr/bin/env bash
# lmdb++, the wrapper for C++, as Debian has it: a program of its header writes, reads, deletes and
# meets errors.
. "$(dirname "$0")/common.sh"

cat > "$work/try.cc" <<'CC'
#include <cstdio>
#include <cstdlib>
#include <lmdb++.h>
#include <string>

static int failures = 0;

static void expect(bool holds, const char *what) {
    std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
    failures += !holds;
}

int main(int, char **arguments) {
    auto env = lmdb::env::create();
    env.set_mapsize(64UL << 20).set_max_dbs(4);
    env.open(arguments[1], 0, 0664);
    {
        auto txn = lmdb::txn::begin(env);
        auto dbi = lmdb::dbi::open(txn, "names", MDB_CREATE);
        for (int n = 0; n < 1000; n++) {
            auto key = std::to_string(1000 + n), value = "value " + key;
            lmdb::val k(key), v(value);
            dbi.put(txn, k, v);
        }
        txn.commit();
    }
    auto txn = lmdb::txn::begin(env);
    auto dbi = lmdb::dbi::open(txn, "names");
    expect(dbi.size(txn) == 1000, "all records are counted");
    lmdb::val key("1500"), value;
    expect(dbi.get(txn, key, value), "a key is found");
    expect(std::string(value.data(), value.size()) == "value 1500", "with its value");
    lmdb::val none("none");
    expect(!dbi.get(txn, none, value), "another one is not");
    int count = 0;
    std::string last;
    bool ascends = true;
    {
        auto cursor = lmdb::cursor::open(txn, dbi);
        for (lmdb::val k, v; cursor.get(k, v, MDB_NEXT); count++) {
            std::string now(k.data(), k.size());
            ascends = ascends && last < now;
            last = now;
        }
        lmdb::val place("19");
        expect(cursor.get(place, MDB_SET_RANGE), "a cursor finds a place");
        expect(std::string(place.data(), place.size()) == "1900", "behind a prefix");
    }
    expect(count == 1000 && ascends, "a cursor meets all records in order");
    expect(dbi.del(txn, key), "a record is deleted");
    expect(!dbi.get(txn, key, value), "and gone");
    try {
        std::string text(600, 'k');
        lmdb::val long_key(text), v("long");
        dbi.put(txn, long_key, v);
        expect(false, "a long key is refused");
    } catch (const lmdb::error &error) {
        expect(error.code() == MDB_BAD_VALSIZE, "a long key is refused by an exception");
    }
    txn.abort();
    auto again = lmdb::txn::begin(env, nullptr, MDB_RDONLY);
    expect(dbi.size(again) == 1000, "an abort undoes the deletion");
    try {
        lmdb::dbi::open(again, "other");
        expect(false, "a database that is missing is an exception");
    } catch (const lmdb::not_found_error &) {
        expect(true, "a database that is missing is an exception");
    }
    return failures != 0;
}
CC
header=${LMDBXX:-$unpacked/usr/include}
check "its header compiles with ours" g++ -std=c++11 -O1 -o "$work/try" -I "$header" -I "$prefix/include" \
    "$work/try.cc" -L "$prefix/lib" -llmdb
mkdir "$work/data"
with_library "$work/try" "$work/data" > "$work/output" 2>> "$log" || true
count() { grep -c "^$1" "$work/output" || true; }
passed=$((passed + $(count ok))) failed=$((failed + $(count FAILED)))
says "it ran to its end" 12 count ok
grep '^FAILED' "$work/output" >&2 || true
finish "lmdb++ of Debian"
