//! `fulgurite`: what a table promises beyond SQLite's own.

use crate::shell::run;

#[test]
fn a_table_lives_on_in_its_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("app.db").display().to_string();
    let made = run(
        &file,
        "CREATE VIRTUAL TABLE people USING fulgurite(id INTEGER PRIMARY KEY, name TEXT NOT NULL, \
         age INT, INDEX by_age(age), UNIQUE(name));\n\
         INSERT INTO people(name, age) VALUES ('ada', 36), ('grace', 85), ('alan', 41);\n",
    );
    assert_eq!(made, "");
    assert!(folder.path().join("app.fulgurite/data.mdb").exists());
    let read = run(
        &file,
        "SELECT name FROM people WHERE age > 40 ORDER BY age DESC;\n\
         INSERT INTO people(name) VALUES ('ada');\n\
         INSERT INTO people(age) VALUES (1);\n\
         EXPLAIN QUERY PLAN SELECT * FROM people WHERE name = 'ada';\n\
         DROP TABLE people;\n",
    );
    assert_eq!(
        read,
        "grace\nalan\nQUERY PLAN\n`--SCAN people VIRTUAL TABLE INDEX 0:1:=\n\
         error: UNIQUE constraint failed: people.name (19)\n\
         error: NOT NULL constraint failed: people.name (19)\n"
    );
    let path = folder.path().join("app.fulgurite");
    let rest = run(
        ":memory:",
        &format!("SELECT key FROM fulgurite_raw('{}');\n", path.display()),
    );
    assert_eq!(rest, "sqlite\n");
}

#[test]
fn clauses_that_would_not_hold_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = format!("directory='{}'", folder.path().join("e").display());
    for (columns, error) in [
        (
            "a CHECK (a > 0)",
            "CHECK is not supported in tables of an environment",
        ),
        (
            "a REFERENCES b",
            "REFERENCES is not supported in tables of an environment",
        ),
        (
            "a TEXT COLLATE NOCASE",
            "COLLATE is not supported in tables of an environment",
        ),
        (
            "a UNIQUE ON CONFLICT REPLACE",
            "CONFLICT is not supported in tables of an environment",
        ),
        ("a, INDEX i(a); DELETE FROM x", "Multiple statements"),
        (
            "a, b, UNIQUE(a), UNIQUE(\"a\"), INDEX \"unique a\"(b)",
            "two indexes have one name",
        ),
        (
            "a DEFAULT 1",
            "DEFAULT is not supported in tables of an environment",
        ),
        ("a, INDEX i(a DESC)", "an index is ascending and BINARY"),
        (
            "a, INDEX i(a + 1)",
            "an index has columns of its table, no expressions",
        ),
        ("a, INDEX i", "an index is INDEX name(columns), not 'i'"),
    ] {
        let shown = run(
            ":memory:",
            &format!("CREATE VIRTUAL TABLE t USING fulgurite({directory}, {columns});\n"),
        );
        assert!(shown.contains(error), "{columns}: {shown}");
    }
    let shown = run(":memory:", "CREATE VIRTUAL TABLE t USING fulgurite(a);\n");
    assert!(shown.contains("needs directory='PATH'"), "{shown}");
}

#[test]
fn a_value_too_long_for_an_index_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = format!("directory='{}'", folder.path().join("e").display());
    let shown = run(
        ":memory:",
        &format!(
            "CREATE VIRTUAL TABLE t USING fulgurite({directory}, a TEXT, b, INDEX i(a));\n\
             INSERT INTO t VALUES (printf('%600s', 'x'), 1);\n\
             INSERT INTO t VALUES ('short', zeroblob(2000000));\n\
             SELECT a, length(b) FROM t;\n\
             SELECT count(*) FROM t WHERE a >= printf('%600s', 'x');\n\
             SELECT count(*) FROM t WHERE a = printf('%600s', 'x');\n"
        ),
    );
    assert_eq!(
        shown,
        "short|2000000\n1\n0\n\
         error: the values for the index i have 603 bytes; an index takes 490 (18)\n"
    );
}

#[test]
fn tables_come_and_go_within_transactions() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = format!("directory='{}'", folder.path().join("e").display());
    let shown = run(
        ":memory:",
        &format!(
            "CREATE VIRTUAL TABLE t USING fulgurite({directory}, a);\n\
             BEGIN; INSERT INTO t VALUES (1);\n\
             CREATE VIRTUAL TABLE temp.t USING fulgurite({directory}, b);\n\
             COMMIT;\n\
             SELECT * FROM main.t;\n\
             BEGIN; CREATE VIRTUAL TABLE u USING fulgurite({directory}, a);\n\
             INSERT INTO u VALUES (2);\n\
             ROLLBACK;\n\
             CREATE VIRTUAL TABLE u USING fulgurite({directory}, other);\n\
             BEGIN; INSERT INTO main.t VALUES (3);\n\
             DROP TABLE u;\n\
             ROLLBACK;\n\
             SELECT count(*) FROM u;\n\
             SELECT * FROM main.t;\n"
        ),
    );
    assert_eq!(
        shown,
        "1\n0\n1\n\
         error: the environment has a table t with another definition\n\
         error: SQL logic error\n"
    );
}

#[test]
fn a_refused_row_leaves_nothing_in_its_indexes() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = format!("directory='{}'", folder.path().join("e").display());
    let shown = run(
        ":memory:",
        &format!(
            "CREATE VIRTUAL TABLE t USING fulgurite({directory}, a UNIQUE, b, INDEX z(b));\n\
             INSERT INTO t VALUES (1, 'x');\n\
             BEGIN;\n\
             INSERT OR REPLACE INTO t VALUES (1, printf('%600s', 'y'));\n\
             INSERT INTO t VALUES (2, printf('%600s', 'y'));\n\
             COMMIT;\n\
             SELECT * FROM t WHERE a >= 0 ORDER BY a;\n\
             INSERT INTO t VALUES (2, 'z');\n\
             UPDATE OR REPLACE t SET a = CASE a WHEN 1 THEN 2 ELSE 3 END;\n\
             SELECT * FROM t;\n"
        ),
    );
    let error = "error: the values for the index z have 603 bytes; an index takes 490 (18)\n";
    assert_eq!(shown, format!("1|x\n2|x\n{error}{error}"));
}
