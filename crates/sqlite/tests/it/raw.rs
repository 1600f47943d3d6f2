//! `fulgurite_raw`: environments of other programs.

use fulgurite::{Environment, KeyOrder};

use crate::shell::run;

fn environment() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let environment = Environment::options().open(folder.path()).expect("open");
    let mut txn = environment.write().expect("write");
    let names = txn
        .create_database("names", KeyOrder::Lexical)
        .expect("create");
    let numbers = txn
        .create_database("numbers", KeyOrder::Integer)
        .expect("create");
    for (key, value) in [("b", "two"), ("a", "one"), ("c", "three")] {
        txn.put(names, key.as_bytes(), value.as_bytes())
            .expect("put");
    }
    for number in [7u64, 300, 2] {
        txn.put(numbers, &number.to_ne_bytes(), &[0, 255])
            .expect("put");
    }
    txn.commit().expect("commit");
    folder
}

#[test]
fn any_environment_is_read() {
    let folder = environment();
    let path = folder.path().display();
    let shown = run(
        ":memory:",
        &format!(
            "SELECT key FROM fulgurite_raw('{path}');\n\
             SELECT key, value FROM fulgurite_raw('{path}', 'names') WHERE key >= 'b';\n\
             SELECT key, hex(value) FROM fulgurite_raw('{path}', 'numbers') WHERE key > 2;\n\
             SELECT typeof(key), typeof(value) FROM fulgurite_raw('{path}', 'names', 'blob', 'text') LIMIT 1;\n\
             SELECT n.value FROM fulgurite_raw('{path}', 'names') n JOIN fulgurite_raw('{path}', 'names') m \
             ON m.key = n.key ORDER BY n.key DESC;\n"
        ),
    );
    assert_eq!(
        shown,
        "names\nnumbers\nb|two\nc|three\n7|00FF\n300|00FF\nblob|text\nthree\ntwo\none\n"
    );
}

#[test]
fn wrong_calls_are_told() {
    let folder = environment();
    let path = folder.path().display();
    let shown = run(
        ":memory:",
        &format!(
            "SELECT * FROM fulgurite_raw;\n\
             SELECT * FROM fulgurite_raw('{path}', 'nothing');\n\
             SELECT * FROM fulgurite_raw('{path}', 'names', 'words');\n\
             INSERT INTO fulgurite_raw VALUES ('a', 'b');\n\
             CREATE VIRTUAL TABLE t USING fulgurite_raw('{path}', colour=red);\n"
        ),
    );
    assert_eq!(
        shown,
        "error: fulgurite_raw needs the path of an environment\n\
         error: there is no database named 'nothing'\n\
         error: no form 'words': there are auto, blob, text, cstring and integer\n\
         error: this table only reads; create one with writable=on (8)\n\
         error: no argument 'colour': there are database, key, value, writable and create\n"
    );
}

#[test]
fn an_environment_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new");
    let shown = run(
        ":memory:",
        &format!(
            "CREATE VIRTUAL TABLE t USING fulgurite_raw('{}', 'd', key=text, value=integer, create=on);\n\
             INSERT INTO t VALUES ('a', 1), ('b', 2), ('c', 3);\n\
             INSERT INTO t VALUES ('x', 9), ('a', 7);\n\
             INSERT OR REPLACE INTO t VALUES ('b', 22);\n\
             BEGIN; UPDATE t SET value = value + 1; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; COMMIT;\n\
             UPDATE t SET key = 'z' WHERE key = 'a';\n\
             INSERT INTO t VALUES (NULL, 1);\n\
             SELECT * FROM t ORDER BY key DESC;\n",
            path.display()
        ),
    );
    let expected = "z|2\nc|4\nb|23\nerror: the key exists already (19)\n\
                    error: a key of the form text cannot be NULL (20)\n";
    assert_eq!(shown, expected);
    let environment = Environment::options().open(&path).expect("open");
    let txn = environment.read().expect("read");
    let database = fulgurite::Snapshot::open_database(&txn, Some("d")).expect("the database");
    let value = fulgurite::Snapshot::get(&txn, database, b"b").expect("get");
    assert_eq!(value, Some(&23u64.to_ne_bytes()[..]));
}

#[test]
fn a_damaged_file_is_an_error() {
    let folder = environment();
    let file = folder.path().join("data.mdb");
    let mut bytes = std::fs::read(&file).expect("read");
    for byte in &mut bytes[3 * 4096..] {
        *byte ^= 0xA5;
    }
    std::fs::write(&file, bytes).expect("write");
    let path = folder.path().display();
    let shown = run(
        ":memory:",
        &format!("SELECT count(*) FROM fulgurite_raw('{path}', 'names');\n"),
    );
    assert!(shown.contains("damaged"), "{shown}");
}

#[test]
fn comparisons_find_what_sqlite_would() {
    let folder = environment();
    let path = folder.path().display();
    let shown = run(
        ":memory:",
        &format!(
            "SELECT key FROM fulgurite_raw('{path}', 'names') WHERE key = 'B' COLLATE NOCASE;\n\
             SELECT key FROM fulgurite_raw('{path}', 'names') WHERE key = 'c' OR key < 'c';\n\
             CREATE VIRTUAL TABLE t USING fulgurite_raw('{path}', 'names');\n\
             SELECT key FROM t WHERE key = 'c' OR key < 'b' OR value = 'two';\n\
             CREATE VIRTUAL TABLE c USING fulgurite_raw('{path}', 'names', key=cstring, writable=on);\n\
             SELECT key FROM c WHERE key = 'a';\n\
             DELETE FROM c WHERE key = 'a';\n\
             CREATE VIRTUAL TABLE n USING fulgurite_raw('{path}', 'numbers', writable=on);\n\
             INSERT INTO n VALUES (-5, 'x');\n\
             DELETE FROM n WHERE key = 7;\n\
             SELECT key FROM n;\n"
        ),
    );
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "b");
    for found in [&lines[1..4], &lines[4..7]] {
        let mut keys = found.to_vec();
        keys.sort_unstable();
        assert_eq!(keys, ["a", "b", "c"], "{shown}");
    }
    assert_eq!(
        lines[7..],
        [
            "a",
            "2",
            "300",
            "error: no key is stored in this form; a table with key=blob shows it (20)",
            "error: a key of the form integer cannot be INTEGER (20)",
        ]
    );
}
