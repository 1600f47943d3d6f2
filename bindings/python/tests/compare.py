"""Compares batches with py-lmdb: both in one run, in turn, on files of the same records.

    pip install lmdb fulgurite && python tests/compare.py [RECORDS]

Each line has the median of the rounds, in microseconds a record, and the ratio.
"""

import random
import statistics
import sys
import tempfile
import time

import fulgurite
import lmdb

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
ROUNDS = 7

items = [(b"key%09d" % n, b"value of the record %09d" % n) for n in range(COUNT)]
some = [items[n][0] for n in random.Random(1).choices(range(COUNT), k=COUNT // 4)]
runs = [some[n : n + 1000] for n in range(0, len(some), 1000)]


def ours_load():
    with tempfile.TemporaryDirectory() as folder:
        with fulgurite.open(folder, create=True, durability="none") as environment:
            begun = time.perf_counter()
            with environment.write() as txn:
                txn.put_many(items)
            return time.perf_counter() - begun


def theirs_load():
    with tempfile.TemporaryDirectory() as folder:
        with lmdb.open(folder, map_size=1 << 32, sync=False) as environment:
            begun = time.perf_counter()
            with environment.begin(write=True) as txn, txn.cursor() as cursor:
                cursor.putmulti(items)
            return time.perf_counter() - begun


def timed(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


with tempfile.TemporaryDirectory() as folder:
    ours = fulgurite.open(folder, create=True, durability="none")
    with ours.write() as txn:
        txn.put_many(items)
    theirs = lmdb.open(folder, map_size=1 << 32, readonly=True)
    snapshot, txn = ours.snapshot(), theirs.begin()
    cursor = txn.cursor()

    def their_getmulti(run):
        found = dict(cursor.getmulti(run))
        return [found.get(key) for key in run]

    assert all(snapshot.get_many(run) == their_getmulti(run) for run in runs)
    assert list(snapshot.range()) == list(txn.cursor().iternext())
    contests = {
        "get_many, 1000 keys / getmulti": (
            len(some),
            lambda: timed(lambda: [snapshot.get_many(run) for run in runs]),
            lambda: timed(lambda: [their_getmulti(run) for run in runs]),
        ),
        "get_many, 1000 keys / get in a loop": (
            len(some),
            lambda: timed(lambda: [snapshot.get_many(run) for run in runs]),
            lambda: timed(lambda: [[txn.get(key) for key in run] for run in runs]),
        ),
        "get / get": (
            len(some),
            lambda: timed(lambda: [snapshot.get(key) for key in some]),
            lambda: timed(lambda: [txn.get(key) for key in some]),
        ),
        "range / iternext": (
            COUNT,
            lambda: timed(lambda: list(snapshot.range())),
            lambda: timed(lambda: list(txn.cursor().iternext())),
        ),
        "range.take / iternext": (
            COUNT,
            lambda: timed(lambda: snapshot.range().take(COUNT)),
            lambda: timed(lambda: list(txn.cursor().iternext())),
        ),
        "put_many / putmulti": (COUNT, ours_load, theirs_load),
    }
    for name, (count, our_work, their_work) in contests.items():
        pairs = []
        for number in range(ROUNDS):
            # In turn, so that both have the same neighbours.
            pair = (our_work(), their_work()) if number % 2 else (their_work(), our_work())[::-1]
            pairs.append(pair)
        mine, other = (statistics.median(column) for column in zip(*pairs))
        ratio = statistics.median(other / mine for mine, other in pairs)
        print(f"{name:40}{mine / count * 1e6:8.3f}{other / count * 1e6:8.3f} us{ratio:7.2f}x")
