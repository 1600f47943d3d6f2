//! All directives, in the order in which `cn=config` has to be read: what others refer to comes first.

use super::{Directive, database, global, mdb, tls};

/// The parts of the table.
const PARTS: [&[Directive]; 4] = [
    global::DIRECTIVES,
    tls::DIRECTIVES,
    database::DIRECTIVES,
    mdb::DIRECTIVES,
];

/// All directives.
pub(crate) const DIRECTIVES: Table = Table;

/// The directives as one list.
#[derive(Clone, Copy)]
pub(crate) struct Table;

impl Table {
    /// Each directive.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static Directive> {
        PARTS.into_iter().flatten()
    }
}

/// The directive of that name, in any case of letters.
pub(crate) fn find(keyword: &str) -> Option<&'static Directive> {
    DIRECTIVES
        .iter()
        .find(|directive| directive.keyword.eq_ignore_ascii_case(keyword))
}
