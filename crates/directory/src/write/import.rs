//! Entries of a bulk load: they keep their operational attributes and get the missing ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use fulgurite_schema::{
    AttributeIndex, CheckOptions, CheckedEntry, Dn, Entry, Schema, SchemaViolation,
};

use crate::core::clock::{Clock, Entropy, SystemEntropy, Timestamp};
use crate::core::csn::{Csn, CsnGenerator};
use crate::core::error::OpenError;
use crate::core::well_known_types::WellKnownTypes;
use crate::rights::computed::Computed;
use crate::write::stamp::Stamp;

/// Completes the entries of a file: adds missing operational attributes and checks the schema.
pub struct Importer {
    completer: Arc<EntryCompleter>,
    csn: CsnGenerator,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// The author of new entries.
#[derive(Clone, Debug)]
pub struct Author {
    /// The DN; empty for none.
    pub name: String,
    /// The number of the server in change sequence numbers.
    pub server_id: u16,
    /// True if the database records author, time and UUID of an entry (slapd's `lastmod`).
    pub last_mod: bool,
    /// The attributes that the database computes from groups. Values in a file are left out. Names
    /// that the schema lacks are ignored.
    pub computed: Vec<String>,
}

impl Default for Author {
    fn default() -> Author {
        Author {
            name: String::new(),
            server_id: 0,
            last_mod: true,
            computed: Vec::new(),
        }
    }
}

/// The stateless part of an [`Importer`], which threads share. The importer gives them stamps.
pub struct EntryCompleter {
    schema: Arc<Schema>,
    types: WellKnownTypes,
    by: String,
    last_mod: bool,
    computed: Vec<AttributeIndex>,
    /// The number of computed values that were left out.
    left_out: AtomicU64,
    /// The number of passwords that no scheme protects.
    clear_passwords: AtomicU64,
}

/// The stamps of new entries: a time, change sequence numbers, and randomness for their UUIDs.
#[derive(Debug)]
pub struct EntryStamps {
    time: Timestamp,
    first: Csn,
    used: u32,
    random: DrawnEntropy,
}

/// Randomness drawn in advance.
#[derive(Debug)]
struct DrawnEntropy {
    bytes: Vec<[u8; 16]>,
    next: AtomicUsize,
}

impl Entropy for DrawnEntropy {
    fn random(&self) -> [u8; 16] {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let drawn = self.bytes.get(next).copied();
        drawn.unwrap_or_else(|| SystemEntropy.random())
    }
}

impl Importer {
    /// Makes an importer of entries by `author`.
    ///
    /// # Errors
    /// [`OpenError::SchemaLacks`] for a schema without the operational attributes.
    pub fn new(
        schema: Arc<Schema>,
        author: &Author,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Importer, OpenError> {
        // The form for display, without the spaces of the configuration.
        let name = Dn::parse(&schema, &author.name);
        let computed = author.computed.iter();
        let computed = computed.filter_map(|name| Some(schema.attribute(name)?.index));
        let completer = EntryCompleter {
            computed: computed.collect(),
            left_out: AtomicU64::new(0),
            clear_passwords: AtomicU64::new(0),
            types: WellKnownTypes::of(&schema)?,
            by: name.map_or_else(|_| author.name.clone(), |name| name.pretty().to_owned()),
            last_mod: author.last_mod,
            schema,
        };
        Ok(Importer {
            completer: Arc::new(completer),
            csn: CsnGenerator::new(author.server_id),
            clock,
            entropy,
        })
    }

    /// Returns the part that completes entries on any thread.
    #[must_use]
    pub fn completer(&self) -> Arc<EntryCompleter> {
        Arc::clone(&self.completer)
    }

    /// Returns the number of values of attributes computed from groups that were left out.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.completer.left_out()
    }

    /// Returns stamps for `entries` entries, newer than all before.
    pub fn stamps(&mut self, entries: usize) -> EntryStamps {
        let time = self.clock.now();
        let bytes = self.entropy.draw(entries);
        debug_assert_eq!(bytes.len(), entries, "each entry has its randomness");
        EntryStamps {
            time,
            first: self
                .csn
                .reserve(time, u32::try_from(entries).unwrap_or(u32::MAX)),
            used: 0,
            random: DrawnEntropy {
                bytes,
                next: AtomicUsize::new(0),
            },
        }
    }

    /// Completes one entry.
    ///
    /// # Errors
    /// The first [`SchemaViolation`].
    pub fn complete(&mut self, entry: Entry) -> Result<CheckedEntry, SchemaViolation> {
        let checked = self.completer.checked(entry)?;
        Ok(self.stamped(checked))
    }

    /// Completes one entry without a check against the schema.
    pub fn complete_on_trust(&mut self, mut entry: Entry) -> CheckedEntry {
        self.completer.prepare(&mut entry);
        let checked = CheckedEntry::on_trust(entry, &self.completer.schema);
        self.stamped(checked)
    }

    fn stamped(&mut self, checked: CheckedEntry) -> CheckedEntry {
        let now = self.clock.now();
        let csn = self.csn.next(now);
        self.completer.stamped(checked, now, csn, &*self.entropy)
    }
}

impl EntryCompleter {
    /// Returns the number of values of attributes computed from groups that were left out.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Returns the number of passwords in clear among the values of `userPassword`.
    #[must_use]
    pub fn clear_passwords(&self) -> u64 {
        self.clear_passwords.load(Ordering::Relaxed)
    }

    /// Completes one entry.
    ///
    /// # Errors
    /// The first [`SchemaViolation`].
    pub fn complete(
        &self,
        entry: Entry,
        stamps: &mut EntryStamps,
    ) -> Result<CheckedEntry, SchemaViolation> {
        let checked = self.checked(entry)?;
        let csn = stamps.first.behind(stamps.used);
        stamps.used += 1;
        debug_assert!(
            stamps.used as usize <= stamps.random.bytes.len(),
            "each entry has a reserved number and drawn randomness"
        );
        Ok(self.stamped(checked, stamps.time, csn, &stamps.random))
    }

    fn checked(&self, mut entry: Entry) -> Result<CheckedEntry, SchemaViolation> {
        self.prepare(&mut entry);
        self.schema.check(entry, &CheckOptions::default())
    }

    fn prepare(&self, entry: &mut Entry) {
        // Exports of other servers contain attributes that this server computes.
        entry.attributes.retain(|held| {
            // The state of the database comes with its entries.
            let computed = Computed::of(&self.types, held.description.attribute);
            computed.is_none_or(|computed| computed == Computed::ContextCsn)
        });
        entry.attributes.retain(|held| {
            let is_computed = self.computed.contains(&held.description.attribute);
            if is_computed {
                let values = held.values.len() as u64;
                self.left_out.fetch_add(values, Ordering::Relaxed);
            }
            !is_computed
        });
        let passwords = entry.values(self.types.user_password.attribute);
        let in_clear = passwords.iter().filter(|value| !value.starts_with(b"{"));
        let in_clear = in_clear.count() as u64;
        if in_clear > 0 {
            self.clear_passwords.fetch_add(in_clear, Ordering::Relaxed);
        }
        for held in &mut entry.attributes {
            held.make_pretty(&self.schema);
        }
        entry.add_missing_rdn_values(&self.schema);
        debug_assert!(
            entry.attributes.iter().all(|held| !held.values.is_empty()),
            "an attribute has values"
        );
    }

    fn stamped(
        &self,
        mut checked: CheckedEntry,
        time: Timestamp,
        csn: Csn,
        entropy: &dyn Entropy,
    ) -> CheckedEntry {
        let stamp = Stamp {
            time,
            csn,
            by: &self.by,
            kept: self.last_mod,
        };
        stamp.create(&mut checked, &self.schema, &self.types, entropy, &[]);
        checked
    }
}

impl std::fmt::Debug for EntryCompleter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryCompleter")
            .field("by", &self.by)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Importer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Importer")
            .field("completer", &self.completer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::clock::SystemClock;
    use fulgurite_schema::{AttributeDescription, ViolationKind};

    fn importer(schema: &Arc<Schema>) -> Importer {
        importer_by(schema, "cn=loader")
    }

    fn importer_by(schema: &Arc<Schema>, by: &str) -> Importer {
        let name = by.to_owned();
        importer_of(
            schema,
            &Author {
                name,
                ..Author::default()
            },
        )
    }

    fn importer_of(schema: &Arc<Schema>, author: &Author) -> Importer {
        let (clock, entropy) = (SystemClock::default(), SystemEntropy);
        Importer::new(
            Arc::clone(schema),
            author,
            Arc::new(clock),
            Arc::new(entropy),
        )
        .expect("a complete schema")
    }

    fn entry(schema: &Schema, attributes: &[(&str, &str)]) -> Entry {
        let mut entry = Entry::new(Dn::parse(schema, "cn=x,dc=example").expect("a name"));
        for (name, value) in attributes {
            let description = schema.describe(name.as_bytes()).expect(name);
            entry.push(&description, value.as_bytes().to_vec());
        }
        entry
    }

    fn value(schema: &Schema, entry: &CheckedEntry, name: &str) -> String {
        let index = schema.attribute(name).expect(name).index;
        let values = entry.entry().values(index);
        assert_eq!(values.len(), 1, "{name}");
        String::from_utf8_lossy(&values[0]).into_owned()
    }

    #[test]
    fn no_stamp_is_made_where_none_is_recorded() {
        let schema = Schema::standard();
        let author = Author {
            name: "cn=loader".to_owned(),
            last_mod: false,
            ..Author::default()
        };
        let given = entry(
            &schema,
            &[
                ("objectClass", "person"),
                ("sn", "x"),
                ("createTimestamp", "19990101000000Z"),
            ],
        );
        let complete = importer_of(&schema, &author)
            .complete(given)
            .expect("a sound entry");
        assert_eq!(value(&schema, &complete, "structuralObjectClass"), "person");
        assert_eq!(
            value(&schema, &complete, "createTimestamp"),
            "19990101000000Z"
        );
        for name in ["entryUUID", "entryCSN", "creatorsName", "modifiersName"] {
            let index = schema.attribute(name).expect(name).index;
            assert!(complete.entry().values(index).is_empty(), "{name}");
        }
    }

    #[test]
    fn present_stamps_stay_and_missing_ones_are_made() {
        let schema = Schema::standard();
        let uuid = "11111111-2222-4333-8444-555555555555";
        let given = entry(
            &schema,
            &[
                ("objectClass", "person"),
                ("sn", "x"),
                ("entryUUID", uuid),
                ("createTimestamp", "19990101000000Z"),
                ("hasSubordinates", "TRUE"),
            ],
        );
        let complete = importer(&schema).complete(given).expect("a sound entry");
        for (name, expected) in [
            ("cn", "x"),
            ("entryUUID", uuid),
            ("createTimestamp", "19990101000000Z"),
            ("creatorsName", "cn=loader"),
            ("modifiersName", "cn=loader"),
            ("structuralObjectClass", "person"),
        ] {
            assert_eq!(value(&schema, &complete, name), expected);
        }
        assert_eq!(value(&schema, &complete, "entryCSN").len(), 40);
        assert_eq!(value(&schema, &complete, "modifyTimestamp").len(), 15);
        let computed = schema.attribute("hasSubordinates").expect("defined").index;
        let computed = AttributeDescription::plain(computed);
        assert_eq!(complete.entry().attribute(&computed), None);
    }

    #[test]
    fn values_that_the_database_computes_from_groups_are_left_out() {
        let schema = Schema::standard();
        let author = Author {
            computed: vec!["memberOf".to_owned(), "unknown".to_owned()],
            ..Author::default()
        };
        let mut importer = importer_of(&schema, &author);
        let groups = [
            ("objectClass", "person"),
            ("sn", "x"),
            ("memberOf", "cn=a"),
            ("memberOf", "cn=b"),
        ];
        for complete in [
            importer.complete(entry(&schema, &groups)).expect("sound"),
            importer.complete_on_trust(entry(&schema, &groups)),
        ] {
            let index = schema.attribute("memberOf").expect("defined").index;
            assert!(complete.entry().values(index).is_empty());
        }
        assert_eq!(importer.left_out(), 4);
    }

    #[test]
    fn passwords_in_clear_are_counted() {
        let schema = Schema::standard();
        let mut importer = importer_of(&schema, &Author::default());
        let person = [
            ("objectClass", "person"),
            ("sn", "x"),
            ("userPassword", "clear"),
            ("userPassword", "{SSHA}0000"),
        ];
        importer.complete(entry(&schema, &person)).expect("sound");
        importer.complete(entry(&schema, &person)).expect("sound");
        assert_eq!(importer.completer().clear_passwords(), 2);
    }

    #[test]
    fn a_load_without_a_root_has_no_author() {
        let schema = Schema::standard();
        let given = entry(&schema, &[("objectClass", "person"), ("sn", "x")]);
        let complete = importer_by(&schema, "")
            .complete(given)
            .expect("a sound entry");
        let mut spaced = importer_by(&schema, "CN=Loader, DC=Example");
        let given = entry(&schema, &[("objectClass", "person"), ("sn", "x")]);
        let checked = spaced.complete(given).expect("a sound entry");
        let by = value(&schema, &checked, "creatorsName");
        assert_eq!(by, "cn=Loader,dc=Example");
        for name in ["creatorsName", "modifiersName"] {
            let index = schema.attribute(name).expect(name).index;
            assert_eq!(complete.entry().values(index).len(), 0, "{name}");
        }
    }

    #[test]
    fn the_schema_is_checked() {
        let schema = Schema::standard();
        let mut importer = importer(&schema);
        let lacking = entry(&schema, &[("objectClass", "person")]);
        let violation = importer.complete(lacking).expect_err("sn is required");
        assert_eq!(violation.kind, ViolationKind::ObjectClass);
        let twice = [("objectClass", "person"), ("sn", "x"), ("sn", "X")];
        let violation = importer
            .complete(entry(&schema, &twice))
            .expect_err("twice");
        assert_eq!(violation.kind, ViolationKind::ValueExists);
    }
}
