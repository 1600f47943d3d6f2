//! Plans as text, for logs and tests.

use std::fmt::Write as _;

use super::candidates::Candidates;
use super::scope::ScopeTest;
use super::term::Term;
use crate::index::{KINDS, key};
use crate::view::View;
use fulgurite::Snapshot;

impl Candidates {
    /// Returns the plan on one line: `and(uid=jane:index, 3 entries by index); scope tested below
    /// 4; at most 1; all match`.
    #[must_use]
    pub fn explain<T: Snapshot>(&self, view: &View<'_, T>) -> String {
        self.text(view, true)
    }

    /// Returns the same without the values of the filter.
    #[must_use]
    pub fn outline<T: Snapshot>(&self, view: &View<'_, T>) -> String {
        self.text(view, false)
    }

    fn text<T: Snapshot>(&self, view: &View<'_, T>, shows_values: bool) -> String {
        let mut out = String::new();
        let writer = TermWriter { view, shows_values };
        writer.term(&self.term, &mut out);
        match &self.scope {
            ScopeTest::None => {}
            ScopeTest::Parent(parent) => {
                write!(out, "; scope tested: children of {parent}").unwrap_or_default()
            }
            ScopeTest::Below { base, .. } => {
                write!(out, "; scope tested: below {base}").unwrap_or_default()
            }
        }
        write!(out, "; at most {}", self.count_max()).unwrap_or_default();
        out.push_str(if self.is_exact() {
            "; all match"
        } else {
            "; each is tested"
        });
        out
    }
}

/// Writes the number of entries that were found in indexes.
fn by_index(count: u64, out: &mut String) {
    let noun = if count == 1 { "entry" } else { "entries" };
    write!(out, "{count} {noun} by index").unwrap_or_default();
}

/// Writes the terms of a plan.
struct TermWriter<'v, 'd, T: Snapshot> {
    view: &'v View<'d, T>,
    shows_values: bool,
}

impl<T: Snapshot> TermWriter<'_, '_, T> {
    fn term(&self, term: &Term, out: &mut String) {
        match term {
            Term::Nothing => out.push_str("no entry"),
            Term::All => out.push_str("all entries"),
            Term::Ids(ids) => by_index(ids.len() as u64, out),
            Term::Set(set) => by_index(set.len(), out),
            Term::Posting { key, .. } => self.posting(key, out),
            Term::And(terms) => self.list("and", terms, out),
            Term::Or(terms) => self.list("or", terms, out),
            Term::Not(term) => self.list("not", std::slice::from_ref(&**term), out),
        }
    }

    fn list(&self, name: &str, terms: &[Term], out: &mut String) {
        out.push_str(name);
        out.push('(');
        for (position, term) in terms.iter().enumerate() {
            if position > 0 {
                out.push_str(", ");
            }
            self.term(term, out);
        }
        out.push(')');
    }

    fn posting(&self, posting: &[u8], out: &mut String) {
        let Some((attribute, kind, value)) = key::parts(posting) else {
            return out.push('?');
        };
        let attributes = self.view.attributes();
        let name = attributes.get(attribute).map_or("?", |info| &info.text);
        let sign = KINDS.iter().find(|(_, row)| row.code == kind);
        let sign = sign.map_or("=", |(_, row)| row.sign);
        write!(out, "{name}{sign}").unwrap_or_default();
        match self.shows_values {
            true => write!(out, "{}:index", value.escape_ascii()).unwrap_or_default(),
            false => out.push_str("?:index"),
        }
    }
}
