//! From rules and a requester to rights. Work that does not depend on the entry is done once per
//! operation.
//!
//! ```text
//!   once per operation   which clauses match the requester: no, yes, it depends
//!   once per entry       which rules' names contain the entry: one bit each; the same bits mean the same decisions ...
//!   once per attribute   ... which are stored, unless a clause has looked at the entry
//! ```

use std::cell::RefCell;

use fulgurite_schema::{AttributeDescription, AttributeIndex};

use crate::context::{EntryContext, EntryKind, RULES_IN_KIND, SubjectContext};
use crate::evaluate::{Evaluation, NoTrace};
use crate::facts::{Facts, NoFacts};
use crate::requester::Requester;
use crate::rights::Rights;
use crate::rule::{Identity, Part};
use crate::rules::Rules;
use crate::subject::MatchResult;
use crate::uniform_rights::UniformRights;

/// Number of entry kinds whose rights are stored.
const KINDS_MAX: usize = 64;

/// The rules as they apply to one requester.
#[derive(Debug)]
pub struct Decisions<'r> {
    pub(crate) context: SubjectContext<'r>,
    /// All rights, if they are the same for every entry and every requester that these clauses
    /// match.
    uniform: Option<&'r UniformRights>,
    root: bool,
    stored: RefCell<Vec<KindRights>>,
}

/// Rights that entries of one kind have in common.
#[derive(Debug)]
struct KindRights {
    kind: EntryKind,
    entry: Option<Rights>,
    children: Option<Rights>,
    /// By number of the attribute type.
    attributes: Vec<Option<Rights>>,
}

/// The rights of the requester to one entry.
#[derive(Clone, Copy)]
pub struct EntryRights<'d> {
    pub(crate) decisions: &'d Decisions<'d>,
    pub(crate) context: EntryContext<'d>,
}

/// A class of decisions that give the same rights to every attribute of every entry.
///
/// Two classes are equal if both requesters bypass all rules. They are also equal if the rules are
/// the same and the same clauses match both requesters.
#[derive(Clone, Copy, Debug)]
pub struct RightsClass<'r>(Option<&'r UniformRights>);

impl PartialEq for RightsClass<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }
}

impl std::fmt::Debug for EntryRights<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryRights")
            .field("name", &self.context.name)
            .finish_non_exhaustive()
    }
}

impl Rules {
    /// Applies the rules to a requester, once per operation.
    #[must_use]
    pub fn decide(&self, requester: &Requester<'_>) -> Decisions<'_> {
        Decisions::new(self, requester)
    }
}

impl<'r> Decisions<'r> {
    fn new(rules: &'r Rules, requester: &Requester<'_>) -> Decisions<'r> {
        let mut decisions = Decisions {
            context: SubjectContext::new(rules, requester),
            uniform: None,
            root: requester.root,
            stored: RefCell::new(Vec::new()),
        };
        let context = &decisions.context;
        // A clause that depends on anything, even a group, may match another requester's next
        // operation.
        if context.uniform && !requester.root && !context.matches.contains(&MatchResult::Depends) {
            let compute = || decisions.uniform_rights();
            decisions.uniform = rules.uniform.get_or_compute(&context.matches, compute);
        }
        decisions
    }

    /// Returns true if every entry gets the same decisions. The name and entry given to
    /// [`at`](Self::at) then do not matter. Single values of an attribute may still differ: see
    /// [`by_value`](Self::by_value).
    #[must_use]
    pub fn uniform(&self) -> bool {
        self.context.uniform
    }

    /// Returns true if rights may differ between the values of one attribute. If not,
    /// [`EntryRights::attribute`] answers for all values.
    #[must_use]
    pub fn by_value(&self) -> bool {
        self.context.rules.by_value && !self.root
    }

    /// Returns the class of operations with the same rights. Returns `None` if rights may depend on
    /// the entry or change from one operation to the next.
    #[must_use]
    pub fn rights_class(&self) -> Option<RightsClass<'r>> {
        if self.root {
            return Some(RightsClass(None));
        }
        self.uniform.map(|rights| RightsClass(Some(rights)))
    }

    /// Returns the name of the requester in normal form; empty for an anonymous one.
    #[must_use]
    pub fn requester(&self) -> &str {
        self.context.subject.name(Identity::Effective)
    }

    /// Returns true if the requester bypasses all rules.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.root
    }

    /// Returns the decisions about the entry with this name, in normal form. `facts` answers
    /// questions about entries.
    #[must_use]
    pub fn at<'d>(&'d self, normal: &'d str, facts: &'d dyn Facts) -> EntryRights<'d> {
        EntryRights {
            decisions: self,
            context: self.context.at(normal, facts),
        }
    }

    /// Computes the rights to every part of any entry.
    fn uniform_rights(&self) -> UniformRights {
        let rights = self.at("", &NoFacts);
        let types = self.context.rules.schema.attributes().iter();
        UniformRights {
            matches: self.context.matches.clone(),
            entry: rights.entry(),
            children: rights.children(),
            attributes: types
                .map(|of| rights.attribute(&AttributeDescription::plain(of.index)))
                .collect(),
        }
    }
}

impl EntryRights<'_> {
    /// Returns the rights to the entry as such.
    #[must_use]
    pub fn entry(&self) -> Rights {
        self.part(Part::Entry)
    }

    /// Returns the rights to the set of the entry's children.
    #[must_use]
    pub fn children(&self) -> Rights {
        self.part(Part::Children)
    }

    /// Returns the rights to an attribute as a whole. Rules about single values do not count here.
    #[must_use]
    pub fn attribute(&self, description: &AttributeDescription) -> Rights {
        self.part(Part::Attribute(description))
    }

    /// Returns the rights to an attribute type without options.
    #[must_use]
    pub fn attribute_type(&self, index: AttributeIndex) -> Rights {
        self.attribute(&AttributeDescription::plain(index))
    }

    /// Returns the rights to one value of an attribute, given as users write it.
    #[must_use]
    pub fn value(&self, description: &AttributeDescription, value: &[u8]) -> Rights {
        if !self.decisions.by_value() {
            return self.attribute(description);
        }
        let part = Part::Attribute(description);
        Evaluation::new(&self.context, part, Some(value)).run(&mut NoTrace)
    }

    fn part(&self, part: Part<'_>) -> Rights {
        if self.decisions.root {
            return Rights::ALL;
        }
        if let Some(rights) = self.stored(part) {
            return rights;
        }
        let mut evaluation = Evaluation::new(&self.context, part, None);
        let rights = evaluation.run(&mut NoTrace);
        if !evaluation.looked_at_entry() {
            self.store(part, rights);
        }
        rights
    }

    fn stored(&self, part: Part<'_>) -> Option<Rights> {
        if let Some(uniform) = self.decisions.uniform {
            return match part {
                Part::Entry => Some(uniform.entry),
                Part::Children => Some(uniform.children),
                Part::Attribute(of) if of.options().is_some() => None,
                Part::Attribute(of) => uniform.attributes.get(of.attribute.0 as usize).copied(),
            };
        }
        let all = self.decisions.stored.borrow();
        let of_kind = all.iter().find(|of| of.kind == self.context.kind)?;
        match part {
            Part::Entry => of_kind.entry,
            Part::Children => of_kind.children,
            Part::Attribute(description) if description.options().is_some() => None,
            Part::Attribute(description) => {
                let at = description.attribute.0 as usize;
                of_kind.attributes.get(at).copied().flatten()
            }
        }
    }

    fn store(&self, part: Part<'_>, rights: Rights) {
        let context = &self.decisions.context;
        if !context.uniform && context.rules.rules.len() > RULES_IN_KIND {
            return;
        }
        let mut all = self.decisions.stored.borrow_mut();
        let at = all.iter().position(|of| of.kind == self.context.kind);
        let at = at.unwrap_or_else(|| {
            if all.len() >= KINDS_MAX {
                all.clear();
            }
            all.push(KindRights::new(self.context.kind));
            all.len() - 1
        });
        if let Some(of_kind) = all.get_mut(at) {
            of_kind.set(part, rights);
        }
    }
}

impl KindRights {
    fn new(kind: EntryKind) -> KindRights {
        KindRights {
            kind,
            entry: None,
            children: None,
            attributes: Vec::new(),
        }
    }

    fn set(&mut self, part: Part<'_>, rights: Rights) {
        match part {
            Part::Entry => self.entry = Some(rights),
            Part::Children => self.children = Some(rights),
            Part::Attribute(description) if description.options().is_some() => {}
            Part::Attribute(description) => {
                let at = description.attribute.0 as usize;
                if self.attributes.len() <= at {
                    self.attributes.resize(at + 1, None);
                }
                if let Some(slot) = self.attributes.get_mut(at) {
                    *slot = Some(rights);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
