//! Values of the extended operation that explains access rules.
//!
//! The operation is this server's; its OID is made of a UUID (ITU-T X.667).
//!
//! ```text
//! request   SEQUENCE { entry LDAPDN, subject LDAPDN, parts SEQUENCE OF LDAPString,
//!               given [0] SEQUENCE OF LDAPString OPTIONAL }
//! response  SEQUENCE OF SEQUENCE { part, rights, allowed LDAPString, root BOOLEAN,
//!               steps SEQUENCE OF SEQUENCE { rule INTEGER, origin, target, by, outcome LDAPString },
//!               withheld [0] NULL OPTIONAL }
//! ```

use fulgurite_ber::{Reader, Tag, Writer};

use crate::Fault;

/// The parts that one request may ask about, and the facts that it may state.
const PARTS_MAX: usize = 64;
const GIVEN_MAX: usize = 16;

/// The tag of the stated facts in a request, and of the mark of a part without an answer.
const GIVEN: Tag = Tag::context(0).constructed();
const WITHHELD: Tag = Tag::context(0);

/// A question: which rights has the subject to parts of an entry?
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessQuery<'a> {
    /// The name of the entry.
    pub entry: &'a [u8],
    /// The name of the requester to ask about; empty for a client without identity.
    pub subject: &'a [u8],
    /// `entry`, `children`, or names of attributes.
    pub parts: Vec<&'a [u8]>,
    /// Facts about the subject's connection, such as `peername=IP=192.0.2.1:9` and `ssf=256`.
    pub given: Vec<&'a [u8]>,
}

/// The rights to one part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartAccess {
    /// `entry`, `children`, or the name of the attribute.
    pub part: String,
    /// The rights as access rules write them.
    pub rights: String,
    /// The kinds of access that they allow, separated by blanks.
    pub allowed: String,
    /// True if the subject is the root, whom no rule holds.
    pub is_root: bool,
    /// The clauses on the way, up to the one that decided.
    pub steps: Vec<AccessStep>,
    /// True if there is no answer, because rules look at what the asker may not read.
    pub is_withheld: bool,
}

/// One clause of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessStep {
    /// The number of the rule in its list; 0 for what holds without rules.
    pub rule: u64,
    /// The origin of the rule.
    pub origin: String,
    /// `to ...`
    pub target: String,
    /// `by ...`
    pub by: String,
    /// The rights after the clause; empty if it does not match.
    pub outcome: String,
}

impl<'a> AccessQuery<'a> {
    /// Decodes a request value.
    ///
    /// # Errors
    /// A [`Fault`] for anything else, and for too many parts.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let entry = reader.octet_string()?;
        let subject = reader.octet_string()?;
        let parts = texts(reader.nested(Tag::SEQUENCE)?, ("parts", PARTS_MAX))?;
        let given = match reader.peek() {
            Some(tag) if tag == GIVEN => texts(reader.nested(GIVEN)?, ("facts", GIVEN_MAX))?,
            _ => Vec::new(),
        };
        reader.skip_extensions()?;
        Ok(AccessQuery {
            entry,
            subject,
            parts,
            given,
        })
    }

    /// Returns the request value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.octet_string(self.entry);
            writer.octet_string(self.subject);
            writer.container(Tag::SEQUENCE, |writer| {
                self.parts.iter().for_each(|part| writer.octet_string(part));
            });
            if !self.given.is_empty() {
                writer.container(GIVEN, |writer| {
                    self.given.iter().for_each(|fact| writer.octet_string(fact));
                });
            }
        });
        out
    }
}

/// Reads the texts of a list, up to a number.
fn texts<'a>(
    mut list: Reader<'a>,
    (what, max): (&'static str, usize),
) -> Result<Vec<&'a [u8]>, Fault> {
    let mut texts = Vec::new();
    while !list.is_empty() {
        if texts.len() >= max {
            let value = i64::try_from(texts.len() + 1).unwrap_or(i64::MAX);
            return Err(Fault::OutOfRange { what, value });
        }
        texts.push(list.octet_string()?);
    }
    Ok(texts)
}

/// Returns the value of a response.
#[must_use]
pub fn encode_access(parts: &[PartAccess]) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
        for part in parts {
            writer.container(Tag::SEQUENCE, |writer| {
                for text in [&part.part, &part.rights, &part.allowed] {
                    writer.octet_string(text.as_bytes());
                }
                writer.boolean(part.is_root);
                writer.container(Tag::SEQUENCE, |writer| {
                    part.steps.iter().for_each(|step| step.write(writer));
                });
                if part.is_withheld {
                    writer.primitive(WITHHELD, &[]);
                }
            });
        }
    });
    out
}

/// Decodes the value of a response.
///
/// # Errors
/// A [`Fault`] for anything else.
pub fn decode_access(value: &[u8]) -> Result<Vec<PartAccess>, Fault> {
    let mut outside = Reader::new(value);
    let mut list = outside.nested(Tag::SEQUENCE)?;
    outside.end()?;
    let mut parts = Vec::new();
    while !list.is_empty() {
        let mut reader = list.nested(Tag::SEQUENCE)?;
        let (part, rights, allowed) = (text(&mut reader)?, text(&mut reader)?, text(&mut reader)?);
        let is_root = reader.boolean()?;
        let mut list = reader.nested(Tag::SEQUENCE)?;
        let is_withheld = reader.optional(WITHHELD)?.is_some();
        reader.skip_extensions()?;
        let mut steps = Vec::new();
        while !list.is_empty() {
            steps.push(AccessStep::read(&mut list)?);
        }
        parts.push(PartAccess {
            part,
            rights,
            allowed,
            is_root,
            steps,
            is_withheld,
        });
    }
    Ok(parts)
}

fn text(reader: &mut Reader<'_>) -> Result<String, Fault> {
    Ok(String::from_utf8_lossy(reader.octet_string()?).into_owned())
}

impl AccessStep {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.container(Tag::SEQUENCE, |writer| {
            writer.integer(i64::try_from(self.rule).unwrap_or(i64::MAX));
            for text in [&self.origin, &self.target, &self.by, &self.outcome] {
                writer.octet_string(text.as_bytes());
            }
        });
    }

    fn read(list: &mut Reader<'_>) -> Result<AccessStep, Fault> {
        let mut reader = list.nested(Tag::SEQUENCE)?;
        let rule = reader.integer()?;
        let step = AccessStep {
            rule: u64::try_from(rule).unwrap_or(0),
            origin: text(&mut reader)?,
            target: text(&mut reader)?,
            by: text(&mut reader)?,
            outcome: text(&mut reader)?,
        };
        reader.skip_extensions()?;
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back() {
        let query = AccessQuery {
            entry: b"uid=bjorn,dc=com",
            subject: b"",
            parts: vec![b"title", b"entry"],
            given: vec![b"ssf=256"],
        };
        assert_eq!(AccessQuery::decode(&query.encode()), Ok(query));
        let step = AccessStep {
            rule: 2,
            origin: "slapd.conf, line 7".to_owned(),
            target: "to *".to_owned(),
            by: "by self write".to_owned(),
            outcome: "=wrscxd".to_owned(),
        };
        let parts = vec![
            PartAccess {
                part: "title".to_owned(),
                rights: "write(=wrscxd)".to_owned(),
                allowed: "read write".to_owned(),
                is_root: false,
                steps: vec![step.clone(), step],
                is_withheld: false,
            },
            PartAccess {
                is_withheld: true,
                ..PartAccess::default()
            },
            PartAccess {
                is_root: true,
                ..PartAccess::default()
            },
        ];
        let value = encode_access(&parts);
        assert_eq!(decode_access(&value), Ok(parts));
        // A value that ends early is an error, never a panic.
        for len in 0..value.len() {
            assert!(decode_access(&value[..len]).is_err());
        }
    }

    #[test]
    fn a_request_has_few_parts() {
        let query = |count| AccessQuery {
            parts: vec![b"cn"; count],
            ..AccessQuery::default()
        };
        assert!(AccessQuery::decode(&query(PARTS_MAX).encode()).is_ok());
        assert!(AccessQuery::decode(&query(PARTS_MAX + 1).encode()).is_err());
        let stating = |count| AccessQuery {
            given: vec![b"ssf=1"; count],
            ..AccessQuery::default()
        };
        assert!(AccessQuery::decode(&stating(GIVEN_MAX).encode()).is_ok());
        assert!(AccessQuery::decode(&stating(GIVEN_MAX + 1).encode()).is_err());
    }
}
