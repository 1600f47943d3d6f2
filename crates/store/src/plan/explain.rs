//! Plans as text, for logs and tests.

use std::fmt::Write as _;

use super::candidates::Candidates;
use super::scope::ScopeTest;
use super::term::Term;
use crate::index::{KINDS, key};
use crate::view::View;
use fulgurite::Snapshot;

impl Candidates {
    /// Returns the plan on one line: `and(uid=jane:index, 3 ids); scope tested below 4; at most 1;
    /// exact`.
    #[must_use]
    pub fn explain<T: Snapshot>(&self, view: &View<'_, T>) -> String {
        let mut out = String::new();
        write_term(&self.term, view, &mut out);
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
            "; exact"
        } else {
            "; filter tested"
        });
        out
    }
}

fn write_term<T: Snapshot>(term: &Term, view: &View<'_, T>, out: &mut String) {
    match term {
        Term::Nothing => out.push_str("nothing"),
        Term::All => out.push_str("all entries"),
        Term::Ids(ids) => write!(out, "{} ids", ids.len()).unwrap_or_default(),
        Term::Set(set) => write!(out, "set of {}", set.len()).unwrap_or_default(),
        Term::Posting { key, .. } => write_posting(key, view, out),
        Term::And(terms) => write_list("and", terms, view, out),
        Term::Or(terms) => write_list("or", terms, view, out),
        Term::Not(term) => write_list("not", std::slice::from_ref(&**term), view, out),
    }
}

fn write_list<T: Snapshot>(name: &str, terms: &[Term], view: &View<'_, T>, out: &mut String) {
    out.push_str(name);
    out.push('(');
    for (position, term) in terms.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        write_term(term, view, out);
    }
    out.push(')');
}

fn write_posting<T: Snapshot>(posting: &[u8], view: &View<'_, T>, out: &mut String) {
    let Some((attribute, kind, value)) = key::parts(posting) else {
        return out.push('?');
    };
    let name = view
        .attributes()
        .get(attribute)
        .map_or("?", |info| &info.text);
    let value = value.escape_ascii();
    let sign = KINDS.iter().find(|(_, row)| row.code == kind);
    let sign = sign.map_or("=", |(_, row)| row.sign);
    write!(out, "{name}{sign}{value}:index").unwrap_or_default();
}
