//! The decisions of access rules about an entry, with their reasons, for administrators.

use fulgurite_access::{Decisions, Explanation, Facts, Part, Rights};
use fulgurite_schema::{AttributeDescription, Dn, DnError, Entry};
use fulgurite_store::{StoreError, View};
use thiserror::Error;

use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::session::Session;
use crate::generated::namespace::{Generated, NamespaceTarget};
use crate::rights::facts::{EntryFacts, EntrySource, UnstoredFacts};
use crate::rights::watched_facts::{Asker, WatchedFacts};

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
    /// True if the asker may not know them. Then there are no rights and no rules here.
    pub is_withheld: bool,
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
    /// The one who gets the answer; `None` for one who may know everything.
    pub(crate) asker: Option<Asker<'d>>,
}

/// The clause that is shown in place of one that names an entry which the asker may not see.
const HIDDEN_CLAUSE: &str = "by (an entry that you may not see)";

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
                Ok(self.explain_unstored(session, &self.generated.root_dse))
            }
            NamespaceTarget::Subschema => {
                Ok(self.explain_unstored(session, &self.generated.subschema))
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
        let decisions = || database.decisions(session);
        let found = match view.find(dn)?.entry() {
            Some(id) if !self.unseen => view.entry(id)?,
            _ => None,
        };
        let Some(stored) = found else {
            if !self.unseen {
                return Err(ExplainError::NoEntry(dn.pretty().to_owned()));
            }
            let facts = EntryFacts::new(self.core, &view, EntrySource::Missing);
            return Ok(self.answers(&Entry::new(dn.clone()), &facts, decisions));
        };
        let facts = EntryFacts::new(self.core, &view, EntrySource::Stored(stored));
        Ok(self.answers(&stored.to_entry()?, &facts, decisions))
    }

    fn explain_unstored(&self, session: &Session, entry: &Entry) -> Vec<RightsExplanation> {
        let facts = UnstoredFacts::unstored(self.core, Some(entry));
        self.answers(entry, &facts, || self.generated.decisions(session))
    }

    /// Explains the parts of an entry. Each has its own decisions, because those remember groups,
    /// and each part must look at what it depends on.
    fn answers<'r>(
        &self,
        entry: &Entry,
        facts: &dyn Facts,
        decisions: impl Fn() -> Decisions<'r>,
    ) -> Vec<RightsExplanation> {
        let all = if self.targets.is_empty() {
            everything(entry)
        } else {
            self.targets.to_vec()
        };
        let answer = |target: ExplainTarget| {
            let watched = WatchedFacts::new(facts);
            let decisions = decisions();
            let rights = decisions.at(entry.dn.normal(), &watched);
            let (name, explanation) = match &target {
                ExplainTarget::Entry => ("entry".to_owned(), rights.explain(Part::Entry, None)),
                ExplainTarget::Children => {
                    ("children".to_owned(), rights.explain(Part::Children, None))
                }
                ExplainTarget::Attribute(description, value) => (
                    description.text(&self.core.schema).into_owned(),
                    rights.explain(Part::Attribute(description), value.as_deref()),
                ),
            };
            let answer = RightsExplanation {
                target,
                name,
                explanation,
                is_withheld: false,
            };
            match self.asker {
                Some(asker) => answer.told_to(asker, watched.is_known_to(asker, entry.dn.normal())),
                None => answer,
            }
        };
        all.into_iter().map(answer).collect()
    }
}

impl RightsExplanation {
    /// Returns the answer without what the asker may not know.
    fn told_to(mut self, asker: Asker<'_>, is_known: bool) -> RightsExplanation {
        if !is_known {
            self.is_withheld = true;
            self.explanation.rights = Rights::NONE;
            self.explanation.is_level = false;
            self.explanation.steps.clear();
        }
        for step in &mut self.explanation.steps {
            if !step.names.iter().all(|name| asker.may_see(name)) {
                HIDDEN_CLAUSE.clone_into(&mut step.by);
                step.names.clear();
            }
        }
        self
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
