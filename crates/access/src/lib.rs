//! Access decisions: may this requester do this to that?
//!
//! Rules are read in order. The first rule whose target contains the entry and attribute decides,
//! unless it says `continue` or `break`. Within the rule, the first `by` clause that matches the
//! requester decides. Everything without a rule is closed. The root of the directory bypasses all
//! rules. The language is that of slapd.access(5).
//!
//! ```text
//!   to dn.subtree="ou=people,dc=example,dc=com" attrs=userPassword   by self write  by * auth
//!   to *                                                             by users read  by * none
//!          |                                                              |
//!        Rules::parse              once per operation:  rules.decide(requester) -> Decisions
//!                                  once per entry:      decisions.at(name, facts) -> EntryRights
//!                                  once per attribute:  rights.attribute(a) -> Rights
//!                                  once per value:      rights.value(a, value) -> Rights   (if decisions.by_value())
//! ```
//!
//! Everything here is a pure function of the rules, the requester, a name and the [`Facts`] about
//! entries. The crate stores nothing and reads nothing but these facts.

#![forbid(unsafe_code)]

mod context;
mod decide;
mod entry_set;
mod evaluate;
mod explain;
mod facts;
mod names;
mod parse;
mod pattern;
mod peer;
mod requester;
mod rights;
mod rule;
mod rules;
mod selector;
mod set;
mod subject;
mod uniform_rights;

pub use decide::{Decisions, EntryRights, RightsClass};
pub use entry_set::Set;
pub use explain::{Explanation, Outcome, Step};
pub use facts::{EntryRef, Facts, NoFacts, RuleSearch};
pub use parse::RuleError;
pub use pattern::Pattern;
pub use requester::{Requester, Strengths, Wire};
pub use rights::{Level, Rights};
pub use rule::{Part, RuleText};
pub use rules::{Rules, WithoutRules};
pub use selector::Selector;
