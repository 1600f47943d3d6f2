use super::options::*;
use super::*;
use crate::testing::*;
use crate::{EntryId, Store, StoreError, StoreOptions};
use fulgurite_schema::CheckedEntry;
use proptest::prelude::*;
use tempfile::TempDir;

/// The input of a test fails.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("the input fails")]
struct InputError;

fn small() -> LoadOptions {
    // Everything exceeds this memory and goes to temporary files.
    LoadOptions {
        memory_bytes: 2000,
        temporary_dir: Some(std::env::temp_dir()),
        threads: Some(2),
    }
}

type Part = Vec<(CheckedEntry, u64)>;

/// Entries in parts, with ten times their numbers as lines.
fn parts(entries: &[CheckedEntry]) -> impl Iterator<Item = Result<Part, InputError>> {
    let lines = entries.iter().cloned().zip((1..).map(|number| number * 10));
    let lines: Part = lines.collect();
    let parts: Vec<Part> = lines.chunks(256).map(<[_]>::to_vec).collect();
    parts.into_iter().map(Ok)
}

fn load(
    store: &Store,
    options: &LoadOptions,
    entries: &[CheckedEntry],
) -> Result<LoadReport, LoadError<InputError>> {
    let load = BulkLoad {
        parts: parts(entries),
        reader: EntryReader,
        options,
        progress: &mut |_| {},
    };
    load.into_store(store)
}

/// Returns a directory of several levels, parents first.
fn directory(people: usize) -> Vec<CheckedEntry> {
    let schema = schema();
    let mut entries = vec![suffix_entry(&schema)];
    for dn in [
        "ou=a,dc=example,dc=com",
        "ou=b,ou=a,dc=example,dc=com",
        "ou=c,ou=b,ou=a,dc=example,dc=com",
    ] {
        entries.push(unit(&schema, dn));
    }
    for n in 0..people {
        let above = ["", "ou=a,", "ou=b,ou=a,", "ou=c,ou=b,ou=a,"][n % 4];
        let name = format!("Person {}", n % 17);
        let number = n.to_string();
        let member = format!("uid=p{},dc=example,dc=com", n % 5);
        let dn = format!("uid=p{n},{above}dc=example,dc=com");
        let mut more = vec![
            ("cn", &*name),
            ("objectClass", "posixAccount"),
            ("uidNumber", &number),
            ("gidNumber", "1"),
        ];
        more.extend([
            ("homeDirectory", "/"),
            ("cn;lang-en", "Someone"),
            ("seeAlso", &member),
        ]);
        entries.push(person(&schema, &dn, &more));
    }
    entries
}

fn added_one_by_one(entries: &[CheckedEntry]) -> TestStore {
    let store = create();
    let mut writer = store.write().unwrap();
    for entry in entries {
        add(&mut writer, entry);
    }
    writer.commit().unwrap();
    store
}

#[test]
fn a_load_equals_adding_one_by_one() {
    let entries = directory(300);
    let expected = added_one_by_one(&entries);
    let one = LoadOptions {
        threads: Some(1),
        ..small()
    };
    for options in [small(), one, LoadOptions::default()] {
        let store = create();
        assert_eq!(
            load(&store, &options, &entries).unwrap(),
            LoadReport { entries: 304 }
        );
        assert_clean(&store);
        assert_eq!(
            contents(&store.snapshot().unwrap()),
            contents(&expected.snapshot().unwrap())
        );
        assert_eq!(
            store
                .snapshot()
                .unwrap()
                .descendant_count(EntryId(1))
                .unwrap(),
            303
        );
    }
}

/// A numbered part of few entries, which fails at its end if the flag is set.
type NumberedPart<'e> = (u64, &'e [CheckedEntry], bool);

#[derive(Clone)]
struct SlowReader;

impl PartReader<NumberedPart<'_>, InputError> for SlowReader {
    fn read(
        &mut self,
        (number, part, fails): NumberedPart<'_>,
        batch: &mut LoadBatch<'_>,
    ) -> Result<(), InputError> {
        // Later parts overtake earlier ones.
        std::thread::sleep(std::time::Duration::from_micros(300 * (2 - number % 3)));
        for (entry, line) in part.iter().zip(1..) {
            batch.add(entry.clone(), number * 100 + line);
        }
        if fails { Err(InputError) } else { Ok(()) }
    }
}

fn load_parts(
    options: &LoadOptions,
    parts: &[(Vec<CheckedEntry>, bool)],
) -> (TestStore, Result<LoadReport, LoadError<InputError>>) {
    let store = create();
    let numbered = (0..).zip(parts);
    let load = BulkLoad {
        parts: numbered.map(|(number, (part, fails))| Ok((number, part.as_slice(), *fails))),
        reader: SlowReader,
        options,
        progress: &mut |_| {},
    };
    let loaded = load.into_store(&store);
    (store, loaded)
}

/// Wipes what a writer does not store: the room between the offsets and the nodes of a page.
fn without_free_space(mut file: Vec<u8>) -> Vec<u8> {
    const TREE_PAGES: u16 = 0x01 | 0x02;
    const PACKED: u16 = 0x20;
    for page in file.chunks_mut(4096) {
        let word = |at: usize| u16::from_le_bytes([page[at], page[at + 1]]);
        let (key_bytes, flags) = (usize::from(word(8)), word(10));
        let (lower, upper) = (usize::from(word(12)), usize::from(word(14)));
        let free = match flags & TREE_PAGES {
            0 => continue,
            _ if flags & PACKED != 0 => 16 + (lower.max(16) - 16) / 2 * key_bytes..4096,
            _ => lower..upper,
        };
        if let Some(free) = page.get_mut(free) {
            free.fill(0);
        }
    }
    file
}

#[test]
fn the_loaded_file_does_not_depend_on_threads() {
    let mut entries = directory(400);
    // Some entries wait for their parents over several parts; some have new attributes.
    entries[1..].rotate_left(3);
    entries.rotate_left(150);
    let parts: Vec<_> = entries
        .chunks(7)
        .map(|part| (part.to_vec(), false))
        .collect();
    let mut outcomes = [1, 2, 5].map(|threads| {
        let options = LoadOptions {
            threads: Some(threads),
            ..LoadOptions::default()
        };
        let (store, loaded) = load_parts(&options, &parts);
        assert_eq!(loaded.unwrap(), LoadReport { entries: 404 });
        assert_clean(&store);
        without_free_space(std::fs::read(store.path().join("data.mdb")).unwrap())
    });
    outcomes[1..].rotate_left(1);
    assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
}

#[test]
fn the_first_error_in_order_of_parts_is_returned() {
    let mut parts: Vec<_> = directory(100)
        .chunks(10)
        .map(|part| (part.to_vec(), false))
        .collect();
    parts[6].1 = true;
    let options = LoadOptions {
        threads: Some(4),
        ..small()
    };
    let (store, loaded) = load_parts(&options, &parts);
    assert!(matches!(loaded, Err(LoadError::Source(InputError))));
    assert_eq!(store.snapshot().unwrap().entry_count().unwrap(), 0);
    // A duplicate name in an earlier part.
    let twice = parts[2].0[1].clone();
    parts[4].0.push(twice);
    let (_, loaded) = load_parts(&options, &parts);
    let exists = matches!(
        loaded,
        Err(LoadError::Entry {
            source: StoreError::EntryExists(_),
            ..
        })
    );
    assert!(exists);
}

/// Fills a store until an entry comes that only a writer can add, and continues with the writer.
fn filled(options: &LoadOptions, entries: &[CheckedEntry]) -> (TestStore, usize) {
    let store = create();
    let mut bulk_writer = store.bulk_writer(options).unwrap().expect("an empty store");
    let mut left = entries;
    while let Some((entry, rest)) = left.split_first() {
        match bulk_writer.add(entry).unwrap() {
            BulkAddOutcome::Added(_) => left = rest,
            BulkAddOutcome::OutOfOrder => break,
            BulkAddOutcome::Exists => panic!("no name is there twice"),
        }
    }
    let mut writer = bulk_writer.into_writer().unwrap();
    for entry in left {
        add(&mut writer, entry);
    }
    writer.commit().unwrap();
    assert!(
        store.bulk_writer(options).unwrap().is_none(),
        "it is not empty any more"
    );
    (store, entries.len() - left.len())
}

#[test]
fn a_bulk_write_equals_adding_one_by_one() {
    let entries = directory(300);
    let expected = contents(&added_one_by_one(&entries).snapshot().unwrap());
    for options in [small(), LoadOptions::default()] {
        let (store, by_bulk) = filled(&options, &entries);
        assert_eq!(by_bulk, entries.len());
        assert_clean(&store);
        assert_eq!(contents(&store.snapshot().unwrap()), expected);
    }
    // An entry without a known parent ends the bulk write. The writer adds its parent first.
    let schema = schema();
    let mut entries = directory(20);
    entries.insert(10, unit(&schema, "ou=x,ou=late,dc=example,dc=com"));
    entries.insert(10, unit(&schema, "ou=late,dc=example,dc=com"));
    let store = create();
    let mut bulk_writer = store.bulk_writer(&small()).unwrap().unwrap();
    for entry in &entries[..10] {
        assert!(matches!(
            bulk_writer.add(entry).unwrap(),
            BulkAddOutcome::Added(_)
        ));
    }
    assert_eq!(
        bulk_writer.add(&entries[11]).unwrap(),
        BulkAddOutcome::OutOfOrder
    );
    assert_eq!(
        bulk_writer.add(&entries[3]).unwrap(),
        BulkAddOutcome::Exists
    );
    let mut writer = bulk_writer.into_writer().unwrap();
    for entry in &entries[10..] {
        add(&mut writer, entry);
    }
    writer.commit().unwrap();
    assert_clean(&store);
    let expected = contents(&added_one_by_one(&entries).snapshot().unwrap());
    assert_eq!(contents(&store.snapshot().unwrap()), expected);
}

#[test]
fn given_ids_are_kept_and_parents_may_come_later() {
    let schema = schema();
    let store = create();
    let mut bulk_writer = store.bulk_writer(&small()).unwrap().unwrap();
    let mut fill = |id, parent, entry: &CheckedEntry| {
        bulk_writer
            .add_as(EntryId(id), EntryId(parent), entry)
            .unwrap()
    };
    let top = EntryId::ROOT.0;
    assert_eq!(
        fill(3, top, &suffix_entry(&schema)),
        BulkAddOutcome::Added(EntryId(3))
    );
    let below = unit(&schema, "ou=b,ou=a,dc=example,dc=com");
    assert_eq!(fill(5, 9, &below), BulkAddOutcome::Added(EntryId(5)));
    assert_eq!(fill(6, 9, &below), BulkAddOutcome::Exists);
    let orphan = unit(&schema, "ou=o,ou=nowhere,dc=example,dc=com");
    assert_eq!(fill(7, 77, &orphan), BulkAddOutcome::Added(EntryId(7)));
    let above = unit(&schema, "ou=a,dc=example,dc=com");
    let beyond = EntryId(1 << 48);
    let lost = unit(&schema, "ou=l,ou=lost,dc=example,dc=com");
    let refused = bulk_writer.add_as(EntryId(8), beyond, &lost);
    assert!(
        matches!(refused, Err(BulkWriteError::Store(StoreError::NoSuchEntry(id))) if id == beyond),
        "{refused:?}"
    );
    let mut fill = |id, parent, entry: &CheckedEntry| {
        bulk_writer
            .add_as(EntryId(id), EntryId(parent), entry)
            .unwrap()
    };
    assert_eq!(fill(2, 3, &above), BulkAddOutcome::OutOfOrder);
    assert_eq!(fill(9, 3, &above), BulkAddOutcome::Added(EntryId(9)));
    let mut writer = bulk_writer.into_writer().unwrap();
    writer.undo_add(EntryId(7)).unwrap();
    writer.commit().unwrap();
    assert_clean(&store);
    let view = store.snapshot().unwrap();
    assert_eq!(view.descendant_count(EntryId(3)).unwrap(), 2);
    assert_eq!(
        view.find(&below.entry().dn).unwrap().entry(),
        Some(EntryId(5))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_order_of_entries_gives_the_same_store(order in Just((0..60_usize).collect::<Vec<_>>()).prop_shuffle(), split in 0..60_usize) {
        let entries = directory(56);
        let shuffled: Vec<_> = order.iter().map(|n| entries[*n].clone()).collect();
        let expected = contents(&added_one_by_one(&entries).snapshot().unwrap());
        let store = create();
        load(&store, &small(), &shuffled).unwrap();
        assert_clean(&store);
        prop_assert_eq!(&contents(&store.snapshot().unwrap()), &expected);

        // The same in two loads; the second one extends the first.
        let store = create();
        let (first, second): (Vec<_>, Vec<_>) = (entries[..split.max(4)].to_vec(), shuffled);
        let second: Vec<_> = second.into_iter().filter(|entry| !first.contains(entry)).collect();
        load(&store, &small(), &first).unwrap();
        load(&store, &small(), &second).unwrap();
        assert_clean(&store);
        prop_assert_eq!(&contents(&store.snapshot().unwrap()), &expected);
    }
}

#[test]
fn a_second_entry_of_a_name_is_an_error_with_its_line() {
    let mut entries = directory(10);
    entries.push(entries[7].clone());
    let store = create();
    let error = load(&store, &small(), &entries).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 150: uid=p3,ou=c,ou=b,ou=a,dc=example,dc=com: the entry exists already"
    );
    assert_eq!(store.snapshot().unwrap().entry_count().unwrap(), 0);
    // The same for entries that wait for their parent, and for entries that the store has already.
    let error = load(&store, &small(), &[entries[7].clone(), entries[7].clone()]).unwrap_err();
    assert!(
        matches!(
            error,
            LoadError::Entry {
                line: 20,
                source: StoreError::EntryExists(_)
            }
        ),
        "{error}"
    );
    load(&store, &small(), &entries[..4]).unwrap();
    let error = load(&store, &small(), &entries[3..5]).unwrap_err();
    assert!(
        matches!(
            error,
            LoadError::Entry {
                line: 10,
                source: StoreError::EntryExists(_)
            }
        ),
        "{error}"
    );
    assert_eq!(store.snapshot().unwrap().entry_count().unwrap(), 4);
    assert_clean(&store);
}

#[test]
fn missing_parents_are_named() {
    let schema = schema();
    let entries = [
        suffix_entry(&schema),
        unit(&schema, "ou=x,ou=y,ou=nowhere,dc=example,dc=com"),
        unit(&schema, "ou=y,ou=nowhere,dc=example,dc=com"),
        unit(&schema, "ou=z,ou=nowhere,dc=example,dc=com"),
    ];
    let store = create();
    let error = load(&store, &small(), &entries).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 30: ou=y,ou=nowhere,dc=example,dc=com: the parent entry does not exist (and 2 more entries wait for missing parents)"
    );
    assert_eq!(store.snapshot().unwrap().entry_count().unwrap(), 0);
    let error = load(&store, &small(), &[unit(&schema, "ou=elsewhere,o=x")]).unwrap_err();
    assert!(
        matches!(
            error,
            LoadError::Entry {
                line: 10,
                source: StoreError::OutsideSuffix(_)
            }
        ),
        "{error}"
    );
}

#[test]
fn a_failed_load_leaves_no_file_and_a_good_one_reports_its_progress() {
    let above = TempDir::new().unwrap();
    let path = above.path().join("new");
    let entries = directory(100);
    let run = |entries: &[CheckedEntry], fail: bool| {
        let mut seen = Vec::new();
        let end = fail.then_some(Err(InputError));
        let load = BulkLoad {
            parts: parts(entries).chain(end),
            reader: EntryReader,
            options: &small(),
            progress: &mut |step| seen.push(step),
        };
        let result = load.into_new_store(&path, &options(), schema());
        (result.map(|(_, report)| report.entries), seen)
    };
    assert!(matches!(
        run(&entries, true).0,
        Err(LoadError::Source(InputError))
    ));
    assert!(!path.exists());
    assert!(matches!(
        run(&entries[1..], false).0,
        Err(LoadError::MissingParent { .. })
    ));
    assert!(!path.exists());
    let (result, seen) = run(&entries, false);
    assert_eq!(result.unwrap(), 104);
    let end = [
        LoadProgress::Entries(104),
        LoadProgress::Names,
        LoadProgress::Indexes,
        LoadProgress::Commit,
    ];
    assert!(seen.ends_with(&end), "{seen:?}");
    assert!(matches!(run(&entries, false).0, Err(LoadError::Create(_))));
    let store = Store::open(&path, &StoreOptions::default(), schema()).unwrap();
    assert_clean(&store);
}

/// Returns a unit with the number of its last change.
fn numbered(dn: &str, own: &str) -> CheckedEntry {
    let values = [("objectClass", "organizationalUnit"), ("entryCSN", own)];
    entry(&schema(), dn, &values)
}

#[test]
fn the_state_of_an_empty_store_follows_from_the_loaded_entries() {
    let csns = [
        "20260101000000.000001Z#000000#001#000000",
        "20260101000000.000009Z#000000#002#000000",
        "20260101000000.000005Z#000000#001#000000",
    ];
    let names = ["ou=1", "ou=2", "ou=3"].map(|rdn| format!("{rdn},dc=example,dc=com"));
    let mut entries = vec![suffix_entry(&schema())];
    entries.extend(names.iter().zip(csns).map(|(dn, csn)| numbered(dn, csn)));
    let made = create();
    load(&made.store, &small(), &entries).unwrap();
    let state = made.snapshot().unwrap().changes().unwrap();
    assert!(!state.is_pending);
    let vector: Vec<String> = state.vector.iter().map(|csn| csn.text()).collect();
    assert_eq!(vector, [csns[2], csns[1]]);
    assert_eq!(state.horizon, state.vector);
    let view = made.snapshot().unwrap();
    assert_eq!(view.vector_of_entries().unwrap(), state.vector);
}

#[test]
fn a_loaded_entry_may_tell_the_state_itself() {
    let csn = "20260101000000.000001Z#000000#001#000000";
    let told = "20260101000000.000007Z#000000#001#000000";
    let suffix = entry(
        &schema(),
        "dc=example,dc=com",
        &[("objectClass", "domain"), ("contextCSN", told)],
    );
    let made = create();
    load(
        &made.store,
        &small(),
        &[suffix, numbered("ou=1,dc=example,dc=com", csn)],
    )
    .unwrap();
    assert!(made.snapshot().unwrap().changes().unwrap().is_pending);
    made.settle_changes().unwrap();
    let state = made.snapshot().unwrap().changes().unwrap();
    let vector: Vec<String> = state.vector.iter().map(|csn| csn.text()).collect();
    assert_eq!((vector, state.is_pending), (vec![told.to_owned()], false));
}
