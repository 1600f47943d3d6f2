//! The data of several databases in one server: entries of 21 attributes, alike but for the
//! uid.

use std::io::{self, Write};

/// Password of all people, and of the root of each database.
pub(super) const PASSWORD: &str = "secret";

/// The indexes of each database. Without that of `objectClass` each search reads all entries, in
/// slapd too, as it looks for referrals.
pub(super) const INDEXES: &str = "index objectClass,uid eq\n";

/// The attributes with one value, the same in all entries.
const ATTRIBUTES: &str = "sn: Surename\ncn: Commname\nbusinessCategory: trade\ncarLicense: B-AB 123\n\
    departmentNumber: 123\ndisplayName: Display\nemployeeNumber: 123456\nemployeeType: per\n\
    givenName: Given\nhomePhone: 12345678\nhomePostalAddress: Street1\ninitials: GS\nmail: a@b.de\n\
    manager: cn=manager,dc=dm,dc=example\nmobile: 12345678\no: Organ\npager: 12345678\n\
    preferredLanguage: de\nroomNumber: Room 12\nsecretary: cn=helper,dc=dm,dc=example\n";

/// The entry at the top of a database.
pub(super) fn suffix(database: u64) -> String {
    format!("dc=dm{database:07},dc=com")
}

/// The name of whom nothing is forbidden there.
pub(super) fn root_dn(database: u64) -> String {
    format!("cn=Manager,{}", suffix(database))
}

/// Writes the entry at the top of a database.
pub(super) fn write_top(database: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "dn: {}\nobjectClass: organization\nobjectClass: dcObject\no: Example\ndc: dm{database:07}\n",
        suffix(database)
    )
}

/// Writes the people of a database; their uids ascend.
pub(super) fn write_people(database: u64, people: u64, out: &mut impl Write) -> io::Result<()> {
    let suffix = suffix(database);
    for number in 1..=people {
        let uid = database * people + number;
        writeln!(
            out,
            "dn: uid={uid:010},{suffix}\nobjectClass: top\nobjectClass: person\n\
             objectClass: organizationalPerson\nobjectClass: inetOrgPerson\nuid: {uid:010}\n\
             {ATTRIBUTES}userPassword: {PASSWORD}\n"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn values_have_their_lengths() {
        let mut text = Vec::new();
        write_people(5, 2, &mut text).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.starts_with("dn: uid=0000000011,dc=dm0000005,dc=com\n"));
        let entry = text.split("\n\n").next().expect("an entry");
        let lengths: HashMap<&str, usize> = entry
            .lines()
            .filter_map(|line| line.split_once(": "))
            .filter(|(name, _)| !matches!(*name, "dn" | "objectClass" | "uid"))
            .map(|(name, value)| (name, value.len()))
            .collect();
        assert_eq!(lengths.len(), 21);
        let expected = [
            ("sn", 8),
            ("cn", 8),
            ("businessCategory", 5),
            ("carLicense", 8),
            ("departmentNumber", 3),
            ("displayName", 7),
            ("employeeNumber", 6),
            ("employeeType", 3),
            ("givenName", 5),
            ("homePhone", 8),
            ("homePostalAddress", 7),
            ("initials", 2),
            ("mail", 6),
            ("manager", 27),
            ("mobile", 8),
            ("o", 5),
            ("pager", 8),
            ("preferredLanguage", 2),
            ("roomNumber", 7),
            ("secretary", 26),
            ("userPassword", 6),
        ];
        for (name, length) in expected {
            assert_eq!(lengths.get(name), Some(&length), "{name}");
        }
    }
}
