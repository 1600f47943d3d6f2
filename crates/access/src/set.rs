//! Set algebra in rules: `set="[cn=admins,dc=example,dc=com]/member* & user"`.
//!
//! ```text
//!   this  user          the name of the entry, of the requester
//!   [text]              that text
//!   set/attr  set->attr the values of just that attribute in the entries that the set names, or finds: a text may be a
//!                       search URL
//!   set/attr*           and the values in the entries that those name, and so on
//!   set/-n  set/-*      the names n levels above; all names above
//!   a & b   a | b       what both have; what either has
//!   a + b               each text of the one followed by each of the other
//! ```
//! Operators have no precedence, parentheses do. A condition holds if the set is not empty. Texts
//! are compared byte by byte, in normal form where they are values of attributes or names.

use fulgurite_schema::AttributeDescription;

use crate::pattern::Template;

/// A condition that a set is not empty.
#[derive(Clone, Debug)]
pub(crate) enum SetTest {
    Fixed(SetExpression),
    /// Sub-matches are put in first.
    Expanded(Template),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SetExpression {
    This,
    User,
    Text(String),
    Values {
        of: Box<SetExpression>,
        /// `None` for an attribute that is not defined: there are no values.
        attribute: Option<AttributeDescription>,
        again: bool,
    },
    Above {
        of: Box<SetExpression>,
        /// `None` for all levels.
        levels: Option<usize>,
    },
    Both(Box<SetExpression>, Box<SetExpression>),
    Either(Box<SetExpression>, Box<SetExpression>),
    Joined(Box<SetExpression>, Box<SetExpression>),
}

impl SetTest {
    pub(crate) fn expands(&self) -> bool {
        matches!(self, SetTest::Expanded(_))
    }

    /// Visits the texts that the condition has, names of entries among them.
    pub(crate) fn each_text<'s>(&'s self, visit: &mut impl FnMut(&'s str)) {
        if let SetTest::Fixed(expression) = self {
            expression.each_text(visit);
        }
    }
}

impl SetExpression {
    fn each_text<'s>(&'s self, visit: &mut impl FnMut(&'s str)) {
        match self {
            SetExpression::This | SetExpression::User => {}
            SetExpression::Text(text) => visit(text),
            SetExpression::Values { of, .. } | SetExpression::Above { of, .. } => {
                of.each_text(visit);
            }
            SetExpression::Both(a, b)
            | SetExpression::Either(a, b)
            | SetExpression::Joined(a, b) => {
                a.each_text(visit);
                b.each_text(visit);
            }
        }
    }
}
