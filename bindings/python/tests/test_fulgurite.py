"""The package as its users see it, and its files as those of LMDB."""

import ast
import pathlib
import subprocess
import sys
import threading

import fulgurite
import pytest


@pytest.fixture
def environment(tmp_path):
    with fulgurite.open(tmp_path / "e", create=True) as environment:
        yield environment


def fill(environment, count=1000):
    with environment.write() as txn:
        items = ((b"k%05d" % n, b"v%d" % n) for n in range(count))
        assert txn.put_many(items) == count


def test_a_snapshot_keeps_its_state(environment):
    fill(environment, 10)
    with environment.snapshot() as old:
        with environment.write() as txn:
            txn.put(b"k00003", b"new")
            assert txn.delete(b"k00004") and not txn.delete(b"nothing")
            assert not txn.insert(b"k00003", b"other") and txn.insert(b"z", b"other")
            assert txn.get(b"k00003") == b"new"
        assert old.get(b"k00003") == b"v3" and old.get(b"z") is None
        with environment.snapshot() as new:
            assert new.get(b"k00003") == b"new" and new.id == old.id + 1
    with pytest.raises(fulgurite.Error, match="snapshot is closed"):
        old.get(b"k00003")


def test_ranges_are_slices_of_the_sorted_keys(environment):
    fill(environment)
    expected = [(b"k%05d" % n, b"v%d" % n) for n in range(1000)]
    with environment.snapshot() as snapshot:
        assert list(snapshot.range()) == expected
        assert list(snapshot.range(reverse=True)) == expected[::-1]
        for low, high in [(0, 1000), (5, 6), (7, 7), (100, 700), (9, 3), (990, 5000)]:
            keys = (b"k%05d" % low, b"k%05d" % high)
            assert list(snapshot.range(*keys)) == expected[low:high]
            assert list(snapshot.range(*keys, reverse=True)) == expected[low:high][::-1]
            assert snapshot.count(*keys) == len(expected[low:high])
        # Bounds between keys, and prefixes.
        assert list(snapshot.range(b"k00010!", b"k00012!")) == expected[11:13]
        assert list(snapshot.range(b"k00010!", b"k00012!", reverse=True)) == expected[12:10:-1]
        assert list(snapshot.range(prefix=b"k0001")) == expected[10:20]
        assert list(snapshot.range(b"k00015", prefix=b"k0001")) == expected[15:20]
        assert list(snapshot.range(prefix=b"\xff")) == []
        records = snapshot.range(b"k00100")
        assert next(records) == expected[100]
        assert records.take(300) == expected[101:401]
        assert records.take(1) == expected[401:402] and next(records) == expected[402]
        assert len(records.take(10_000)) == 597 and records.take(1) == []
        assert snapshot.estimate() == 1000


def test_many_keys_are_looked_up_together(environment):
    fill(environment)
    keys = [b"k%05d" % n for n in (3, 999, 1000, 0, 3)]
    with environment.snapshot() as snapshot:
        assert snapshot.get_many(keys) == [b"v3", b"v999", None, b"v0", b"v3"]
        assert snapshot.get_many(iter(keys)) == [snapshot.get(key) for key in keys]
        assert snapshot.get_many([]) == []
        with pytest.raises(TypeError):
            snapshot.get_many(["text"])


def test_an_exception_aborts(environment):
    with pytest.raises(KeyError), environment.write() as txn:
        txn.put(b"a", b"1")
        raise KeyError
    with environment.snapshot() as snapshot:
        assert snapshot.get(b"a") is None
    with environment.write() as txn:
        txn.put(b"a", b"1")
        txn.commit()
        with pytest.raises(fulgurite.Error, match="transaction is closed"):
            txn.put(b"b", b"2")
    with environment.write(), pytest.raises(fulgurite.Error):
        environment.write()


def test_threads_share_commits(environment):
    def work(thread):
        for n in range(50):
            environment.submit([(b"%d/%d" % (thread, n), b"x"), (b"gone", None)])

    threads = [threading.Thread(target=work, args=[n]) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    with environment.snapshot() as snapshot:
        assert snapshot.count() == 400 and snapshot.id <= 400
    # All changes of a call are made, or none.
    with pytest.raises(ValueError):
        environment.submit([(b"first", b"x"), (b"", b"an empty key")])
    with environment.snapshot() as snapshot:
        assert snapshot.get(b"first") is None


def test_a_writer_waits_for_another_thread(environment):
    order = []
    begun = threading.Event()

    def second():
        begun.set()
        with environment.write() as txn:
            order.append("second")
            txn.put(b"a", b"second")

    with environment.write() as txn:
        thread = threading.Thread(target=second)
        thread.start()
        assert begun.wait(60)
        order.append("first")
        txn.put(b"a", b"first")
    thread.join()
    assert order == ["first", "second"]


def test_named_databases(environment):
    with environment.write() as txn:
        txn.create_database("names")
        txn.create_database("numbers", order="integer")
        txn.put(b"ada", b"1", db="names")
        for n in (300, 2):
            txn.put(n.to_bytes(8, sys.byteorder), b"", db="numbers")
        with pytest.raises(ValueError):
            txn.create_database("other", order="none")
    with environment.snapshot() as snapshot:
        assert snapshot.databases() == ["names", "numbers"]
        assert snapshot.get(b"ada", "names") == b"1"
        keys = [int.from_bytes(key, sys.byteorder) for key, _ in snapshot.range(db="numbers")]
        assert keys == [2, 300]
        with pytest.raises(fulgurite.Error, match="no database named"):
            snapshot.get(b"a", db="none")
    with environment.write() as txn:
        txn.drop_database("names")
    with environment.snapshot() as snapshot:
        assert snapshot.databases() == ["numbers"]


def test_errors_say_what_is_wrong(tmp_path, environment):
    with pytest.raises(fulgurite.Error, match="create=True"):
        fulgurite.open(tmp_path / "missing")
    with pytest.raises(ValueError, match="durability"):
        fulgurite.open(tmp_path / "e", durability="some")
    with environment.write() as txn, pytest.raises(ValueError):
        txn.put(b"k" * 5000, b"")
    reader = fulgurite.open(tmp_path / "e", read_only=True)
    with pytest.raises(fulgurite.Error):
        reader.write()
    reader.close()
    with pytest.raises(fulgurite.Error, match="environment is closed"):
        reader.snapshot()


def test_a_damaged_file_is_an_exception(tmp_path, environment):
    fill(environment)
    environment.close()
    file = tmp_path / "e" / "data.mdb"
    damaged = bytearray(file.read_bytes())
    for at in range(2 * 4096, len(damaged)):
        damaged[at] ^= 0xA5
    file.write_bytes(damaged)
    with fulgurite.open(tmp_path / "e") as opened, opened.snapshot() as snapshot:
        with pytest.raises(fulgurite.CorruptedError):
            list(snapshot.range())


def test_a_copy_is_an_environment(tmp_path, environment):
    fill(environment)
    (tmp_path / "copy").mkdir()
    environment.copy(tmp_path / "copy", compact=True)
    with fulgurite.open(tmp_path / "copy") as copy, copy.snapshot() as snapshot:
        assert snapshot.count() == 1000


def test_another_process_reads_and_writes(tmp_path, environment):
    fill(environment, 3)
    script = (
        "import fulgurite, sys\n"
        "with fulgurite.open(sys.argv[1]) as e, e.write() as t: t.put(b'other', t.get(b'k00001'))\n"
    )
    subprocess.run([sys.executable, "-c", script, environment.path], check=True)
    with environment.snapshot() as snapshot:
        assert snapshot.get(b"other") == b"v1"


def test_py_lmdb_reads_the_file_and_writes_it(tmp_path, environment):
    lmdb = pytest.importorskip("lmdb")
    fill(environment)
    environment.close()
    with lmdb.open(str(tmp_path / "e")) as other:
        with other.begin(write=True) as txn:
            assert list(txn.cursor().iternext()) == [
                (b"k%05d" % n, b"v%d" % n) for n in range(1000)
            ]
            txn.put(b"other", b"library")
    with fulgurite.open(tmp_path / "e") as again, again.snapshot() as snapshot:
        assert snapshot.get(b"other") == b"library"


def test_the_stubs_name_what_is_there():
    folder = pathlib.Path(fulgurite.__file__).parent
    assert (folder / "py.typed").exists()
    tree = ast.parse((folder / "_fulgurite.pyi").read_text())
    declared = {node.name: node for node in tree.body if hasattr(node, "name")}
    assert sorted(declared) == fulgurite.__all__
    for name, node in declared.items():
        found = getattr(fulgurite, name)
        if isinstance(node, ast.ClassDef) and not issubclass(found, Exception):
            members = {child.name for child in node.body if hasattr(child, "name")}
            public = {member for member in vars(found) if not member.startswith("_")}
            assert public == {member for member in members if not member.startswith("_")}, name
            assert members <= set(dir(found)), name
