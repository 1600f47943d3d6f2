//! Loading and exporting, on real files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_directory::{Clock, Entropy, Timestamp};
use fulgurite_directory_tools::{
    LoadFailure, LoadSettings, LoadSummary, Phase, export, load, load_faults,
};
use fulgurite_schema::Schema;
use fulgurite_store::{NameLookup, Store, StoreOptions};
use tempfile::TempDir;

const TOP: &str = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n";
const PEOPLE: &str =
    "dn: ou=people,dc=example,dc=com\nobjectClass: organizationalUnit\nou: people\n";
const JANE: &str = "dn: uid=jane,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: jane
cn: Jane
cn;lang-de:: SsOkbmU=
sn: Doe
entryUUID: 11111111-2222-4333-8444-555555555555
createTimestamp: 19990101000000Z
";

struct TempStore {
    dir: TempDir,
}

impl TempStore {
    fn new() -> TempStore {
        let dir = tempfile::tempdir().expect("a temporary directory");
        TempStore { dir }
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn load(&self, texts: &[&str]) -> Result<LoadSummary, LoadFailure> {
        let files = (texts.iter().enumerate())
            .map(|(n, text)| self.file(&format!("{n}.ldif"), text))
            .collect();
        load_files(&self.data(), files)
    }

    fn store(&self) -> Store {
        Store::open(&self.data(), &StoreOptions::default(), Schema::standard()).expect("a store")
    }

    fn export(&self) -> String {
        let mut out = Vec::new();
        export(&self.store(), &mut out).expect("an export");
        String::from_utf8(out).expect("LDIF is text")
    }
}

fn load_files(data: &Path, files: Vec<PathBuf>) -> Result<LoadSummary, LoadFailure> {
    load(&settings(data, files), &mut |_| {})
}

fn settings(data: &Path, files: Vec<PathBuf>) -> LoadSettings {
    let options = StoreOptions {
        suffixes: vec!["dc=example,dc=com".to_owned()],
        ..StoreOptions::default()
    };
    let mut settings = LoadSettings::new(data.to_owned(), options, Schema::standard());
    settings.files = files;
    settings.author.name = "cn=loader,dc=example,dc=com".to_owned();
    settings
}

#[test]
fn a_failed_load_names_all_wrong_records() {
    let world = TempStore::new();
    let unit = |name: &str, more: &str| {
        format!(
            "dn: ou={name},dc=example,dc=com\nobjectClass: organizationalUnit\nou: {name}\n{more}\n"
        )
    };
    let first = [
        format!("{TOP}\n"),
        unit("one", "color: red\n"),
        unit("two", ""),
        unit("three", "no colon\n"),
        unit("two", ""),
    ];
    let second = [
        unit("four", "cn: no such attribute here\n"),
        unit("five", ""),
    ];
    let lost = "dn: ou=x,ou=nowhere,dc=example,dc=com\nobjectClass: organizationalUnit\nou: x\n";
    let files = vec![
        world.file("a.ldif", &first.concat()),
        world.file("b.ldif", &second.concat()),
        world.file("c.ldif", lost),
    ];
    let load_settings = settings(&world.data(), files.clone());
    let failure = load(&load_settings, &mut |_| {}).unwrap_err();
    let faults = load_faults(&load_settings, &failure, 20).unwrap().unwrap();
    let shown: Vec<_> = faults
        .shown
        .iter()
        .map(|text| {
            let text = text
                .strip_prefix(world.dir.path().to_str().unwrap())
                .unwrap();
            text.split_once(": ").unwrap().0
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/a.ldif, line 8",
            "/a.ldif, line 17",
            "/a.ldif, line 19",
            "/b.ldif, line 1"
        ],
        "{faults:?}"
    );
    let count = "4 records are wrong, and nothing is loaded";
    assert_eq!(faults.to_string(), count);
    let faults = load_faults(&load_settings, &failure, 1).unwrap().unwrap();
    assert_eq!((faults.shown.len(), faults.others), (1, 3));
    assert_eq!(
        faults.to_string(),
        format!("{count}; 3 of them are not shown")
    );
    assert!(!world.data().exists(), "nothing is stored");
    // A record that is wrong because of others comes with those that are wrong by themselves.
    let files = vec![
        files[2].clone(),
        world.file("d.ldif", &unit("one", "color: red\n")),
    ];
    let load_settings = settings(&world.data(), files);
    let parent = LoadFailure::Record {
        file: load_settings.files[0].clone(),
        line: 1,
        reason: "the parent entry does not exist".to_owned(),
    };
    let faults = load_faults(&load_settings, &parent, 20).unwrap().unwrap();
    assert_eq!(faults.shown.len(), 2, "{faults:?}");
    assert!(faults.shown[0].ends_with("c.ldif, line 1: the parent entry does not exist"));
    // A file that cannot be opened is no wrong record.
    let missing = settings(&world.data(), vec![world.dir.path().join("none.ldif")]);
    let failure = load(&missing, &mut |_| {}).unwrap_err();
    assert!(load_faults(&missing, &failure, 20).unwrap().is_none());
}

/// A clock that never advances, and fixed randomness.
struct FixedTime(std::sync::atomic::AtomicU64);

impl Clock for FixedTime {
    fn now(&self) -> Timestamp {
        Timestamp(1_700_000_000_000_000)
    }

    fn elapsed_us(&self) -> u64 {
        0
    }
}

impl Entropy for FixedTime {
    fn random(&self) -> [u8; 16] {
        let count = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        [count.to_be_bytes(), (!count).to_be_bytes()]
            .concat()
            .try_into()
            .expect("sixteen bytes")
    }
}

/// People enough for several parts, and a line that is wrong in some of them.
fn many(people: usize, wrong: &[usize]) -> String {
    let mut text = format!("{TOP}\n{PEOPLE}\n");
    for number in 0..people {
        let class = match wrong.contains(&number) {
            true => "nosuchclass",
            false => "inetOrgPerson",
        };
        // Children come before their parent now and then.
        let (own, above) = match number % 50 {
            7 => (format!("uid=p{number}"), format!("uid=p{},", number + 1)),
            _ => (format!("uid=p{number}"), String::new()),
        };
        text += &format!(
            "dn: {own},{above}ou=people,dc=example,dc=com\nobjectClass: {class}\nuid: p{number}\n\
             cn: Person {number}\nsn: Of {}\ndescription: {}\n\n",
            number % 7,
            "x".repeat(200)
        );
    }
    text
}

#[test]
fn the_store_is_the_same_however_many_threads_load_it() {
    let mut outcomes = BTreeSet::new();
    for threads in [1, 2, 3] {
        let temp = TempStore::new();
        let options = StoreOptions {
            suffixes: vec!["dc=example,dc=com".to_owned()],
            ..StoreOptions::default()
        };
        let mut settings = LoadSettings::new(temp.data(), options, Schema::standard());
        settings.files = vec![temp.file("many.ldif", &many(3000, &[]))];
        settings.load.threads = Some(threads);
        settings.clock = Arc::new(FixedTime(0.into()));
        settings.entropy = Arc::new(FixedTime(0.into()));
        let summary = load(&settings, &mut |_| {}).expect("loaded");
        assert_eq!(summary.entries, 3002);
        let text = temp.export();
        let (mut csns, mut uuids) = (BTreeSet::new(), BTreeSet::new());
        csns.extend(text.lines().filter(|line| line.starts_with("entryCSN:")));
        uuids.extend(text.lines().filter(|line| line.starts_with("entryUUID:")));
        assert_eq!((csns.len(), uuids.len()), (3002, 3002));
        let bytes = std::fs::read(temp.data().join("data.mdb")).expect("the store's file");
        outcomes.insert((text, bytes));
    }
    assert_eq!(outcomes.len(), 1);
}

#[test]
fn the_first_wrong_record_is_reported_whichever_part_it_is_in() {
    let temp = TempStore::new();
    let text = many(6000, &[2500, 2501, 5900]);
    let failed = temp.load(&[&text]).expect_err("a class that there is not");
    let line = 1 + text
        .lines()
        .position(|line| line.starts_with("dn: uid=p2500,"))
        .expect("the entry");
    let told = failed.to_string();
    assert!(told.contains(&format!("line {line}: uid=p2500,")), "{told}");
    assert!(!temp.data().exists());
}

fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

#[test]
fn children_may_come_before_parents_and_files_add_up() {
    let temp = TempStore::new();
    let summary = temp
        .load(&[JANE, &format!("{PEOPLE}\n{TOP}")])
        .expect("loaded");
    assert_eq!(summary.entries, 3);
    assert_eq!(
        summary.bytes as usize,
        JANE.len() + PEOPLE.len() + 1 + TOP.len()
    );
    let text = temp.export();
    let order: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("dn:"))
        .collect();
    assert_eq!(
        order,
        [
            "dn: dc=example,dc=com",
            "dn: ou=people,dc=example,dc=com",
            "dn: uid=jane,ou=people,dc=example,dc=com"
        ]
    );
    let jane = lines(text.split("\n\n").nth(2).expect("a third record"));
    assert!(lines(JANE).is_subset(&jane), "{jane:?}");
    for made in [
        "structuralObjectClass: inetOrgPerson",
        "creatorsName: cn=loader,dc=example,dc=com",
        "modifiersName: cn=loader,dc=example,dc=com",
    ] {
        assert!(jane.contains(made), "{made}");
    }
    assert!(jane.iter().any(|line| line.starts_with("entryCSN: 20")));
    assert!(text.find("objectClass: domain") < text.find("dc: example\n"));
}

#[test]
fn an_export_loads_into_the_same_export() {
    let first = TempStore::new();
    first.load(&[TOP, PEOPLE, JANE]).expect("loaded");
    let text = first.export();
    let second = TempStore::new();
    second.load(&[&text]).expect("loaded again");
    assert_eq!(second.export(), text);
}

#[test]
fn a_store_is_extended_in_one_transaction() {
    let temp = TempStore::new();
    temp.load(&[TOP]).expect("loaded");
    temp.load(&[JANE, PEOPLE]).expect("extended");
    let before = temp.export();
    let third = JANE.replace("jane", "john").replace("1111-", "1112-");
    let failed = temp.load(&[&third, PEOPLE]).expect_err("people exist");
    assert!(failed.to_string().contains("exist"), "{failed}");
    assert_eq!(temp.export(), before);
}

#[test]
fn a_wrong_record_is_reported_with_its_place_and_leaves_nothing() {
    for (text, line, reason) in [
        (
            "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\nnope: x\n",
            4,
            "nope: attribute type undefined",
        ),
        (
            "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\npwdChangedTime: 20260101000000Z\n",
            4,
            "ppolicy.schema defines it and is built in: --schema ppolicy.schema",
        ),
        (
            "# one\n\ndn: dc=example,dc=com\nobjectClass: nothing\n",
            3,
            "objectClass",
        ),
        ("dn: no name\nobjectClass: domain\n", 1, "invalid DN"),
        (
            "dn: dc=example,dc=com\nchangetype: delete\n",
            1,
            "change record",
        ),
        ("dn: dc=example,dc=com\nobjectClass domain\n", 2, "colon"),
        ("dn: dc=elsewhere\nobjectClass: domain\n", 1, "outside"),
        (
            "dn: dc=example,dc=com\nobjectClass: person\ncn: x\n",
            1,
            "requires attribute 'sn'",
        ),
        (JANE, 1, "the parent entry does not exist"),
    ] {
        let temp = TempStore::new();
        let good = temp.file("good.ldif", "");
        let bad = temp.file("bad.ldif", text);
        let failed = load_files(&temp.data(), vec![good, bad]).expect_err(text);
        let message = failed.to_string();
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("bad.ldif"), "{message}");
        assert!(message.contains(&format!("line {line}:")), "{message}");
        assert!(!temp.data().exists(), "nothing is left: {message}");
    }
    let temp = TempStore::new();
    let twice = temp.load(&[TOP, PEOPLE, TOP]).expect_err("twice");
    assert!(
        twice
            .to_string()
            .contains("2.ldif, line 1: dc=example,dc=com"),
        "{twice}"
    );
    assert!(!temp.data().exists());
    let missing = load_files(&temp.data(), vec!["nowhere.ldif".into()]).expect_err("no file");
    assert!(
        missing.to_string().starts_with("nowhere.ldif: "),
        "{missing}"
    );
}

#[test]
fn many_entries_are_found_again_and_progress_is_reported() {
    let temp = TempStore::new();
    let mut text = format!("{TOP}\n");
    for n in 0..2000 {
        text += &format!("dn: uid=u{n},dc=example,dc=com\nobjectClass: account\nuid: u{n}\n\n");
    }
    let file = temp.file("many.ldif", &text);
    let options = StoreOptions {
        suffixes: vec!["dc=example,dc=com".to_owned()],
        ..StoreOptions::default()
    };
    let mut settings = LoadSettings::new(temp.data(), options, Schema::standard());
    settings.files = vec![file];
    let mut steps = Vec::new();
    let summary = load(&settings, &mut |step| steps.push(step)).expect("loaded");
    assert_eq!(summary.entries, 2001);
    assert!(
        steps
            .windows(2)
            .all(|pair| pair[0].entries <= pair[1].entries)
    );
    assert!(
        steps
            .iter()
            .all(|step| step.bytes_total == Some(text.len() as u64))
    );
    let last = steps.last().expect("steps");
    assert_eq!(
        (last.phase, last.entries, last.bytes),
        (Phase::Commit, 2001, text.len() as u64)
    );
    let store = temp.store();
    let view = store.snapshot().expect("a view");
    for n in [0, 999, 1999] {
        let dn = format!("uid=u{n},dc=example,dc=com");
        assert!(
            matches!(view.find_normal(&dn), Ok(NameLookup::Entry(_))),
            "{dn}"
        );
    }
}
