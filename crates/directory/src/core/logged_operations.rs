//! The operations that a database logs (slapd's overlay `accesslog`), and the fields of a record.

use fulgurite_ldap::Operation;
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Filter};

/// The kind of a logged operation. Records hold its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoggedKind {
    Abandon,
    Add,
    Bind,
    Compare,
    Delete,
    Modify,
    Rename,
    Search,
    Unbind,
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoggedKinds(u16);

/// The operations that a database logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LoggedOperations {
    /// Those of the whole database.
    pub(crate) everywhere: LoggedKinds,
    /// Those at and below some names.
    pub(crate) below: Vec<(LoggedKinds, Dn)>,
    /// True if failed ones are left out.
    pub(crate) successes_only: bool,
    pub(crate) old: Option<OldValues>,
}

/// The values from before a change that are logged with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OldValues {
    /// The entries whose values are logged.
    pub(crate) filter: Filter<AttributeSelector>,
    /// The attributes that are logged though the change leaves them as they are.
    pub(crate) attributes: Vec<AttributeDescription>,
}

impl LoggedKind {
    const ALL: [LoggedKind; 9] = [
        LoggedKind::Abandon,
        LoggedKind::Add,
        LoggedKind::Bind,
        LoggedKind::Compare,
        LoggedKind::Delete,
        LoggedKind::Modify,
        LoggedKind::Rename,
        LoggedKind::Search,
        LoggedKind::Unbind,
    ];

    /// Returns the kind of an operation; `None` for extended ones.
    pub(crate) const fn of(operation: Operation) -> Option<LoggedKind> {
        Some(match operation {
            Operation::Abandon => LoggedKind::Abandon,
            Operation::Add => LoggedKind::Add,
            Operation::Bind => LoggedKind::Bind,
            Operation::Compare => LoggedKind::Compare,
            Operation::Delete => LoggedKind::Delete,
            Operation::Modify => LoggedKind::Modify,
            Operation::ModifyDn => LoggedKind::Rename,
            Operation::Search => LoggedKind::Search,
            Operation::Unbind => LoggedKind::Unbind,
            Operation::Extended => return None,
        })
    }

    /// Returns the kind of a record.
    pub(crate) fn of_number(number: u8) -> Option<LoggedKind> {
        LoggedKind::ALL.get(usize::from(number)).copied()
    }

    pub(crate) const fn number(self) -> u8 {
        self as u8
    }

    /// Returns true for updates. The log of changes has those that succeed.
    pub(crate) const fn is_update(self) -> bool {
        matches!(
            self,
            LoggedKind::Add | LoggedKind::Delete | LoggedKind::Modify | LoggedKind::Rename
        )
    }

    /// Returns the name in directives, which is also the value of reqType.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            LoggedKind::Abandon => "abandon",
            LoggedKind::Add => "add",
            LoggedKind::Bind => "bind",
            LoggedKind::Compare => "compare",
            LoggedKind::Delete => "delete",
            LoggedKind::Modify => "modify",
            LoggedKind::Rename => "modrdn",
            LoggedKind::Search => "search",
            LoggedKind::Unbind => "unbind",
        }
    }

    /// Returns the object class of the entries.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            LoggedKind::Abandon => "auditAbandon",
            LoggedKind::Add => "auditAdd",
            LoggedKind::Bind => "auditBind",
            LoggedKind::Compare => "auditCompare",
            LoggedKind::Delete => "auditDelete",
            LoggedKind::Modify => "auditModify",
            LoggedKind::Rename => "auditModRDN",
            LoggedKind::Search => "auditSearch",
            LoggedKind::Unbind => "auditObject",
        }
    }
}

impl LoggedKinds {
    const WRITES: [LoggedKind; 4] = [
        LoggedKind::Add,
        LoggedKind::Delete,
        LoggedKind::Modify,
        LoggedKind::Rename,
    ];
    const READS: [LoggedKind; 2] = [LoggedKind::Compare, LoggedKind::Search];
    const SESSION: [LoggedKind; 3] = [LoggedKind::Abandon, LoggedKind::Bind, LoggedKind::Unbind];

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the kinds that a word of a directive means; `None` for no such word.
    pub(crate) fn of_word(word: &str) -> Option<LoggedKinds> {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let named: &[LoggedKind] = match () {
            () if is("writes") => &LoggedKinds::WRITES,
            () if is("reads") => &LoggedKinds::READS,
            () if is("session") => &LoggedKinds::SESSION,
            () if is("all") => &LoggedKind::ALL,
            // slapd logs neither here: they belong to no database.
            () if is("extended") || is("unknown") => &[],
            () => {
                let mut kinds = LoggedKind::ALL.iter();
                std::slice::from_ref(kinds.find(|kind| is(kind.name()))?)
            }
        };
        let bits = named.iter().map(|kind| LoggedKinds::bit(*kind));
        Some(LoggedKinds(bits.fold(0, |all, bit| all | bit)))
    }

    /// Returns the kind of a value of reqType, in small letters; none for another value.
    pub(crate) fn of_name(name: &str) -> LoggedKinds {
        let mut kinds = LoggedKind::ALL.iter();
        let kind = kinds.find(|kind| kind.name() == name);
        LoggedKinds(kind.map_or(0, |kind| LoggedKinds::bit(*kind)))
    }

    fn bit(kind: LoggedKind) -> u16 {
        1 << kind.number()
    }

    /// Returns all kinds.
    pub(crate) fn all() -> LoggedKinds {
        LoggedKinds(
            LoggedKind::ALL
                .iter()
                .fold(0, |all, kind| all | Self::bit(*kind)),
        )
    }

    pub(crate) fn add(&mut self, others: LoggedKinds) {
        self.0 |= others.0;
    }

    pub(crate) fn keep(&mut self, others: LoggedKinds) {
        self.0 &= others.0;
    }

    pub(crate) fn contains(self, kind: LoggedKind) -> bool {
        self.0 & LoggedKinds::bit(kind) != 0
    }

    fn has_other_than_updates(self) -> bool {
        let mut kinds = LoggedKind::ALL.iter();
        kinds.any(|kind| !kind.is_update() && self.contains(*kind))
    }
}

impl LoggedOperations {
    /// Returns true if a log shall have operations of a kind about a name; `None` for no name.
    pub(crate) fn has(&self, kind: LoggedKind, dn: Option<&Dn>) -> bool {
        let is_below = |base: &Dn| dn.is_some_and(|dn| dn.is_within(base));
        let mut below = self.below.iter();
        self.everywhere.contains(kind)
            || below.any(|(kinds, base)| kinds.contains(kind) && is_below(base))
    }

    /// Returns true if all changes are logged, whatever their names.
    pub(crate) fn has_everywhere(&self, kind: LoggedKind) -> bool {
        self.everywhere.contains(kind)
    }

    /// Returns true if the log of changes lacks some of these operations.
    pub(crate) fn exceed_changes(&self) -> bool {
        let below = self.below.iter().map(|(kinds, _)| *kinds);
        let mut all = below.chain([self.everywhere]);
        all.any(|kinds| {
            kinds.has_other_than_updates()
                || !self.successes_only && kinds != LoggedKinds::default()
        })
    }
}

/// Declares the fields of records with their numbers, which are stored, and their attributes.
macro_rules! fields {
    ($($field:ident = $number:literal, $attribute:literal;)*) => {
        /// A value of a record that becomes an attribute of the entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum LoggedField { $($field = $number,)* }

        impl LoggedField {
            pub(crate) const fn number(self) -> u8 {
                self as u8
            }

            /// Returns the attribute of a field; `None` for a number of a later release.
            pub(crate) const fn attribute(number: u8) -> Option<&'static str> {
                match number {
                    $($number => Some($attribute),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    Author = 1, "reqAuthzID";
    Control = 2, "reqControls";
    ResponseControl = 3, "reqRespControls";
    Target = 4, "reqDN";
    Message = 5, "reqMessage";
    Version = 6, "reqVersion";
    Method = 7, "reqMethod";
    Assertion = 8, "reqAssertion";
    Scope = 9, "reqScope";
    Deref = 10, "reqDerefAliases";
    AttributesOnly = 11, "reqAttrsOnly";
    Filter = 12, "reqFilter";
    Selected = 13, "reqAttr";
    Entries = 14, "reqEntries";
    TimeLimit = 15, "reqTimeLimit";
    SizeLimit = 16, "reqSizeLimit";
    MessageId = 17, "reqId";
    Change = 18, "reqMod";
    NewRdn = 19, "reqNewRDN";
    DeleteOldRdn = 20, "reqDeleteOldRDN";
    NewSuperior = 21, "reqNewSuperior";
    NewDn = 22, "reqNewDN";
    EntryUuid = 23, "reqEntryUUID";
    Old = 24, "reqOld";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_kinds() {
        let kinds = |word| LoggedKinds::of_word(word);
        let writes = kinds("WRITES").expect("a word");
        assert!(writes.contains(LoggedKind::Rename) && !writes.contains(LoggedKind::Bind));
        assert_eq!(kinds("modrdn"), kinds("ModRDN"));
        assert_eq!(kinds("all"), Some(LoggedKinds::all()));
        assert_eq!(kinds("extended"), Some(LoggedKinds::default()));
        assert_eq!(kinds("foo"), None);
        for kind in LoggedKind::ALL {
            assert_eq!(LoggedKind::of_number(kind.number()), Some(kind));
        }
    }

    #[test]
    fn only_successful_updates_need_no_second_log() {
        let logged = |word: &str, successes_only| LoggedOperations {
            everywhere: LoggedKinds::of_word(word).expect("a word"),
            below: Vec::new(),
            successes_only,
            old: None,
        };
        assert!(!logged("writes", true).exceed_changes());
        assert!(logged("writes", false).exceed_changes());
        assert!(logged("bind", true).exceed_changes());
        assert!(!logged("extended", false).exceed_changes());
    }
}
