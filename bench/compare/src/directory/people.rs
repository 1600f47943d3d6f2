//! The data: people and one large group, as LDIF, the same whenever it is made.

use std::io::{self, Write};

use crate::workload::data::{mix, scattered};

/// Name of the entry at the top.
pub(crate) const SUFFIX: &str = "dc=example,dc=com";
/// Name and password of whom nothing is forbidden.
pub(crate) const ROOT_DN: &str = "cn=admin,dc=example,dc=com";
pub(crate) const ROOT_PASSWORD: &str = "secret";
/// Of every user.
pub(crate) const PASSWORD: &str = "benchmark";
/// The same, hashed: {SSHA} with a salt, so that a bind costs one SHA-1.
pub(crate) const HASHED: &str = "{SSHA}9ZrQtHwqxIrJeytJKpz8xpjvZddzYWx0";

/// Results of `(&(l=A)(st=X))`, each part of which a third of all people match.
pub(crate) const BOTH: u64 = 10;

/// The additional attributes of wide entries: texts, then numbers.
const WIDE: [&str; 15] = [
    "departmentNumber",
    "employeeType",
    "carLicense",
    "roomNumber",
    "displayName",
    "initials",
    "businessCategory",
    "street",
    "postOfficeBox",
    "postalCode",
    "physicalDeliveryOfficeName",
    "ou",
    "o",
    "homePostalAddress",
    "postalAddress",
];
const WIDE_NUMBERS: [&str; 5] = [
    "mobile",
    "pager",
    "homePhone",
    "facsimileTelephoneNumber",
    "telephoneNumber",
];

const MEMBERS_MAX: u64 = 100_000;

/// The entries written for a number of people.
pub(crate) const fn entries(people: u64) -> u64 {
    people + 4
}

/// Writes them; wide ones have twenty attributes more, some with several values.
pub(crate) fn write(people: u64, wide: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: Example\ndc: example\n"
    )?;
    for unit in ["people", "groups"] {
        writeln!(
            out,
            "dn: ou={unit},{SUFFIX}\nobjectClass: organizationalUnit\nou: {unit}\n"
        )?;
    }
    for number in 0..people {
        person(number, people, wide, out)?;
    }
    writeln!(
        out,
        "dn: cn=big,ou=groups,{SUFFIX}\nobjectClass: groupOfNames\ncn: big"
    )?;
    for number in 0..people.min(MEMBERS_MAX) {
        writeln!(out, "member: {}", dn(number))?;
    }
    writeln!(out)
}

fn person(number: u64, people: u64, wide: bool, out: &mut impl Write) -> io::Result<()> {
    let any = mix(number) as usize;
    let (given, family) = names(number);
    let word = word(number);
    // Each third is scattered over the database, because ranges of adjacent ids would be as good as
    // sets.
    let place = scattered(number, people);
    let third = people / 3;
    let city = if place < third { "A" } else { "B" };
    let from = third.saturating_sub(BOTH);
    let state = if (from..from + third).contains(&place) {
        "X"
    } else {
        "Y"
    };
    writeln!(
        out,
        "dn: {}\nobjectClass: person\nobjectClass: organizationalPerson\n\
         objectClass: inetOrgPerson\nuid: user.{number}\ncn: {given} {family} {word}\nsn: {family}\ngivenName: {given}\n\
         mail: {}\nl: {city}\nst: {state}\nemployeeNumber: {number}\n\
         telephoneNumber: +49 421 555 {:04}\ntitle: Instrument maker\n\
         description: adjusts, repairs and tests what is measured with\nuserPassword: {HASHED}",
        dn(number),
        mail(number),
        any % 10_000
    )?;
    if wide {
        for name in WIDE {
            writeln!(out, "{name}: {name} of {given} {family}, number {number}")?;
        }
        for name in WIDE_NUMBERS {
            writeln!(out, "{name}: +49 421 {:04} {}", any % 10_000, number % 1000)?;
        }
        for line in 0..8 {
            writeln!(
                out,
                "description: line {line} of what {given} {family} does, number {number}"
            )?;
        }
    }
    writeln!(out)
}

/// The DN of a person.
pub(super) fn dn(number: u64) -> String {
    format!("uid=user.{number},ou=people,{SUFFIX}")
}

/// The mail address of a person.
pub(super) fn mail(number: u64) -> String {
    let (given, family) = names(number);
    format!("{given}.{family}.{number}@example.com")
}

/// The given name and the family name of a person.
fn names(number: u64) -> (&'static str, &'static str) {
    const GIVEN: [&str; 8] = [
        "Ada", "Bela", "Cleo", "Dora", "Emil", "Finn", "Greta", "Hugo",
    ];
    const FAMILY: [&str; 8] = [
        "Stone", "Rivers", "Field", "Wood", "Hill", "Brook", "Marsh", "Lake",
    ];
    let any = mix(number) as usize;
    (GIVEN[any % 8], FAMILY[any / 8 % 8])
}

/// Six letters and digits, different for each person: what substring searches look for.
pub(super) fn word(number: u64) -> String {
    const SIGNS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut rest = scattered(number, 36_u64.pow(6));
    let mut word = String::new();
    for _ in 0..6 {
        word.push(char::from(SIGNS[(rest % 36) as usize]));
        rest /= 36;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_are_said_match() {
        let mut ldif = Vec::new();
        write(3000, false, &mut ldif).unwrap();
        let text = String::from_utf8(ldif).unwrap();
        let people: Vec<&str> = text
            .split("\n\n")
            .filter(|entry| entry.contains("uid: "))
            .collect();
        let both = people
            .iter()
            .filter(|one| one.contains("\nl: A\n") && one.contains("\nst: X\n"));
        assert_eq!((people.len(), both.count() as u64), (3000, BOTH));
        assert_eq!(text.matches("dn: ").count() as u64, entries(3000));
        let words: std::collections::HashSet<_> = (0..3000).map(word).collect();
        assert_eq!(words.len(), 3000);
    }
}
