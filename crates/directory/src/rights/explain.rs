//! What access rules say about an entry, and why: for administrators, offline.

use fulgurite_access::{Explanation, Part, Rights};
use fulgurite_schema::{AttributeDescription, Dn, DnError, Entry};
use fulgurite_store::{StoreError, View};
use thiserror::Error;

use crate::core::database::Database;
use crate::core::session::Session;
use crate::directory::{Directory, Place};
use crate::rights::facts::{EntryFacts, OwnFacts, Target};

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The entry as such.
    Entry,
    /// The set of its children.
    Children,
    /// An attribute, or one value of it.
    Attribute(AttributeDescription, Option<Vec<u8>>),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What was asked about.
    pub subject: Subject,
    /// `entry`, `children`, or the attribute as the schema names it.
    pub name: String,
    /// What may be done, and why.
    pub explanation: Explanation,
}

/// Why nothing can be said.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// The name of the entry is no name.
    #[error("{0:?}: {1}")]
    Name(String, DnError),
    /// No database has a suffix above it.
    #[error("no database for {0:?}")]
    NoDatabase(String),
    /// There is no such entry.
    #[error("no entry {0:?}")]
    NoEntry(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explained {
    /// Whether something may be done.
    #[must_use]
    pub fn allows(&self, wanted: Rights) -> bool {
        self.explanation.rights.allows(wanted)
    }
}

impl Directory {
    /// Says what a session may do to an entry, and why. Without subjects: to the entry, its children and each of its
    /// values in their order. With `unseen` the entry need not exist and is taken to be empty.
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn explain(
        &self,
        session: &Session,
        entry: &str,
        subjects: &[Subject],
        unseen: bool,
    ) -> Result<Vec<Explained>, ExplainError> {
        let dn = Dn::parse(&self.schema, entry)
            .map_err(|error| ExplainError::Name(entry.to_owned(), error))?;
        match self.place(&dn) {
            Place::In(database) => self.explain_stored(session, database, &dn, subjects, unseen),
            Place::RootDse => {
                Ok(self.explain_owned(session, &dn, &self.special.root_dse, subjects))
            }
            Place::Subschema => {
                Ok(self.explain_owned(session, &dn, &self.special.subschema, subjects))
            }
            Place::Tree(_) | Place::Nowhere => Err(ExplainError::NoDatabase(entry.to_owned())),
        }
    }

    fn explain_stored(
        &self,
        session: &Session,
        database: &Database,
        dn: &Dn,
        subjects: &[Subject],
        unseen: bool,
    ) -> Result<Vec<Explained>, ExplainError> {
        let view: View<'_> = database.store.snapshot()?;
        let decisions = database.decisions(session);
        let found = match view.find(dn)?.entry() {
            Some(id) if !unseen => view.entry(id)?,
            _ => None,
        };
        let Some(stored) = found else {
            if !unseen {
                return Err(ExplainError::NoEntry(dn.pretty().to_owned()));
            }
            let facts = EntryFacts::new(self, &view, Target::Missing);
            let rights = facts.rights(&decisions, dn.normal());
            let nothing = Entry::new(dn.clone());
            return Ok(self.answers(&nothing, subjects, |part, value| {
                rights.explain(part, value)
            }));
        };
        let facts = EntryFacts::new(self, &view, Target::Stored(stored));
        let rights = facts.rights(&decisions, dn.normal());
        let entry = stored.to_entry()?;
        Ok(self.answers(&entry, subjects, |part, value| rights.explain(part, value)))
    }

    fn explain_owned(
        &self,
        session: &Session,
        dn: &Dn,
        entry: &Entry,
        subjects: &[Subject],
    ) -> Vec<Explained> {
        let decisions = self.decisions(session);
        let facts = OwnFacts {
            directory: self,
            entry: Some(entry),
        };
        let rights = decisions.at(dn.normal(), &facts);
        self.answers(entry, subjects, |part, value| rights.explain(part, value))
    }

    fn answers(
        &self,
        entry: &Entry,
        subjects: &[Subject],
        ask: impl Fn(Part<'_>, Option<&[u8]>) -> Explanation,
    ) -> Vec<Explained> {
        let all = if subjects.is_empty() {
            everything(entry)
        } else {
            subjects.to_vec()
        };
        let answer = |subject: Subject| {
            let (name, explanation) = match &subject {
                Subject::Entry => ("entry".to_owned(), ask(Part::Entry, None)),
                Subject::Children => ("children".to_owned(), ask(Part::Children, None)),
                Subject::Attribute(description, value) => (
                    description.text(&self.schema).into_owned(),
                    ask(Part::Attribute(description), value.as_deref()),
                ),
            };
            Explained {
                subject,
                name,
                explanation,
            }
        };
        all.into_iter().map(answer).collect()
    }
}

fn everything(entry: &Entry) -> Vec<Subject> {
    let values = entry.attributes.iter().flat_map(|held| {
        let subject =
            |value: &Vec<u8>| Subject::Attribute(held.description.clone(), Some(value.clone()));
        held.values.iter().map(subject)
    });
    [Subject::Entry, Subject::Children]
        .into_iter()
        .chain(values)
        .collect()
}
