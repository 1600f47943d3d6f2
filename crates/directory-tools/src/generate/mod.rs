//! An invented directory as LDIF: deterministic, so that tests and benchmarks use the same entries
//! everywhere.
//!
//! ```text
//!   <suffix>
//!   ├── ou=people    uid=user.1 ... uid=user.N   people with an account, linked to their managers
//!   └── ou=groups    cn=group.1 ...              groupOfNames with members among them
//!                    cn=<department> ...         posixGroup with memberUid
//! ```
//! User n follows from the seed and n alone: a larger directory begins like a smaller one.

mod groups;
mod options;
mod person;
mod random;
mod words;

use std::io::{self, Write};

use fulgurite_ldif::Writer;

pub use options::GenerateOptions;

/// Why nothing was generated, or not all.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A suffix that no entry can be invented for.
    #[error("no entry can be made for the suffix \"{0}\": it has to begin with dc=, o= or ou=")]
    Suffix(String),
    /// The output failed.
    #[error("cannot write the generated LDIF: {0}")]
    Write(#[from] io::Error),
}

/// Writes the directory to `output`, parents before children, and returns the number of entries.
///
/// Cost: about a microsecond and 900 bytes per user, constant memory. Buffer the output.
///
/// # Errors
/// [`GenerateError::Suffix`] before anything is written, [`GenerateError::Write`] from the output.
pub fn generate(options: &GenerateOptions, output: impl Write) -> Result<u64, GenerateError> {
    let top = SuffixEntry::of(&options.suffix)
        .ok_or_else(|| GenerateError::Suffix(options.suffix.clone()))?;
    let mut writer = Writer::new(output);
    top.write(&options.suffix, &mut writer)?;
    for unit in ["people", "groups"] {
        writer.name(&format!("ou={unit},{}", options.suffix))?;
        writer.value("objectClass", b"organizationalUnit")?;
        writer.value("ou", unit.as_bytes())?;
        writer.end()?;
    }
    let mut people = person::People::new(options);
    for number in 1..=options.users {
        people.write(number, &mut writer)?;
    }
    let groups = groups::write(options, &mut writer)?;
    writer.into_inner()?;
    Ok(3 + options.users + groups)
}

/// The entry of the suffix: what its first RDN makes of it.
struct SuffixEntry<'s> {
    attribute: &'s str,
    value: &'s str,
}

impl<'s> SuffixEntry<'s> {
    fn of(suffix: &'s str) -> Option<Self> {
        let (attribute, rest) = suffix.split_once('=')?;
        let value = rest.split(',').next()?;
        let known = ["dc", "o", "ou"]
            .iter()
            .any(|name| attribute.eq_ignore_ascii_case(name));
        let plain = !value.is_empty() && !value.contains(['\\', '"', '+', '#', ';']);
        (known && plain).then_some(Self { attribute, value })
    }

    fn write<W: Write>(&self, suffix: &str, writer: &mut Writer<W>) -> io::Result<()> {
        writer.name(suffix)?;
        match self.attribute.to_ascii_lowercase().as_str() {
            "ou" => writer.value("objectClass", b"organizationalUnit")?,
            "o" => writer.value("objectClass", b"organization")?,
            _ => {
                writer.value("objectClass", b"organization")?;
                writer.value("objectClass", b"dcObject")?;
                writer.value("o", b"Invented Works")?;
            }
        }
        writer.value(self.attribute, self.value.as_bytes())?;
        writer.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(options: &GenerateOptions) -> String {
        let mut out = Vec::new();
        generate(options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_everywhere() {
        let options = GenerateOptions {
            users: 200,
            ..GenerateOptions::default()
        };
        let all = text(&options);
        assert_eq!(all, text(&options));
        assert_ne!(all, text(&GenerateOptions { seed: 2, ..options }));
        // Not the same on this machine only: the sum was made once and is kept here.
        let sum = all.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        assert_eq!(
            sum, 0x7e93_751e_f44e_903d,
            "FNV-1a of the text: {sum:#018x}"
        );
    }

    #[test]
    fn a_user_does_not_depend_on_their_number() {
        let small = text(&GenerateOptions {
            users: 30,
            groups: Some(0),
            ..GenerateOptions::default()
        });
        let large = text(&GenerateOptions {
            users: 60,
            groups: Some(0),
            ..GenerateOptions::default()
        });
        let users = |text: &str| {
            let records = text
                .split("\n\n")
                .filter(|record| record.starts_with("dn: uid="));
            records.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(users(&small).len(), 30);
        assert_eq!(users(&small)[..], users(&large)[..30]);
    }

    #[test]
    fn counts_and_reads_back() {
        let options = GenerateOptions {
            users: 150,
            groups: Some(4),
            hash: true,
            ..GenerateOptions::default()
        };
        let mut out = Vec::new();
        let entries = generate(&options, &mut out).unwrap();
        let mut reader = fulgurite_ldif::Reader::new(&out[..]);
        let mut read = 0;
        let mut names = std::collections::HashSet::new();
        while let Some(record) = reader.next_record().unwrap() {
            read += 1;
            let parent = record
                .dn()
                .split_once(',')
                .map(|(_, parent)| parent.to_owned());
            assert!(
                read == 1 || parent.is_some_and(|parent| names.contains(&parent)),
                "{}",
                record.dn()
            );
            assert!(
                names.insert(record.dn().to_owned()),
                "{} twice",
                record.dn()
            );
        }
        assert_eq!(read, entries);
        assert!(
            !out.windows(4).any(|window| window == b"pw.1"),
            "hashed passwords only"
        );
    }

    #[test]
    fn the_top_entry_fits_the_suffix() {
        let with = |suffix: &str| GenerateOptions {
            users: 1,
            suffix: suffix.into(),
            ..GenerateOptions::default()
        };
        assert!(
            text(&with("o=Works"))
                .starts_with("dn: o=Works\nobjectClass: organization\no: Works\n")
        );
        assert!(text(&with("ou=a,o=b")).contains("objectClass: organizationalUnit\nou: a\n"));
        assert!(text(&with("dc=corp,dc=test")).contains("mail: user.1@corp.test"));
        for wrong in ["cn=x", "", "dc", "dc=", "dc=a\\,b"] {
            let error = generate(&with(wrong), io::sink()).unwrap_err();
            assert!(error.to_string().contains("has to begin with"), "{wrong}");
        }
    }
}
