import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Literal, Optional, Union, final

Durability = Literal["full", "meta", "none"]
Order = Literal["lexical", "reverse", "integer"]

class Error(Exception):
    """A failure of the engine: a full file, a busy writer, a name that is not there."""

class CorruptedError(Error):
    """A page of the file holds what no page can be."""

def open(
    path: Union[str, os.PathLike[str]],
    *,
    create: bool = False,
    read_only: bool = False,
    durability: Durability = "full",
    max_bytes: Optional[int] = None,
    readers: Optional[int] = None,
    databases: int = 128,
    no_subdir: bool = False,
) -> Environment:
    """Opens the environment in a folder.

    ``create`` makes the folder if it is missing. ``durability`` says when a commit is on the disk:
    ``"full"`` before it returns, ``"meta"`` possibly without the last one, ``"none"`` at some time.
    ``max_bytes`` bounds the data file. ``no_subdir`` takes ``path`` as the data file itself.
    """

@final
class Environment:
    """An open environment. Threads share it."""

    def snapshot(self) -> Snapshot:
        """Begins to read the newest state. It waits for no writer."""
    def write(self) -> Transaction:
        """Begins the write transaction; waits until no other thread or process has one."""
    def submit(
        self,
        changes: Iterable[tuple[bytes, Optional[bytes]]],
        db: Optional[str] = None,
    ) -> None:
        """Makes changes in a commit that several threads share, and returns after it.

        A value of ``None`` deletes the key. All changes of a call are made, or none.
        """
    def sync(self) -> None:
        """Flushes commits of durability ``"none"`` to the disk."""
    def copy(self, path: Union[str, os.PathLike[str]], *, compact: bool = False) -> None:
        """Copies a snapshot into a new data file, without free pages if ``compact``."""
    def close(self) -> None:
        """Closes it. Running snapshots and transactions keep the files open until they end."""
    @property
    def path(self) -> str: ...
    def __enter__(self) -> Environment: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...

@final
class Snapshot:
    """One state of an environment. It belongs to the thread that began it."""

    def get(self, key: bytes, db: Optional[str] = None) -> Optional[bytes]:
        """Returns the value of a key; the first one if it has several."""
    def get_many(
        self, keys: Iterable[bytes], db: Optional[str] = None
    ) -> list[Optional[bytes]]:
        """Looks up many keys together, so that waits for memory overlap."""
    def range(
        self,
        low: Optional[bytes] = None,
        high: Optional[bytes] = None,
        *,
        prefix: Optional[bytes] = None,
        reverse: bool = False,
        db: Optional[str] = None,
    ) -> Records:
        """Iterates over the records with ``low <= key < high``, or with a prefix."""
    def count(
        self,
        low: Optional[bytes] = None,
        high: Optional[bytes] = None,
        db: Optional[str] = None,
    ) -> int:
        """Counts the records with ``low <= key < high``, by leaves."""
    def estimate(
        self,
        low: Optional[bytes] = None,
        high: Optional[bytes] = None,
        db: Optional[str] = None,
    ) -> int:
        """Estimates the same number by two searches."""
    def databases(self) -> list[str]:
        """Lists the named databases."""
    def close(self) -> None:
        """Ends the snapshot, so that its pages can be used again."""
    @property
    def id(self) -> int:
        """The number of the transaction that made this state."""
    def __enter__(self) -> Snapshot: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...

@final
class Records(Iterator[tuple[bytes, bytes]]):
    """Records of a snapshot, in the order of their keys."""

    def __iter__(self) -> Records: ...
    def __next__(self) -> tuple[bytes, bytes]: ...
    def take(self, count: int) -> list[tuple[bytes, bytes]]:
        """Returns the next records, at most this number. An empty list is the end."""

@final
class Transaction:
    """The write transaction. It belongs to the thread that began it.

    As a context manager it commits at the end, and aborts after an exception.
    """

    def get(self, key: bytes, db: Optional[str] = None) -> Optional[bytes]:
        """Returns a value with the changes so far."""
    def put(self, key: bytes, value: bytes, db: Optional[str] = None) -> None:
        """Stores a value, in place of an older one."""
    def insert(self, key: bytes, value: bytes, db: Optional[str] = None) -> bool:
        """Stores a value unless the key exists. Returns whether it did."""
    def put_many(
        self, items: Iterable[tuple[bytes, bytes]], db: Optional[str] = None
    ) -> int:
        """Stores many values, and returns their number."""
    def delete(self, key: bytes, db: Optional[str] = None) -> bool:
        """Deletes a key. Returns whether it existed."""
    def create_database(self, name: str, order: Order = "lexical") -> None:
        """Makes a named database, unless it exists."""
    def drop_database(self, name: str) -> None:
        """Deletes a named database with its records."""
    def commit(self) -> None:
        """Makes the changes permanent."""
    def abort(self) -> None:
        """Forgets the changes."""
    def __enter__(self) -> Transaction: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...
