//! Loads invented people into a new store, and measures the load, look-ups and a scan.
//!
//! `cargo run --release -p fulgurite-store --example load_rate -- 1000000 /tmp/load-rate`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fulgurite_schema::{
    Assertion, AttributeDescription, AttributeSelector, CheckOptions, CheckedEntry, Dn, Entry,
    Filter, Schema,
};
use fulgurite_store::{
    BulkLoad, DnCache, EntryId, EntryReader, LoadOptions, LoadProgress, Scope, Store, StoreOptions,
    View, compile_filter,
};

const SUFFIX: &str = "dc=example,dc=com";
/// Entries of a part.
const PART_LEN: usize = 256;
const PEOPLE: &str = "ou=people,dc=example,dc=com";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let dir = arguments
        .next()
        .map_or_else(|| PathBuf::from("load-rate"), PathBuf::from);
    let schema = Schema::standard();
    let store = load(&dir, &schema, count)?;
    let view = store.snapshot()?;
    let base = view
        .find(&Dn::parse(&schema, PEOPLE)?)?
        .entry()
        .ok_or("no people")?;
    search(&view, base, count)?;
    scan(&view, base)?;
    let memory = std::fs::read_to_string("/proc/self/status")?;
    println!(
        "{}",
        memory
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap_or_default()
    );
    Ok(())
}

fn load(dir: &Path, schema: &Arc<Schema>, count: usize) -> Result<Store, Failure> {
    let people = People::new(schema)?;
    let options = StoreOptions {
        suffixes: vec![SUFFIX.to_owned()],
        ..StoreOptions::default()
    };
    let start = Instant::now();
    let mut phases = |progress| {
        if !matches!(progress, LoadProgress::Entries(_)) {
            println!("{:8.2} s  {progress:?}", start.elapsed().as_secs_f64());
        }
    };
    let starts = (0..count + 2).step_by(PART_LEN);
    let parts = starts.map(|start| -> Result<Vec<(CheckedEntry, u64)>, String> {
        let numbers = start..(start + PART_LEN).min(count + 2);
        let entries = numbers.map(|number| Ok((people.entry(number)?, number as u64)));
        entries
            .collect::<Result<_, Failure>>()
            .map_err(|error| error.to_string())
    });
    let load = BulkLoad {
        parts,
        reader: EntryReader,
        options: &LoadOptions::default(),
        progress: &mut phases,
    };
    let (store, report) = load
        .into_new_store(dir, &options, Arc::clone(schema))
        .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} entries in {seconds:.2} s: {:.0}/s",
        report.entries,
        report.entries as f64 / seconds
    );
    Ok(store)
}

fn search(view: &View<'_>, base: EntryId, count: usize) -> Result<(), Failure> {
    const SEARCHES: usize = 200_000;
    let uid = view.schema().describe(b"uid")?;
    let rule = view
        .schema()
        .attribute_at(uid.attribute)
        .equality
        .ok_or("uid has no rule")?;
    let (mut cache, mut name, mut octets) = (DnCache::new(), String::new(), 0);
    let start = Instant::now();
    for number in 0..SEARCHES {
        let normal = format!("user{}", 2 + number * 7919 % count)
            .into_bytes()
            .into();
        let filter = Filter::Equality(Assertion {
            attribute: uid.clone(),
            rule,
            normal,
        });
        let mut candidates = view.plan(base, Scope::Subtree, &filter)?;
        while let Some(entry) = candidates.next_entry(view)? {
            name.clear();
            entry.write_dn(&mut cache, &mut name)?;
            octets += name.len()
                + entry
                    .attributes()
                    .flat_map(|a| a.values)
                    .map(<[u8]>::len)
                    .sum::<usize>();
        }
    }
    println!(
        "uid search: {} ns, {octets} octets",
        start.elapsed().as_nanos() / SEARCHES as u128
    );
    Ok(())
}

fn scan(view: &View<'_>, base: EntryId) -> Result<(), Failure> {
    let filter: Filter<AttributeSelector> =
        Filter::Present(view.schema().describe(b"description")?);
    let start = Instant::now();
    let mut candidates = view.plan(base, Scope::Subtree, &filter)?;
    let filter = compile_filter(view, filter);
    let mut found = 0;
    while let Some(entry) = candidates.next_entry(view)? {
        found += usize::from(filter.test(view.schema(), &entry).is_true());
    }
    println!(
        "scan: {} ns per entry, {found} found",
        start.elapsed().as_nanos() / found.max(1) as u128
    );
    Ok(())
}

/// Makes the suffix, the container, and people, by number.
struct People<'s> {
    schema: &'s Schema,
    descriptions: Vec<AttributeDescription>,
}

const ATTRIBUTES: [&str; 12] = [
    "objectClass",
    "cn",
    "sn",
    "givenName",
    "mail",
    "uidNumber",
    "gidNumber",
    "homeDirectory",
    "entryUUID",
    "entryCSN",
    "createTimestamp",
    "description",
];
const GIVEN: [&str; 8] = [
    "Anna", "Bernd", "Carla", "Dieter", "Eva", "Franz", "Gerda", "Hans",
];

impl<'s> People<'s> {
    fn new(schema: &'s Schema) -> Result<People<'s>, Failure> {
        let descriptions = ATTRIBUTES
            .iter()
            .map(|name| schema.describe(name.as_bytes()));
        Ok(People {
            schema,
            descriptions: descriptions.collect::<Result<_, _>>()?,
        })
    }

    fn entry(&self, number: usize) -> Result<CheckedEntry, Failure> {
        let (name, mut values) = match number {
            0 => (
                SUFFIX.to_owned(),
                vec![("objectClass", "domain".to_owned())],
            ),
            1 => (
                PEOPLE.to_owned(),
                vec![("objectClass", "organizationalUnit".to_owned())],
            ),
            _ => (format!("uid=user{number},{PEOPLE}"), person(number)),
        };
        values.push((
            "entryUUID",
            format!("{number:08x}-0000-4000-8000-{:012x}", number * 31),
        ));
        let micros = number % 1_000_000;
        values.push((
            "entryCSN",
            format!("20260101000000.{micros:06}Z#000000#000#000000"),
        ));
        values.push(("createTimestamp", "20260101000000Z".to_owned()));
        values.push(("description", format!("entry number {number}")));
        let mut entry = Entry::new(Dn::parse(self.schema, &name)?);
        for (attribute, value) in values {
            let known = ATTRIBUTES
                .iter()
                .zip(&self.descriptions)
                .find(|(name, _)| **name == attribute);
            entry.push(known.ok_or(attribute)?.1, value.into_bytes());
        }
        entry.add_missing_rdn_values(self.schema);
        Ok(self.schema.check(entry, &CheckOptions::default())?)
    }
}

fn person(number: usize) -> Vec<(&'static str, String)> {
    let given = GIVEN[number % GIVEN.len()];
    let family = format!("Family{}", number * 7919 % 5000);
    vec![
        ("objectClass", "inetOrgPerson".to_owned()),
        ("objectClass", "posixAccount".to_owned()),
        ("cn", format!("{given} {family}")),
        ("mail", format!("{given}.{family}.{number}@example.com")),
        ("sn", family),
        ("givenName", given.to_owned()),
        ("uidNumber", number.to_string()),
        ("gidNumber", "100".to_owned()),
        ("homeDirectory", format!("/home/user{number}")),
    ]
}
