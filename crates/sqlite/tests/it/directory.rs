//! `fulgurite_directory`: the entries of a directory in SQL.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fulgurite_directory_tools::{GenerateOptions, LoadSettings, export, generate, load};
use fulgurite_schema::{Schema, SchemaBuilder};
use fulgurite_store::{Store, StoreOptions};
use fulgurite_testkit::{Random, quick_or_long, seed};
use tempfile::TempDir;

use crate::shell::run;

const SUFFIX: &str = "dc=example,dc=com";

fn load_into(folder: &Path, ldif: &Path, schema: Arc<Schema>) {
    let store = StoreOptions {
        suffixes: vec![SUFFIX.to_owned()],
        ..StoreOptions::default()
    };
    let mut settings = LoadSettings::new(folder.to_owned(), store, schema);
    settings.files = vec![ldif.to_owned()];
    load(&settings, &mut |_| {}).expect("load");
}

/// Makes a directory with the people and groups of `fulgurite generate`.
fn directory(users: u64) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let ldif = folder.path().join("people.ldif");
    let options = GenerateOptions {
        users,
        ..GenerateOptions::default()
    };
    generate(&options, File::create(&ldif).expect("create")).expect("generate");
    load_into(&folder.path().join("data"), &ldif, Schema::standard());
    folder
}

fn data(folder: &TempDir) -> String {
    folder.path().join("data").display().to_string()
}

/// Runs statements for a directory, which they call `@D`.
#[track_caller]
fn report(folder: &TempDir, statements: &str) -> String {
    let call = format!("fulgurite_directory('{}'", data(folder));
    let statements = statements.replace("@D(", &format!("{call}, "));
    run(":memory:", &statements.replace("@D", &format!("{call})")))
}

fn decoded(value: &str) -> String {
    let bytes = BASE64_STANDARD.decode(value).expect("base64");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn a_row_for_each_value_as_the_export_has_them() {
    let folder = directory(300);
    let mut exported = Vec::new();
    let options = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let store = Store::open(Path::new(&data(&folder)), &options, Schema::standard());
    export(&store.expect("open"), &mut exported).expect("export");
    let exported = String::from_utf8(exported)
        .expect("text")
        .replace("\n ", "");
    let mut expected = Vec::new();
    let mut dn = "";
    for line in exported.lines() {
        match line.split_once(": ") {
            Some(("dn", name)) => dn = name,
            Some((attribute, value)) => expected.push(match attribute.strip_suffix(':') {
                Some(attribute) => format!("{dn}|{attribute}|{}", decoded(value)),
                None => format!("{dn}|{attribute}|{value}"),
            }),
            None => {}
        }
    }
    let shown = report(&folder, "SELECT dn, attribute, value FROM @D;\n");
    let mut shown: Vec<_> = shown.lines().map(str::to_owned).collect();
    // The server makes contextCSN of its log.
    expected.retain(|row| !row.contains("|contextCSN|"));
    expected.sort();
    shown.sort();
    assert!(shown.len() > 3000, "{}", shown.len());
    let different = shown
        .iter()
        .zip(&expected)
        .find(|(shown, expected)| shown != expected);
    assert_eq!(different, None);
    assert_eq!(shown.len(), expected.len());
}

#[test]
fn reports_are_answered() {
    let folder = directory(200);
    let shown = report(
        &folder,
        "SELECT count(*), count(DISTINCT entry) FROM @D WHERE attribute = 'OBJECTCLASS' AND value = 'inetOrgPerson';\n\
         SELECT count(*) FROM @D('(&(objectClass=inetOrgPerson)(uid=user.1*))', 'ou=people,dc=example,dc=com') \
         WHERE attribute = 'uid';\n\
         SELECT value FROM @D WHERE dn = 'uid=user.7,ou=people,dc=example,dc=com' AND attribute = 'nothing';\n\
         SELECT count(*) FROM @D p JOIN @D q ON q.entry = p.parent AND q.attribute = 'ou' \
         WHERE p.attribute = 'uid' AND q.value = 'people';\n\
         SELECT m.value, count(*) FROM @D m WHERE m.attribute = 'member' GROUP BY 1 \
         HAVING NOT EXISTS (SELECT 1 FROM @D e WHERE e.dn = m.value COLLATE BINARY);\n\
         CREATE TEMP VIEW people AS SELECT entry, value AS uid FROM @D WHERE attribute = 'uid';\n\
         SELECT count(*) FROM people;\n",
    );
    assert_eq!(shown, "200|200\n111\n200\n200\n");
}

#[test]
fn comparisons_are_answered_by_the_indexes() {
    let folder = directory(50);
    let plan = |query: &str| {
        let shown = report(&folder, &format!("EXPLAIN QUERY PLAN {query};\n"));
        let plans = shown.lines().filter_map(|line| line.split_once("INDEX 0:"));
        plans.map(|(_, plan)| plan.to_owned()).collect::<Vec<_>>()
    };
    let sorted = |query: &str| {
        plan(query)
            .into_iter()
            .map(|plan| {
                let mut letters: Vec<_> = plan.chars().collect();
                letters.sort_unstable();
                letters.into_iter().collect::<String>()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        sorted("SELECT * FROM @D WHERE attribute = 'uid' AND value = 'x'"),
        ["adv"]
    );
    assert_eq!(
        sorted("SELECT * FROM @D WHERE dn = 'x' COLLATE BINARY"),
        ["dn"]
    );
    // Names that differ in case alone may be different names.
    assert_eq!(sorted("SELECT * FROM @D WHERE dn = 'x'"), ["d"]);
    assert_eq!(
        sorted("SELECT * FROM @D p JOIN @D q USING (entry) WHERE p.value = 'a'"),
        ["dv", "de"]
    );
}

/// A random comparison; the second form keeps SQLite from passing it on.
fn comparison(
    random: &mut Random,
    samples: &[(String, String, String, String, String)],
) -> (String, String) {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let (dn, attribute, value, entry, parent) = random.pick(samples);
    let (column, value) = match random.below(8) {
        0 => ("dn", format!("{} COLLATE BINARY", quoted(dn))),
        1 | 2 => ("attribute", quoted(attribute)),
        3 | 4 => ("value", quoted(value)),
        5 => ("entry", entry.clone()),
        6 => ("parent", parent.clone()),
        _ => ("attribute", quoted(&attribute.to_uppercase())),
    };
    let list = |first: &str, other: &str| format!("IN ({first}, {other})");
    let right = match column {
        "attribute" if random.chance(20) => list(&value, "'cn'"),
        "entry" | "parent" if random.chance(20) => list(&value, "1"),
        _ => format!("= {value}"),
    };
    (format!("{column} {right}"), format!("+{column} {right}"))
}

#[test]
fn pushed_comparisons_find_the_rows_of_a_whole_scan() {
    let folder = directory(60);
    let mut random = Random::new(seed("directory in SQL", 1));
    let all = report(
        &folder,
        "SELECT dn, attribute, value, entry, ifnull(parent, 'NULL') FROM @D;\n",
    );
    let samples: Vec<_> = all
        .lines()
        .filter_map(|line| {
            let mut parts = line.split('|').map(str::to_owned);
            Some((
                parts.next()?,
                parts.next()?,
                parts.next()?,
                parts.next()?,
                parts.next()?,
            ))
        })
        .collect();
    assert!(samples.len() > 500, "{}", samples.len());
    let filters = [
        "",
        "(objectClass=*)",
        "(uid=user.1*)",
        "(!(cn=a*))",
        "(&(sn=*)(objectClass=person))",
    ];
    let bases = [
        "",
        "dc=example,dc=com",
        "ou=People,dc=example,dc=com",
        "ou=none,dc=example,dc=com",
    ];
    let mut statements = String::new();
    let rounds = quick_or_long(150, 3000);
    for _ in 0..rounds {
        let count = random.between(1, 3);
        let joint = if random.chance(80) { " AND " } else { " OR " };
        let (mut pushed, mut kept) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (push, keep) = comparison(&mut random, &samples);
            pushed.push(push);
            kept.push(keep);
        }
        let (filter, base) = (random.pick(&filters), random.pick(&bases));
        let arguments = match (filter.is_empty(), base.is_empty()) {
            (true, true) => "@D".to_owned(),
            (false, true) => format!("@D('{filter}')"),
            (true, false) => format!("@D(NULL, '{base}')"),
            (false, false) => format!("@D('{filter}', '{base}')"),
        };
        for comparisons in [pushed, kept] {
            let _ = writeln!(
                statements,
                "SELECT count(*), total(length(value)), total(entry) FROM {arguments} WHERE {};",
                comparisons.join(joint),
            );
        }
    }
    let shown = report(&folder, &statements);
    let (answers, asked): (Vec<_>, Vec<_>) =
        (shown.lines().collect(), statements.lines().collect());
    assert_eq!(answers.len(), 2 * rounds, "{shown}");
    let mut found = 0;
    for (pair, asked) in answers.chunks(2).zip(asked.chunks(2)) {
        assert_eq!(pair[0], pair[1], "{asked:#?}");
        found += usize::from(!pair[0].starts_with("0|"));
    }
    assert!(found > rounds / 4, "{found} of {rounds} found something");
}

#[test]
fn wrong_calls_are_told() {
    let folder = directory(3);
    let shown = report(
        &folder,
        "SELECT * FROM fulgurite_directory;\n\
         SELECT * FROM fulgurite_directory('/nowhere');\n\
         SELECT * FROM fulgurite_directory('/tmp');\n\
         SELECT * FROM @D('(uid=');\n\
         SELECT * FROM @D(NULL, 'nothing');\n\
         INSERT INTO fulgurite_directory(dn) VALUES ('a');\n",
    );
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 6, "{shown}");
    assert_eq!(
        lines[0],
        "error: fulgurite_directory needs the folder of a directory"
    );
    assert_eq!(
        lines[1],
        "error: cannot open /nowhere: No such file or directory (os error 2) (14)"
    );
    assert!(lines[2].contains("/tmp: holds no directory"), "{shown}");
    assert!(lines[3].contains("the filter '(uid='"), "{shown}");
    assert!(
        lines[4].contains("the base 'nothing' is no name"),
        "{shown}"
    );
    assert!(lines[5].contains("may not be modified"), "{shown}");
}

#[test]
fn a_schema_of_files_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let schema = "attributetype ( 1.3.6.1.4.1.32473.1 NAME 'badge' EQUALITY caseIgnoreMatch \
                  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )\n\
                  objectclass ( 1.3.6.1.4.1.32473.2 NAME 'holder' SUP top AUXILIARY MAY badge )\n";
    std::fs::create_dir(path.join("schema")).expect("a folder");
    std::fs::write(path.join("schema/badge.schema"), schema).expect("write");
    let ldif = format!(
        "dn: {SUFFIX}\nobjectClass: domain\nobjectClass: holder\ndc: example\nbadge: Seven\n"
    );
    std::fs::write(path.join("one.ldif"), ldif).expect("write");
    let builder = SchemaBuilder::standard().text("badge.schema", schema);
    let built = builder.expect("parse").build().expect("build");
    load_into(&path.join("data"), &path.join("one.ldif"), Arc::new(built));
    let shown = report(
        &folder,
        &format!(
            "SELECT value FROM @D('(badge=seven)', NULL, '{0}') WHERE attribute = 'badge';\n\
             SELECT count(*) FROM @D(NULL, NULL, '{0}/badge.schema') WHERE attribute = 'badge';\n\
             SELECT value FROM @D;\n",
            path.join("schema").display()
        ),
    );
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[..2], ["Seven", "1"], "{shown}");
    assert!(lines[2].contains("holds values of \"badge\""), "{shown}");
}
