//! Damaged files: any statement ends with rows or an error, and `sqlite3` lives on.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use fulgurite_directory_tools::{GenerateOptions, LoadSettings, generate, load};
use fulgurite_schema::Schema;
use fulgurite_store::StoreOptions;
use fulgurite_testkit::{quick_or_long, seed};
use fulgurite_torture::corruption::{Base, all_bases, default_scratch, draw};

use crate::shell::run;

const TABLE: &str = "t USING fulgurite(a INTEGER, b TEXT, c, INDEX by_a(a, b), UNIQUE(b)";
/// Files that one process reads.
const BATCH: u64 = 50;

/// A table with two indexes, a part of whose rows is gone.
fn table(folder: &Path) -> Vec<u8> {
    let path = folder.join("table");
    let shown = run(
        ":memory:",
        &format!(
            "CREATE VIRTUAL TABLE {TABLE}, directory='{0}');\n\
             INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n \
             WHERE i < 299) SELECT i % 7, printf('row %d', i), zeroblob(i) FROM n;\n\
             DELETE FROM t WHERE a = 3;\n",
            path.display()
        ),
    );
    assert_eq!(shown, "");
    fs::read(path.join("data.mdb")).expect("read")
}

fn directory(folder: &Path) -> Vec<u8> {
    let ldif = folder.join("people.ldif");
    let options = GenerateOptions {
        users: 12,
        ..GenerateOptions::default()
    };
    generate(&options, fs::File::create(&ldif).expect("create")).expect("generate");
    let store = StoreOptions {
        suffixes: vec![options.suffix],
        ..StoreOptions::default()
    };
    let path = folder.join("directory");
    let mut settings = LoadSettings::new(path.clone(), store, Arc::clone(&Schema::standard()));
    settings.files = vec![ldif];
    load(&settings, &mut |_| {}).expect("load");
    fs::read(path.join("data.mdb")).expect("read")
}

/// Returns the statements for one damaged file. `LIMIT` ends what goes round in circles.
fn statements(path: &Path) -> String {
    let path = path.display();
    let mut text = format!(
        "SELECT count(*), total(length(value)) FROM (SELECT value FROM fulgurite_raw('{path}') LIMIT 3000);\n\
         SELECT count(*) FROM (SELECT r.value FROM fulgurite_raw('{path}') n \
         JOIN fulgurite_raw('{path}', n.key) r LIMIT 3000);\n\
         SELECT count(*) FROM fulgurite_raw('{path}', NULL, 'blob') WHERE key BETWEEN x'41' AND x'70';\n\
         SELECT count(*) FROM (SELECT value FROM fulgurite_directory('{path}') LIMIT 3000);\n\
         SELECT count(*) FROM fulgurite_directory('{path}', '(uid=user.3)', 'dc=example,dc=com');\n\
         SELECT count(*) FROM fulgurite_directory('{path}') WHERE attribute = 'member' AND value LIKE '%';\n\
         ATTACH ':memory:' AS m;\n\
         CREATE VIRTUAL TABLE m.{TABLE}, directory='{path}');\n"
    );
    text += "SELECT count(*) FROM (SELECT c FROM m.t WHERE a = 2 ORDER BY b LIMIT 3000);\n\
             SELECT count(*) FROM (SELECT c FROM m.t ORDER BY rowid DESC LIMIT 3000);\n\
             BEGIN;\n\
             INSERT INTO m.t VALUES (2, 'new', 'x'), (3, 'newer', zeroblob(9000));\n\
             UPDATE m.t SET a = 9 WHERE b > 'row 20' AND b < 'row 21';\n\
             DELETE FROM m.t WHERE rowid < 9;\n\
             COMMIT;\n\
             ROLLBACK;\n\
             DETACH m;\n";
    text
}

#[test]
fn no_damaged_file_ends_the_process() {
    let folder = tempfile::tempdir_in(default_scratch()).expect("a folder");
    let mut bases = all_bases();
    for (name, bytes) in [
        ("table", table(folder.path())),
        ("directory", directory(folder.path())),
    ] {
        // Most mutations are of small files. These make up for those of plain environments.
        for copy in 0..6 {
            let mut base = Base::new(format!("{name} {copy}"), bytes.clone());
            base.is_small = true;
            bases.push(base);
        }
    }
    let seed = seed("damaged files in SQL", 1);
    let batches = quick_or_long(10, 2000);
    let next = AtomicU64::new(0);
    let read = || {
        let mut counts = Counts::default();
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch >= batches {
                return counts;
            }
            counts.add(&read_batch(folder.path(), &bases, seed, batch));
        }
    };
    let counts = thread::scope(|threads| {
        let other = threads.spawn(read);
        let mut counts = read();
        counts.add(&other.join().expect("a thread"));
        counts
    });
    let Counts { errors, answers } = counts;
    // Both happen: damage that is seen, and files that can still be read.
    assert!(
        errors > 500 && answers > 500,
        "{errors} errors, {answers} answers"
    );
}

#[derive(Debug, Default)]
struct Counts {
    errors: usize,
    answers: usize,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.errors += other.errors;
        self.answers += other.answers;
    }
}

/// Lets one process read and change the files of a batch.
fn read_batch(folder: &Path, bases: &[Base], seed: u64, batch: u64) -> Counts {
    let numbers = batch * BATCH..(batch + 1) * BATCH;
    let mut script = String::new();
    for number in numbers.clone() {
        let mutation = draw(seed, number, bases);
        let path = folder.join(number.to_string());
        fs::create_dir(&path).expect("a folder");
        fs::write(path.join("data.mdb"), mutation.bytes(bases)).expect("write");
        let _ = writeln!(script, "SELECT 'file {number}';\n{}", statements(&path));
    }
    // This fails if the process ends by a signal.
    let shown = run(":memory:", &script);
    let last = format!("file {}\n", numbers.end - 1);
    let place = format!("batch {batch} of seed {seed}");
    assert!(shown.contains(&last), "{place}: {shown}");
    assert!(!shown.contains("panicked"), "{place}: {shown}");
    for number in numbers {
        fs::remove_dir_all(folder.join(number.to_string())).expect("remove");
    }
    let errors = shown
        .lines()
        .filter(|line| line.starts_with("error"))
        .count();
    Counts {
        errors,
        answers: shown.lines().count() - errors,
    }
}
