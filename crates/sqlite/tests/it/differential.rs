//! Random statements, for a table of SQLite and for one of ours: the answers are equal.

use std::fmt::Write;

use fulgurite_testkit::{Random, seed};

use crate::shell::run;

/// Columns, and indexes over them.
const TABLES: [(&str, &[&str]); 5] = [
    ("a INTEGER PRIMARY KEY, b TEXT, c", &["i1(b)", "i2(c)"]),
    ("a TEXT NOT NULL, b INTEGER UNIQUE, c REAL", &["i1(a, c)"]),
    ("a, b, c, UNIQUE(a, b)", &["i1(c, b)"]),
    (
        "a NUMERIC, b TEXT, c INT",
        &["i1(a)", "i2(b, c)", "i3(c, a, b)"],
    ),
    ("a BLOB, b REAL UNIQUE, c TEXT", &["i1(a, b)", "i2(c)"]),
];

/// Returns a value as SQL.
fn value(random: &mut Random) -> String {
    match random.below(16) {
        0 => "NULL".to_owned(),
        1..6 => random.below(12).to_string(),
        6 => format!("-{}", random.below(12)),
        7 => format!("{}.5", random.below(6)),
        8 => format!("{}.0", random.below(6)),
        9 => {
            let large = [
                "9007199254740993",
                "9007199254740992.0",
                "4611686018427387905",
                "-9223372036854775808",
            ];
            large[random.below(large.len())].to_owned()
        }
        10 => format!("'{}'", random.below(12)),
        11 => format!("'{}.0'", random.below(6)),
        12 | 13 => format!(
            "'{}'",
            ["a", "b", "ab", "", "B", "1e1", " 3"][random.below(7)]
        ),
        14 => format!("x'{}'", ["", "00", "6100", "61", "ff"][random.below(5)]),
        _ => format!("printf('%{}s', 'z')", random.below(140)),
    }
}

fn column(random: &mut Random) -> &'static str {
    ["a", "b", "c", "rowid"][random.below(4)]
}

fn comparison(random: &mut Random) -> String {
    let (name, first) = (column(random), value(random));
    match random.below(10) {
        0..4 => format!("{name} = {first}"),
        4 => format!("{name} > {first}"),
        5 => format!("{name} <= {first}"),
        6 => format!("{name} BETWEEN {first} AND {}", value(random)),
        7 => format!("{name} IN ({first}, {}, {})", value(random), value(random)),
        8 => format!("{name} IS {first}"),
        _ => format!("{name} < {first}"),
    }
}

fn condition(random: &mut Random) -> String {
    let mut text = comparison(random);
    while random.chance(40) {
        let word = if random.chance(80) { "AND" } else { "OR" };
        write!(text, " {word} {}", comparison(random)).expect("a string");
    }
    text
}

fn query(random: &mut Random) -> String {
    let shown = "rowid, quote(a), typeof(a), quote(b), typeof(b), quote(c), typeof(c)";
    let conditions = condition(random);
    match random.below(6) {
        0 => format!("SELECT count(*), min(a) < 2, max(b) > 3 FROM t WHERE {conditions};"),
        1 => "SELECT t.rowid, u.rowid FROM t JOIN u ON t.b = u.n ORDER BY 1, 2;".to_owned(),
        2 => format!(
            "SELECT t.rowid, u.rowid FROM u JOIN t ON t.{} = u.{} ORDER BY 1, 2;",
            column(random),
            ["n", "s", "x"][random.below(3)]
        ),
        3 => {
            let (first, second) = (column(random), column(random));
            let direction = if random.chance(50) { "" } else { " DESC" };
            format!(
                "SELECT {shown} FROM t WHERE {conditions} \
                 ORDER BY {first}{direction}, {second}{direction}, rowid{direction} LIMIT {};",
                random.between(1, 20)
            )
        }
        4 => format!(
            "SELECT {shown} FROM t WHERE b = {} ORDER BY c, rowid;",
            value(random)
        ),
        _ => format!("SELECT {shown} FROM t WHERE {conditions} ORDER BY rowid;"),
    }
}

fn statement(random: &mut Random) -> String {
    let conflict = ["", "OR ABORT ", "OR FAIL ", "OR IGNORE ", "OR REPLACE "][random.below(5)];
    match random.below(20) {
        0..7 => {
            let (a, b, c) = (value(random), value(random), value(random));
            format!("INSERT {conflict}INTO t(a, b, c) VALUES ({a}, {b}, {c});")
        }
        7 => {
            let (number, b) = (random.below(40), value(random));
            format!("INSERT {conflict}INTO t(rowid, b) VALUES ({number}, {b});")
        }
        8 => format!(
            "INSERT INTO t(a) VALUES ({}), ({}), ({});",
            value(random),
            value(random),
            value(random)
        ),
        9 | 10 => {
            let (name, value) = (column(random), value(random));
            format!(
                "UPDATE {conflict}t SET {name} = {value} WHERE rowid = {};",
                random.below(40)
            )
        }
        11 => format!(
            "UPDATE t SET c = {} WHERE {};",
            value(random),
            condition(random)
        ),
        12 => format!("DELETE FROM t WHERE rowid = {};", random.below(40)),
        13 if random.chance(30) => format!("DELETE FROM t WHERE {};", condition(random)),
        14 => ["BEGIN;", "COMMIT;", "ROLLBACK;"][random.below(3)].to_owned(),
        15 => ["SAVEPOINT s;", "RELEASE s;", "ROLLBACK TO s;"][random.below(3)].to_owned(),
        16 if random.chance(20) => {
            "INSERT INTO t(a, b, c) SELECT c, a, b FROM t ORDER BY rowid;".to_owned()
        }
        _ => query(random),
    }
}

#[test]
fn random_statements_have_the_answers_of_sqlite() {
    let first = seed("sqlite", 1);
    let runs =
        std::env::var("FULGURITE_TEST_RUNS").map_or(20, |text| text.parse().expect("a number"));
    for number in first..first + runs {
        let mut random = Random::new(number);
        let (columns, indexes) = TABLES[random.below(TABLES.len())];
        let folder = tempfile::tempdir().expect("a folder");
        let other = "CREATE TABLE u(n INTEGER, s TEXT, x);\n\
                     INSERT INTO u VALUES (1, '1', 1), (2, '2.0', '2'), (5, 'a', x'61'), (0, '', NULL);\n";
        let mut script = String::new();
        for _ in 0..random.between(50, 400) {
            script += &statement(&mut random);
            script += "\nSELECT 'next';\n";
        }
        script += "ROLLBACK;\nSELECT rowid, quote(a), quote(b), quote(c) FROM t ORDER BY rowid;\n";
        let mut theirs = format!("{other}CREATE TABLE t({columns});\n");
        let mut parts = format!(
            "directory='{}', {columns}",
            folder.path().join("e").display()
        );
        for index in indexes {
            writeln!(
                theirs,
                "CREATE INDEX {index_name} ON t({rest};",
                index_name = index.split('(').next().unwrap_or(""),
                rest = index.split_once('(').map_or("", |(_, rest)| rest)
            )
            .expect("a string");
            write!(parts, ", INDEX {index}").expect("a string");
        }
        let ours = format!("{other}CREATE VIRTUAL TABLE t USING fulgurite({parts});\n{script}");
        let expected = run(":memory:", &(theirs + &script));
        let found = run(":memory:", &ours);
        if expected != found {
            let differs = expected
                .lines()
                .zip(found.lines())
                .position(|(a, b)| a != b);
            let at = differs.unwrap_or_default();
            let part = |text: &str| {
                text.lines()
                    .skip(at.saturating_sub(3))
                    .take(8)
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            panic!(
                "FULGURITE_TEST_SEED={number}, {columns} {indexes:?}: from line {at}\nSQLite\n{}\nours\n{}\n{ours}",
                part(&expected),
                part(&found)
            );
        }
    }
}
