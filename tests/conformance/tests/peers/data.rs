//! The data of both servers, and what the questions need to know of it.

use std::fs;
use std::path::{Path, PathBuf};

use fulgurite_directory_tools::{GenerateOptions, generate};
use fulgurite_ldif::{Action, Reader};
use fulgurite_testkit::{Random, Scratch};

/// The name at the top.
pub(crate) const SUFFIX: &str = "dc=example,dc=org";

/// An ordinary user of the example organisation.
pub(crate) const USER_DN: &str = "uid=ada,ou=Engineering,ou=People,dc=example,dc=org";

/// Their password.
pub(crate) const USER_PASSWORD: &str = "ada-demo";

/// The example organisation, with the invented directory as one of its units.
pub(crate) struct Data {
    file: PathBuf,
    entries: Vec<Entry>,
}

/// One entry as loaded.
pub(crate) struct Entry {
    pub(crate) dn: String,
    pub(crate) values: Vec<(String, Vec<u8>)>,
}

impl Data {
    pub(crate) fn make(scratch: &Scratch, users: u64, seed: u64) -> Self {
        let harbour = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/harbour.ldif");
        let mut text = fs::read(harbour).expect("the example organisation");
        text.push(b'\n');
        let suffix = format!("ou=Generated,{SUFFIX}");
        let options = GenerateOptions {
            users,
            seed,
            suffix,
            hash: true,
            ..GenerateOptions::default()
        };
        generate(&options, &mut text).expect("generate users");
        let file = scratch.join("data.ldif");
        fs::write(&file, &text).expect("write the data");
        Self {
            file,
            entries: read(&text),
        }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Any entry; of the example organisation, which is more varied, half the time.
    pub(crate) fn any(&self, random: &mut Random) -> &Entry {
        let varied = 54.min(self.entries.len());
        let bound = if random.below(2) == 0 {
            varied
        } else {
            self.entries.len()
        };
        &self.entries[random.below(bound)]
    }

    /// Any entry but the referral object, which clients without a special control do not reach.
    pub(crate) fn ordinary(&self, random: &mut Random) -> &Entry {
        let entry = self.any(random);
        if entry.dn.starts_with("ou=Suppliers") {
            &self.entries[0]
        } else {
            entry
        }
    }

    /// Any value of that attribute.
    pub(crate) fn value_of(&self, attribute: &str, random: &mut Random) -> Option<&[u8]> {
        let start = random.below(self.entries.len());
        let (before, after) = self.entries.split_at(start);
        after.iter().chain(before).find_map(|entry| {
            let mut values = entry
                .values
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case(attribute));
            values.next().map(|(_, value)| value.as_slice())
        })
    }
}

fn read(text: &[u8]) -> Vec<Entry> {
    let mut reader = Reader::new(text);
    let mut entries = Vec::new();
    while let Some(record) = reader.next_record().expect("our own LDIF") {
        if let Action::Content(attributes) = record.action() {
            let values = attributes
                .map(|one| (one.description.to_owned(), one.value.to_vec()))
                .collect();
            entries.push(Entry {
                dn: record.dn().to_owned(),
                values,
            });
        }
    }
    entries
}
