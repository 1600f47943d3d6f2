//! From rules and a requester to rights, doing per operation what need not be done per entry.
//!
//! ```text
//!   once per operation   which clauses fit the requester: no, yes, it depends
//!   once per entry       which rules' names fit: one bit each; the same bits mean the same decisions ...
//!   once per attribute   ... which are remembered, unless a clause has looked at the entry
//! ```

use std::cell::RefCell;
use std::sync::Arc;

use fulgurite_schema::{AttributeDescription, AttributeIndex};

use crate::common::Common;
use crate::evaluate::{Evaluation, Fits, Quiet};
use crate::facts::Facts;
use crate::names::Names;
use crate::requester::Requester;
use crate::rights::Rights;
use crate::rule::{Clause, Part, Rule, Rules, Who};
use crate::wire::Asker;

/// Kinds of entries whose rights are remembered.
const KINDS_MAX: usize = 64;

/// Rules that have a bit in a [`Kind`].
const RULES_IN_KIND: usize = 62;

/// The rules, seen by one requester.
#[derive(Debug)]
pub struct Decisions<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) asker: Asker,
    /// For each clause of each rule whether it fits the requester, as far as that can be said beforehand.
    /// One clause after the other.
    pub(crate) fits: Box<[Fits]>,
    /// All rights, where they are the same for every entry and every requester whom these clauses fit.
    common: Option<&'r Common>,
    root: bool,
    uniform: bool,
    /// Memberships found out so far.
    pub(crate) groups: RefCell<Vec<Option<bool>>>,
    remembered: RefCell<Vec<Remembered>>,
}

/// Which rules' names an entry fits, and whose it is: a bit each.
type Kind = u64;

/// Rights that entries of one kind have in common.
#[derive(Debug)]
struct Remembered {
    kind: Kind,
    entry: Option<Rights>,
    children: Option<Rights>,
    /// By number of the attribute type.
    attributes: Vec<Option<Rights>>,
}

/// What the requester may do with one entry.
#[derive(Clone, Copy)]
pub struct EntryRights<'d> {
    pub(crate) decisions: &'d Decisions<'d>,
    pub(crate) name: &'d str,
    pub(crate) facts: &'d dyn Facts,
    kind: Kind,
}

/// What decisions have in common that give the same rights to every attribute of every entry. Two of them are equal, if
/// either the requesters pass all rules, or the rules are the same and the same clauses fit the requesters.
#[derive(Clone, Copy, Debug)]
pub struct Likeness<'r>(Option<&'r Common>);

impl PartialEq for Likeness<'_> {
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
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<'r> Decisions<'r> {
    pub(crate) fn new(rules: &'r Rules, requester: &Requester<'_>) -> Decisions<'r> {
        let asker = Asker::new(requester);
        let clauses = || rules.rules.iter().flat_map(|rule| &rule.by);
        let mut fits = Vec::with_capacity(rules.rules.iter().map(|rule| rule.by.len()).sum());
        fits.extend(clauses().map(|clause| asker.fits(&clause.who)));
        let fits = fits.into_boxed_slice();
        let depends = |(clause, fits): (&Clause, &Fits)| {
            *fits == Fits::Depends && clause.who.iter().any(Who::depends_on_entry)
        };
        let of_all = |rule: &Arc<Rule>| rule.what.names.is_any() && rule.what.filter.is_none();
        let uniform =
            requester.root || rules.rules.iter().all(of_all) && !clauses().zip(&fits).any(depends);
        let mut decisions = Decisions {
            rules,
            asker,
            fits,
            common: None,
            root: requester.root,
            uniform,
            groups: RefCell::new(Vec::new()),
            remembered: RefCell::new(Vec::new()),
        };
        // A clause that depends on anything, be it a group, may fit another requester's next operation.
        if uniform && !requester.root && !decisions.fits.contains(&Fits::Depends) {
            decisions.common = rules.patterns.of(&decisions);
        }
        decisions
    }

    /// Whether every entry gets the same decisions, so that it does not matter which name and which entry
    /// [`at`](Self::at) is given. Single values of an attribute may differ all the same:
    /// [`by_value`](Self::by_value).
    #[must_use]
    pub fn uniform(&self) -> bool {
        self.uniform
    }

    /// Whether values of one attribute may be treated differently. If not, [`EntryRights::attribute`] is all there
    /// is to ask.
    #[must_use]
    pub fn by_value(&self) -> bool {
        self.rules.by_value && !self.root
    }

    /// What tells whether another operation has the same rights; `None` where rights may depend on the entry, or change
    /// from one operation to the next.
    #[must_use]
    pub fn likeness(&self) -> Option<Likeness<'r>> {
        if self.root {
            return Some(Likeness(None));
        }
        self.common.map(|common| Likeness(Some(common)))
    }

    /// Whether the requester passes all rules.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.root
    }

    /// Decisions about the entry with this name, in normal form, of which `facts` knows.
    #[must_use]
    pub fn at<'d>(&'d self, normal: &'d str, facts: &'d dyn Facts) -> EntryRights<'d> {
        EntryRights {
            decisions: self,
            name: normal,
            facts,
            kind: if self.uniform { 0 } else { self.kind(normal) },
        }
    }

    fn kind(&self, normal: &str) -> Kind {
        let mut kind = 0;
        for (at, rule) in self.rules.rules.iter().take(RULES_IN_KIND).enumerate() {
            kind |= u64::from(rule.what.names.contains(normal)) << at;
        }
        kind | self.asker.whose(normal) << RULES_IN_KIND
    }
}

impl EntryRights<'_> {
    /// The rights to the entry as such.
    #[must_use]
    pub fn entry(&self) -> Rights {
        self.part(Part::Entry)
    }

    /// The rights to the set of the entry's children.
    #[must_use]
    pub fn children(&self) -> Rights {
        self.part(Part::Children)
    }

    /// The rights to an attribute as a whole: rules that speak of single values say nothing here.
    #[must_use]
    pub fn attribute(&self, description: &AttributeDescription) -> Rights {
        self.part(Part::Attribute(description))
    }

    /// [`attribute`](Self::attribute) for a type without options.
    #[must_use]
    pub fn attribute_type(&self, index: AttributeIndex) -> Rights {
        self.attribute(&AttributeDescription::plain(index))
    }

    /// The rights to one value of an attribute, given as users write it.
    #[must_use]
    pub fn value(&self, description: &AttributeDescription, value: &[u8]) -> Rights {
        if !self.decisions.by_value() {
            return self.attribute(description);
        }
        let part = Part::Attribute(description);
        self.evaluation(part, Some(value)).run(&mut Quiet)
    }

    /// Whether the name of a rule fits; known from the kind for the first ones.
    pub(crate) fn names_fit(&self, rule: usize, names: &Names) -> bool {
        if names.is_any() {
            true
        } else if rule < RULES_IN_KIND && !self.decisions.uniform {
            self.kind >> rule & 1 == 1
        } else {
            names.contains(self.name)
        }
    }

    pub(crate) fn evaluation<'e>(
        &'e self,
        part: Part<'e>,
        value: Option<&'e [u8]>,
    ) -> Evaluation<'e> {
        Evaluation::new(self, part, value)
    }

    fn part(&self, part: Part<'_>) -> Rights {
        if self.decisions.root {
            return Rights::ALL;
        }
        if let Some(rights) = self.remembered(part) {
            return rights;
        }
        let mut evaluation = self.evaluation(part, None);
        let rights = evaluation.run(&mut Quiet);
        if !evaluation.looked_at_entry() {
            self.remember(part, rights);
        }
        rights
    }

    fn remembered(&self, part: Part<'_>) -> Option<Rights> {
        if let Some(common) = self.decisions.common {
            return match part {
                Part::Entry => Some(common.entry),
                Part::Children => Some(common.children),
                Part::Attribute(of) if of.options().is_some() => None,
                Part::Attribute(of) => common.attributes.get(of.attribute.0 as usize).copied(),
            };
        }
        let all = self.decisions.remembered.borrow();
        let of_kind = all.iter().find(|of| of.kind == self.kind)?;
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

    fn remember(&self, part: Part<'_>, rights: Rights) {
        if !self.decisions.uniform && self.decisions.rules.rules.len() > RULES_IN_KIND {
            return;
        }
        let mut all = self.decisions.remembered.borrow_mut();
        let at = all.iter().position(|of| of.kind == self.kind);
        let at = at.unwrap_or_else(|| {
            if all.len() >= KINDS_MAX {
                all.clear();
            }
            all.push(Remembered::new(self.kind));
            all.len() - 1
        });
        if let Some(of_kind) = all.get_mut(at) {
            of_kind.set(part, rights);
        }
    }
}

impl Remembered {
    fn new(kind: Kind) -> Remembered {
        Remembered {
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
