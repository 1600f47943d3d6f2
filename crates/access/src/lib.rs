//! Access decisions: may this subject do this to that?
//!
//! Rules are read in order; the first one whose target fits the entry and attribute decides, by the first of its
//! `by` clauses that fits the subject. Whatever no rule speaks of is closed, and the root of the directory
//! passes everything.
//!
//! ```text
//!   to dn.subtree="ou=people,dc=example,dc=com" attrs=userPassword   by self write  by * auth
//!   to *                                                             by users read  by * none
//!          |                                                              |
//!        Rules::parse                      once per operation:  rules.decide(subject) -> Decisions
//!                                          once per entry:      decisions.at(name)    -> EntryRights
//!                                          once per attribute:  rights.attribute(i)   -> Level
//! ```
//!
//! Everything here is a pure function of the rules, the subject and a name: no entry is read, nothing is
//! stored. The rule language is the part of OpenLDAP's that needs no entry to decide (no filters, groups or sets).

#![forbid(unsafe_code)]

mod decide;
mod level;
mod parse;
mod rule;

pub use decide::{Decisions, EntryRights, Subject};
pub use level::Level;
pub use parse::RuleError;
pub use rule::Rules;
