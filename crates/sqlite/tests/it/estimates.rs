//! Plans follow the number of rows that a range has.

use crate::shell::run;

fn plan(folder: &tempfile::TempDir, statements: &str, query: &str) -> String {
    let file = folder.path().join("app.db").display().to_string();
    let shown = run(&file, &format!("{statements}EXPLAIN QUERY PLAN {query};\n"));
    let rows = shown.lines().filter_map(|line| line.split_once("SCAN "));
    rows.map(|(_, row)| row.replace(" VIRTUAL TABLE INDEX 0", "") + "\n")
        .collect()
}

#[test]
fn the_index_with_fewer_rows_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = "CREATE VIRTUAL TABLE t USING fulgurite(a INT, b INT, INDEX by_a(a), INDEX by_b(b));\n\
                INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n \
                WHERE i < 4999) SELECT i % 500 = 0, i % 100 FROM n;\n";
    // Ten rows have a = 1, and fifty have b = 5.
    assert_eq!(
        plan(&folder, made, "SELECT * FROM t WHERE a = 1 AND b = 5"),
        "t:0:=\n"
    );
    assert_eq!(
        plan(&folder, "", "SELECT * FROM t WHERE a = 0 AND b = 5"),
        "t:1:=\n"
    );
    assert_eq!(
        plan(&folder, "", "SELECT * FROM t WHERE a = 0 AND b < 90"),
        "t:all:\n"
    );
    assert_eq!(
        plan(&folder, "", "SELECT * FROM t WHERE a = 0 AND b < 1"),
        "t:1:<\n"
    );
    assert_eq!(
        plan(&folder, "", "SELECT * FROM t WHERE rowid < 10 AND b = 7"),
        "t:rowid:<\n"
    );
}

#[test]
fn a_join_begins_with_the_smaller_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display();
    let made = format!(
        "CREATE VIRTUAL TABLE large USING fulgurite_raw('{path}/e', 'large', key=text, value=text, create=on);\n\
         CREATE VIRTUAL TABLE small USING fulgurite_raw('{path}/e', 'small', key=text, value=text, create=on);\n\
         INSERT INTO large WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n \
         WHERE i < 9999) SELECT printf('k%05d', i), 'x' FROM n;\n\
         INSERT INTO small SELECT key, 'y' FROM large WHERE key LIKE 'k%0';\n"
    );
    let few = "SELECT * FROM small s JOIN large l USING (key) WHERE l.key < 'k00010'";
    let many = "SELECT * FROM small s JOIN large l USING (key) WHERE l.value > 'a'";
    assert!(plan(&folder, &made, few).ends_with("s:=\n"));
    assert!(plan(&folder, "", many).ends_with("l:=\n"));
    let call = |database: &str| format!("fulgurite_raw('{path}/e', '{database}', 'text')");
    let few = format!(
        "SELECT * FROM {} s JOIN {} l ON s.key = l.key WHERE l.key < 'k00010'",
        call("small"),
        call("large")
    );
    assert!(
        plan(&folder, "", &few).contains("\ns:"),
        "{}",
        plan(&folder, "", &few)
    );
}
