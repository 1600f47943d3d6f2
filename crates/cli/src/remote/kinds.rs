//! Users, groups and units as kinds of entries.

use super::entries::Kind;

/// The first number of accounts and groups; smaller ones belong to the systems themselves.
pub(crate) const NUMBERS_FROM: u32 = 10_000;

/// Users: people, and accounts of programs.
pub(crate) const USER: Kind = Kind {
    word: "user",
    filter: "(|(objectClass=inetOrgPerson)(objectClass=posixAccount)(objectClass=account)\
             (objectClass=person))",
    key: "uid",
};

/// Groups of all classes.
pub(crate) const GROUP: Kind = Kind {
    word: "group",
    filter: "(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup)\
             (objectClass=groupOfMembers)(objectClass=groupOfEntries))",
    key: "cn",
};

/// Organizational units.
pub(crate) const UNIT: Kind = Kind {
    word: "unit",
    filter: "(objectClass=organizationalUnit)",
    key: "ou",
};
