"""A process on the real liblmdb through PyPI's `lmdb`, driven line by line over
standard input and output. The protocol is described in `fulgurite_testkit::peer`."""

import os
import signal
import struct
import sys
import zlib

import lmdb


class Peer:
    def __init__(self):
        self.env = None
        self.writer = None
        self.readers = {}
        # Handles by name; those of the running write transaction apart, because they go with it.
        self.dbs = {}
        self.new = {}

    def txn(self, word):
        return self.writer if word == "w" else self.readers[word]

    def db(self, name):
        if name == "-":
            return None
        if name not in self.dbs and name not in self.new:
            raise lmdb.NotFoundError("NOTFOUND")
        return self.new.get(name) or self.dbs[name]

    def use(self, name):
        # In a transaction of its own, a writing one: handles opened in a reading one do not outlive it.
        self.dbs[name] = self.env.open_db(name.encode(), create=False)

    def open(self, path, *flags):
        options = dict(map_size=1 << 20, max_dbs=64, max_spare_txns=0)
        for f in flags:
            name, _, number = f.partition("=")
            options.update({
                "nosync": dict(sync=False),
                "nometasync": dict(metasync=False),
                "writemap": dict(writemap=True),
                "rdonly": dict(readonly=True),
                "nosubdir": dict(subdir=False),
                "mapsize": dict(map_size=int(number or 0)),
                "readers": dict(max_readers=int(number or 0)),
            }[name])
        self.env = lmdb.open(path, **options)

    def write(self):
        self.writer = self.env.begin(write=True)
        return self.writer.id()

    def commit(self):
        txn, self.writer = self.writer, None
        txn.commit()
        self.dbs.update(self.new)
        self.new.clear()

    def abort(self):
        txn, self.writer = self.writer, None
        txn.abort()
        self.new.clear()

    def read(self, slot):
        self.readers[slot] = self.env.begin()
        return self.readers[slot].id()

    def end(self, slot):
        self.readers.pop(slot).abort()

    def renew(self, slot):
        self.end(slot)
        return self.read(slot)

    def create(self, name, order):
        self.new[name] = self.env.open_db(
            name.encode(), txn=self.writer, create=True,
            reverse_key=order == "reverse", integerkey=order == "integer")

    def put(self, name, key, value):
        self.writer.put(unhex(key), unhex(value), db=self.db(name))

    def delete(self, name, key):
        if not self.writer.delete(unhex(key), db=self.db(name)):
            raise lmdb.NotFoundError("NOTFOUND")

    def get(self, word, name, key):
        txn = self.txn(word)
        value = txn.get(unhex(key), db=self.db(name))
        if value is None:
            raise lmdb.NotFoundError("NOTFOUND")
        return value.hex() or "."

    def fill(self, name, first, count, length, seed):
        db = self.db(name)
        for i in range(int(first), int(first) + int(count)):
            value = bytes((int(seed) + i + j) & 0xFF for j in range(int(length)))
            self.writer.put(b"k%08d" % i, value, db=db)

    def drop(self, name):
        db = self.db(name)
        self.writer.drop(db if db is not None else self.env.open_db(None, txn=self.writer), delete=False)

    def hash(self, word, name):
        txn = self.txn(word)
        crc = count = size = 0
        for key, value in txn.cursor(db=self.db(name)):
            crc = zlib.crc32(struct.pack("<I", len(key)) + key + struct.pack("<I", len(value)) + value, crc)
            count += 1
            size += len(key) + len(value)
        return "%d %d %08x" % (count, size, crc)

    def info(self):
        i = self.env.info()
        return "%d %d %d %d" % (i["map_size"], i["last_pgno"], i["last_txnid"], i["num_readers"])

    def check(self):
        return self.env.reader_check()

    def setmap(self, size):
        self.env.set_mapsize(int(size))

    def sync(self):
        self.env.sync(True)

    def close(self):
        self.env.close()

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def quit(self):
        sys.exit(0)


def unhex(word):
    return b"" if word == "." else bytes.fromhex(word)


ERRORS = {
    lmdb.KeyExistsError: "KEYEXIST", lmdb.NotFoundError: "NOTFOUND", lmdb.PageNotFoundError: "PAGE_NOTFOUND",
    lmdb.CorruptedError: "CORRUPTED", lmdb.PanicError: "PANIC", lmdb.VersionMismatchError: "VERSION_MISMATCH",
    lmdb.InvalidError: "INVALID", lmdb.MapFullError: "MAP_FULL", lmdb.ReadersFullError: "READERS_FULL",
    lmdb.MapResizedError: "MAP_RESIZED", lmdb.IncompatibleError: "INCOMPATIBLE", lmdb.BadRslotError: "BAD_RSLOT",
    lmdb.BadTxnError: "BAD_TXN", lmdb.BadValsizeError: "BAD_VALSIZE",
}


def main():
    peer = Peer()
    for line in sys.stdin:
        words = line.split()
        name = {"del": "delete"}.get(words[0], words[0])
        try:
            answer = getattr(peer, name)(*words[1:])
            print("= ok" if answer is None else "= ok %s" % answer, flush=True)
        except lmdb.Error as error:
            print("= err %s" % ERRORS.get(type(error), "OS:%s" % error), flush=True)
        except Exception as error:
            print("= err PEER:%s:%s" % (type(error).__name__, error), flush=True)


main()
