//! Rights that are the same for every entry, worked out once for all requesters whom the same clauses fit.
//!
//! ```text
//!   requester --> which clauses fit --> a pattern met before?  -- yes --> a table: attribute type -> rights
//!                                             `-- no, and there is room --> made now, kept with the rules
//! ```
//! Most searches of a directory are asked by requesters of two or three patterns (nobody, somebody), so that deciding
//! about an attribute is a look into a table. Nothing is ever taken out of it: finding one takes no lock and writes
//! nothing.

use std::sync::OnceLock;

use fulgurite_schema::AttributeDescription;

use crate::decide::Decisions;
use crate::evaluate::Fits;
use crate::facts::NoFacts;
use crate::rights::Rights;

/// Patterns kept; beyond, rights are worked out for each operation.
const PATTERNS_MAX: usize = 16;

/// The rights of all requesters whom the same clauses fit.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    fits: Box<[Fits]>,
    pub(crate) entry: Rights,
    pub(crate) children: Rights,
    /// By number of the attribute type.
    pub(crate) attributes: Box<[Rights]>,
}

/// One for each pattern met, filled from the front.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns([OnceLock<Box<Common>>; PATTERNS_MAX]);

impl Patterns {
    /// The rights of a requester about whom nothing depends on the entry; `None` if there is no room for the pattern.
    pub(crate) fn of(&self, decisions: &Decisions<'_>) -> Option<&Common> {
        self.0
            .iter()
            .map(|place| place.get_or_init(|| Box::new(Common::new(decisions))))
            .find(|common| common.fits == decisions.fits)
            .map(|common| &**common)
    }
}

impl Common {
    fn new(decisions: &Decisions<'_>) -> Common {
        let rights = decisions.at("", &NoFacts);
        let types = decisions.rules.schema.attributes().iter();
        Common {
            fits: decisions.fits.clone(),
            entry: rights.entry(),
            children: rights.children(),
            attributes: types
                .map(|of| rights.attribute(&AttributeDescription::plain(of.index)))
                .collect(),
        }
    }
}
