#!/usr/bin/env python3
"""Measures the tables of the SQLite extension next to SQLite's own, in one program.

    scripts/bench_sql.py EXTENSION [ROWS [ROUNDS [FOLDER]]]

Each commit waits for the disk, in all contenders. Each round runs all of them in turn, on new files
in FOLDER. Prints a table in Markdown: the median of the rounds, in microseconds an operation. Every
answer is checked.
"""

import os
import random
import shutil
import sqlite3
import statistics
import sys
import time

extension = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
FOLDER = sys.argv[4] if len(sys.argv) > 4 else "build/bench-sql"

COLUMNS = "id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT"
CONTENDERS = {
    "Fulgurite's tables": ("CREATE VIRTUAL TABLE people USING fulgurite(%s, UNIQUE(name), INDEX by_age(age, name))", []),
    "SQLite, WAL": ("CREATE TABLE people(%s, UNIQUE(name))", ["journal_mode=WAL", "synchronous=FULL"]),
    "SQLite, rollback": ("CREATE TABLE people(%s, UNIQUE(name))", ["journal_mode=DELETE", "synchronous=FULL"]),
}
people = [(n, "name%08d" % (n * 7919 % ROWS), n % 90) for n in range(ROWS)]


def load(connection, numbers):
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO people VALUES(?, ?, ?)", people)
    connection.execute("COMMIT")
    return ROWS


def by_number(connection, numbers):
    for n in numbers:
        row = connection.execute("SELECT name FROM people WHERE id = ?", (n,)).fetchone()
        assert row == (people[n][1],), row
    return len(numbers)


def by_name(connection, numbers):
    for n in numbers:
        row = connection.execute("SELECT id FROM people WHERE name = ?", (people[n][1],)).fetchone()
        assert row == (n,), row
    return len(numbers)


def scan(connection, numbers):
    row = connection.execute("SELECT count(*), sum(age) FROM people").fetchone()
    assert row == (ROWS, sum(person[2] for person in people)), row
    return ROWS


def group(connection, numbers):
    rows = connection.execute("SELECT name FROM people WHERE age = 40 ORDER BY name").fetchall()
    assert rows == sorted((person[1],) for person in people if person[2] == 40)
    return len(rows)


def commits(connection, numbers):
    for n in range(200):
        connection.execute("INSERT INTO people VALUES(?, ?, ?)", (ROWS + n, "later%d" % n, 20))
    assert connection.execute("SELECT count(*) FROM people WHERE id >= ?", (ROWS,)).fetchone() == (200,)
    return 200


WORK = {
    "rows loaded in one transaction": load,
    "a row by its number": by_number,
    "a row by its name, an index": by_name,
    "a row of a scan": scan,
    "a row of a range of an index, in order": group,
    "a row in a transaction of its own": commits,
}


def run(name, numbers):
    """Microseconds an operation, for each work."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    table, pragmas = CONTENDERS[name]
    connection = sqlite3.connect(os.path.join(FOLDER, "people.db"), isolation_level=None)
    for pragma in pragmas:
        connection.execute("PRAGMA " + pragma)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    connection.execute(table % COLUMNS)
    if "VIRTUAL" not in table:
        connection.execute("CREATE INDEX by_age ON people(age, name)")
    figures = {}
    for what, work in WORK.items():
        begun = time.perf_counter()
        count = work(connection, numbers)
        figures[what] = (time.perf_counter() - begun) / count * 1e6
    connection.close()
    return figures


measured = {name: [] for name in CONTENDERS}
numbers = random.Random(1).choices(range(ROWS), k=min(ROWS, 20_000))
for _ in range(ROUNDS):
    for name in CONTENDERS:
        measured[name].append(run(name, numbers))
shutil.rmtree(FOLDER, ignore_errors=True)

print("SQLite %s, %d rows, %d rounds; microseconds, median (lowest to highest)" % (sqlite3.sqlite_version, ROWS, ROUNDS))
print()
print("| work | %s |" % " | ".join(CONTENDERS))
print("| --- |" + " --- |" * len(CONTENDERS))
for what in WORK:
    cells = []
    for name in CONTENDERS:
        times = sorted(round_[what] for round_ in measured[name])
        cells.append("%.2f (%.2f to %.2f)" % (statistics.median(times), times[0], times[-1]))
    print("| %s | %s |" % (what, " | ".join(cells)))
