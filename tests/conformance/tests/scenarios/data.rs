//! A small organisation.

/// Its name.
pub(crate) const SUFFIX: &str = "dc=example,dc=com";

/// Its root, as configured.
pub(crate) const ROOT: &str = "cn=Manager,dc=example,dc=com";

/// The root's password.
pub(crate) const PASSWORD: &str = "secret";

/// Babs' name; her password is `bjensen`.
pub(crate) const BABS: &str = "cn=Barbara Jensen,ou=People,dc=example,dc=com";

/// The organisation in an order in which most parents come after their children.
pub(crate) const UNORDERED: &str = "\
dn: cn=Barbara Jensen,ou=People,dc=example,dc=com
objectClass: inetOrgPerson
cn: Barbara Jensen
cn: Babs Jensen
sn:: IEplbnNlbiA=
uid: bjensen
title: Mythical Manager, Research
mail: bjensen@example.com
telephoneNumber: +1 313 555 9022
description: Says \"hello\"
userPassword:: YmplbnNlbg==

dn: cn=ITD Staff,ou=Groups,dc=example,dc=com
objectClass: groupOfUniqueNames
cn: ITD Staff
description: All ITD Staff
uniqueMember: cn=Manager,dc=example,dc=com
uniqueMember: cn=Bjorn Jensen,ou=People,dc=example,dc=com

dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: Example, Inc.
description: Everything there is, and a sentence about it that is so long that no line can hold it all

dn: cn=Bjorn Jensen,ou=People,dc=example,dc=com
objectClass: inetOrgPerson
cn: Bjorn Jensen
sn: Jensen
uid: bjorn
title: Hiker, Biker
mail: bjorn@example.com
telephoneNumber: +1 313 555 0355
seeAlso: cn=All Staff,ou=Groups,dc=example,dc=com
userPassword:: Ympvcm4=

dn: cn=Dorothy Stevens,ou=Alumni,ou=People,dc=example,dc=com
objectClass: inetOrgPerson
cn: Dorothy Stevens
cn: Dot Stevens
cn;lang-de: Dorothea Stevens
sn: Stevens
uid: dots
mail: dots@example.com
description: Very tall

dn: ou=People,dc=example,dc=com
objectClass: organizationalUnit
ou: People

dn: ou=Groups,dc=example,dc=com
objectClass: organizationalUnit
ou: Groups

dn: cn=All Staff,ou=Groups,dc=example,dc=com
objectClass: groupOfNames
cn: All Staff
member: cn=Barbara Jensen,ou=People,dc=example,dc=com
member: cn=Bjorn Jensen,ou=People,dc=example,dc=com

dn: ou=Alumni,ou=People,dc=example,dc=com
objectClass: organizationalUnit
ou: Alumni
";

/// Records of LDIF text, each unfolded, in the order of their names.
pub(crate) fn records(ldif: &str) -> Vec<String> {
    let unfolded = ldif.replace("\n ", "");
    let mut records: Vec<String> = unfolded
        .split("\n\n")
        .map(|record| record.trim().to_owned())
        .filter(|record| !record.is_empty() && !record.starts_with('#'))
        .collect();
    records.sort();
    records
}

/// The same with its operational attributes left out.
pub(crate) fn user_records(ldif: &str) -> Vec<String> {
    const OPERATIONAL: [&str; 8] = [
        "structuralObjectClass:",
        "entryUUID:",
        "creatorsName:",
        "createTimestamp:",
        "entryCSN:",
        "modifiersName:",
        "modifyTimestamp:",
        "contextCSN:",
    ];
    let is_user = |line: &&str| !OPERATIONAL.iter().any(|name| line.starts_with(name));
    let records = records(ldif);
    let kept = records.iter().map(|record| {
        let lines: Vec<&str> = record.lines().filter(is_user).collect();
        lines.join("\n")
    });
    kept.collect()
}

/// The names in LDIF text, in order of their letters.
pub(crate) fn names(ldif: &str) -> Vec<String> {
    let unfolded = ldif.replace("\n ", "");
    let names = unfolded
        .lines()
        .filter_map(|line| line.strip_prefix("dn: "));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// The first RDN of each name in LDIF text, in order of their letters.
pub(crate) fn heads(ldif: &str) -> Vec<String> {
    let heads = names(ldif).into_iter();
    heads
        .map(|name| name.split(',').next().unwrap_or_default().to_owned())
        .collect()
}
