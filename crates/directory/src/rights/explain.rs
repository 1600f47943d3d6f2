//! The decisions of access rules about an entry, with their reasons, for administrators.

use fulgurite_access::{Explanation, Part, Rights};
use fulgurite_schema::{AttributeDescription, Dn, DnError, Entry};
use fulgurite_store::{StoreError, View};
use thiserror::Error;

use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::session::Session;
use crate::generated::namespace::{Generated, NamespaceTarget};
use crate::rights::facts::{EntryFacts, EntrySource, UnstoredFacts};

/// The part of an entry that a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplainTarget {
    /// The entry itself.
    Entry,
    /// The set of its children.
    Children,
    /// An attribute, or one value of it.
    Attribute(AttributeDescription, Option<Vec<u8>>),
}

/// The rights to one part of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightsExplanation {
    /// The part.
    pub target: ExplainTarget,
    /// `entry`, `children`, or the attribute as the schema names it.
    pub name: String,
    /// The rights, and the rules they come from.
    pub explanation: Explanation,
}

/// The reason why there is no explanation.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// The entry's name is not a DN.
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

impl RightsExplanation {
    /// Returns true if the rights are granted.
    #[must_use]
    pub fn allows(&self, wanted: Rights) -> bool {
        self.explanation.rights.allows(wanted)
    }
}

/// Explains the rights to one entry.
pub(crate) struct Explainer<'d> {
    pub(crate) core: &'d Core,
    pub(crate) generated: &'d Generated,
    /// The parts to explain; all parts if empty.
    pub(crate) targets: &'d [ExplainTarget],
    /// True if the entry need not exist.
    pub(crate) unseen: bool,
}

impl Explainer<'_> {
    pub(crate) fn explain(
        &self,
        session: &Session,
        entry: &str,
    ) -> Result<Vec<RightsExplanation>, ExplainError> {
        let dn = Dn::parse(&self.core.schema, entry)
            .map_err(|error| ExplainError::Name(entry.to_owned(), error))?;
        match self.generated.target(&self.core.databases, &dn) {
            NamespaceTarget::Database(database) => self.explain_stored(session, database, &dn),
            NamespaceTarget::RootDse => {
                Ok(self.explain_unstored(session, &dn, &self.generated.root_dse))
            }
            NamespaceTarget::Subschema => {
                Ok(self.explain_unstored(session, &dn, &self.generated.subschema))
            }
            NamespaceTarget::Tree(_) | NamespaceTarget::Outside => {
                Err(ExplainError::NoDatabase(entry.to_owned()))
            }
        }
    }

    fn explain_stored(
        &self,
        session: &Session,
        database: &Database,
        dn: &Dn,
    ) -> Result<Vec<RightsExplanation>, ExplainError> {
        let view: View<'_> = database.store.snapshot()?;
        let decisions = database.decisions(session);
        let found = match view.find(dn)?.entry() {
            Some(id) if !self.unseen => view.entry(id)?,
            _ => None,
        };
        let Some(stored) = found else {
            if !self.unseen {
                return Err(ExplainError::NoEntry(dn.pretty().to_owned()));
            }
            let facts = EntryFacts::new(self.core, &view, EntrySource::Missing);
            let rights = facts.rights(&decisions, dn.normal());
            let nothing = Entry::new(dn.clone());
            return Ok(self.answers(&nothing, |part, value| rights.explain(part, value)));
        };
        let facts = EntryFacts::new(self.core, &view, EntrySource::Stored(stored));
        let rights = facts.rights(&decisions, dn.normal());
        let entry = stored.to_entry()?;
        Ok(self.answers(&entry, |part, value| rights.explain(part, value)))
    }

    fn explain_unstored(
        &self,
        session: &Session,
        dn: &Dn,
        entry: &Entry,
    ) -> Vec<RightsExplanation> {
        let decisions = self.generated.decisions(session);
        let facts = UnstoredFacts::unstored(self.core, Some(entry));
        let rights = decisions.at(dn.normal(), &facts);
        self.answers(entry, |part, value| rights.explain(part, value))
    }

    fn answers(
        &self,
        entry: &Entry,
        ask: impl Fn(Part<'_>, Option<&[u8]>) -> Explanation,
    ) -> Vec<RightsExplanation> {
        let all = if self.targets.is_empty() {
            everything(entry)
        } else {
            self.targets.to_vec()
        };
        let answer = |target: ExplainTarget| {
            let (name, explanation) = match &target {
                ExplainTarget::Entry => ("entry".to_owned(), ask(Part::Entry, None)),
                ExplainTarget::Children => ("children".to_owned(), ask(Part::Children, None)),
                ExplainTarget::Attribute(description, value) => (
                    description.text(&self.core.schema).into_owned(),
                    ask(Part::Attribute(description), value.as_deref()),
                ),
            };
            RightsExplanation {
                target,
                name,
                explanation,
            }
        };
        all.into_iter().map(answer).collect()
    }
}

fn everything(entry: &Entry) -> Vec<ExplainTarget> {
    let values = entry.attributes.iter().flat_map(|held| {
        let subject = |value: &Vec<u8>| {
            ExplainTarget::Attribute(held.description.clone(), Some(value.clone()))
        };
        held.values.iter().map(subject)
    });
    [ExplainTarget::Entry, ExplainTarget::Children]
        .into_iter()
        .chain(values)
        .collect()
}
