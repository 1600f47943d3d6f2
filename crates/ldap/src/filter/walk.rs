//! A filter's parts in order, without recursion.

use super::Filter;

/// The operator that joins the parts of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Junction {
    /// All.
    And,
    /// Any.
    Or,
    /// None; of one part.
    Not,
}

/// One step through a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'f, 'a> {
    /// A junction begins; its parts follow.
    Open(Junction),
    /// A filter that has no parts.
    Leaf(&'f Filter<'a>),
    /// The latest open junction ends.
    Close(Junction),
}

/// Iterates through a filter in the order it is written.
#[derive(Debug, Clone)]
pub struct Walk<'f, 'a> {
    next: Option<&'f Filter<'a>>,
    open: Vec<(Junction, std::slice::Iter<'f, Filter<'a>>)>,
}

impl<'a> Filter<'a> {
    /// Walks through the filter and all its parts.
    #[must_use]
    pub const fn walk(&self) -> Walk<'_, 'a> {
        Walk {
            next: Some(self),
            open: Vec::new(),
        }
    }
}

impl<'f, 'a> Iterator for Walk<'f, 'a> {
    type Item = Step<'f, 'a>;

    fn next(&mut self) -> Option<Step<'f, 'a>> {
        let filter = match self.next.take() {
            Some(filter) => filter,
            None => match self.open.last_mut()?.1.next() {
                Some(filter) => filter,
                None => return self.open.pop().map(|(junction, _)| Step::Close(junction)),
            },
        };
        let (junction, parts) = match filter {
            Filter::And(parts) => (Junction::And, parts.as_slice()),
            Filter::Or(parts) => (Junction::Or, parts.as_slice()),
            Filter::Not(part) => (Junction::Not, std::slice::from_ref(&**part)),
            leaf => return Some(Step::Leaf(leaf)),
        };
        self.open.push((junction, parts.iter()));
        Some(Step::Open(junction))
    }
}
