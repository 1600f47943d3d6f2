"""A transactional key/value store with the files of LMDB.

An environment is a folder. Snapshots read one state of it, without locks. One transaction at a time
writes. ``submit`` lets many threads share one commit.

    import fulgurite

    with fulgurite.open("/srv/colours", create=True) as environment:
        with environment.write() as txn:
            txn.put(b"red", b"#f00")
        with environment.snapshot() as snapshot:
            print(snapshot.get(b"red"), list(snapshot.range(b"a", b"z")))
"""

from ._fulgurite import (
    CorruptedError,
    Environment,
    Error,
    Records,
    Snapshot,
    Transaction,
    open,
)

__all__ = [
    "CorruptedError",
    "Environment",
    "Error",
    "Records",
    "Snapshot",
    "Transaction",
    "open",
]
