//! Whole entries of an LDIF, to be added as they are.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context as _, bail};
use fulgurite_ldap::{AddRequest, PartialAttribute};
use fulgurite_ldif::{Action, Reader};

/// An entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    dn: String,
    attributes: Vec<(String, Vec<Vec<u8>>)>,
}

/// Reads all entries of a file.
/// # Errors
/// Fails if the file is no LDIF of entries.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Record>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(BufReader::new(file)).with_context(|| path.display().to_string())
}

fn parse(ldif: impl BufRead) -> anyhow::Result<Vec<Record>> {
    let mut reader = Reader::new(ldif);
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        let (Action::Content(lines) | Action::Add(lines)) = record.action() else {
            bail!("line {}: a change, not an entry", record.line());
        };
        let mut attributes: Vec<(String, Vec<Vec<u8>>)> = Vec::new();
        for line in lines {
            let value = line.value.to_vec();
            let name = line.description;
            let known = attributes
                .iter_mut()
                .find(|(one, _)| one.eq_ignore_ascii_case(name));
            match known {
                Some((_, values)) => values.push(value),
                None => attributes.push((name.to_owned(), vec![value])),
            }
        }
        let dn = record.dn().to_owned();
        records.push(Record { dn, attributes });
    }
    Ok(records)
}

impl Record {
    /// Gives the request that adds the entry to `take`.
    pub(crate) fn with_request(&self, take: impl FnOnce(AddRequest<'_>)) {
        let attributes = self.attributes.iter();
        let slices: Vec<(&str, Vec<&[u8]>)> = attributes
            .map(|(name, values)| (name.as_str(), values.iter().map(Vec::as_slice).collect()))
            .collect();
        let attributes = slices.iter();
        take(AddRequest {
            dn: self.dn.as_bytes(),
            attributes: attributes
                .map(|(name, values)| PartialAttribute::new(name, values))
                .collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_whole() {
        let ldif = "dn: uid=1,dc=x\nobjectClass: top\nobjectClass: person\nuid: 1\nsn:: w6Q=\n\n\
                    dn: uid=2,dc=x\nuid: 2\n";
        let records = parse(ldif.as_bytes()).expect("entries");
        let names: Vec<&str> = records.iter().map(|one| one.dn.as_str()).collect();
        assert_eq!(names, ["uid=1,dc=x", "uid=2,dc=x"]);
        let first = &records[0].attributes;
        assert_eq!(first[0].1, [b"top".to_vec(), b"person".to_vec()]);
        assert_eq!(first[2], ("sn".to_owned(), vec![vec![0xc3, 0xa4]]));
        records[0].with_request(|request| {
            assert_eq!(request.dn, b"uid=1,dc=x");
            assert_eq!(request.attributes.len(), 3);
        });
    }

    #[test]
    fn changes_are_refused() {
        let ldif = "dn: uid=1,dc=x\nchangetype: delete\n";
        assert!(parse(ldif.as_bytes()).is_err());
    }
}
