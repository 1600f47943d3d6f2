//! The second data set: staff in departments, and groups of very different sizes.
//!
//! ```text
//!   ou=staff      200 departments, few of them large      uid=kbt4f0a,ou=d17,ou=staff
//!     person      one to four cn, one to three mail, family names of two to four syllables
//!   ou=groups     one group for each 200 people; the first ones are large
//!   ou=people     empty; the bench adds people there
//! ```
//!
//! Numbers decide everything, so the data are the same each time. Names, shapes and distributions
//! are not those of the first set.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::people::{HASHED, SUFFIX};
use crate::workload::data::mix;

const DEPARTMENTS: u64 = 200;
const CITIES: u64 = 300;
/// People for each group.
const PEOPLE_PER_GROUP: u64 = 200;
const MEMBERS_MAX: u64 = 100_000;

const STARTS: [&str; 24] = [
    "Ba", "Ber", "Cor", "Da", "Dun", "Es", "Fal", "Gor", "Ha", "Il", "Jan", "Kel", "Lo", "Mar",
    "Ne", "Or", "Pas", "Qui", "Ro", "Sel", "Tam", "Ul", "Vor", "Wes",
];
const MIDDLES: [&str; 20] = [
    "la", "ren", "di", "mo", "ska", "vi", "the", "nu", "cha", "gar", "li", "bo", "rin", "tze",
    "pa", "wy", "lo", "dra", "fe", "ki",
];
const ENDS: [&str; 16] = [
    "son", "berg", "ton", "ska", "ini", "ov", "well", "ard", "ley", "man", "dez", "holt", "croft",
    "sen", "lin", "quist",
];
const TITLES: [&str; 12] = [
    "Technician",
    "Harbour Pilot",
    "Accountant",
    "Night Shift Supervisor",
    "Nurse",
    "Crane Operator",
    "Archivist",
    "Data Analyst",
    "Head of Procurement",
    "Apprentice",
    "Translator",
    "Safety Inspector",
];
const WORDS: [&str; 20] = [
    "night", "shift", "keys", "of", "hall", "seven", "first", "aid", "trained", "until", "spring",
    "works", "with", "cold", "store", "ring", "twice", "parking", "permit", "north",
];

/// Entries of a directory with this many staff.
pub(crate) const fn entries(people: u64) -> u64 {
    4 + DEPARTMENTS + people + groups(people)
}

const fn groups(people: u64) -> u64 {
    people / PEOPLE_PER_GROUP + 1
}

/// Writes them.
pub(crate) fn write(people: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: Harbour Authority\ndc: example\n"
    )?;
    let units = ["people", "groups", "staff"].map(|name| (name.to_owned(), SUFFIX.to_owned()));
    let below = format!("ou=staff,{SUFFIX}");
    let departments = (0..DEPARTMENTS).map(|number| (format!("d{number}"), below.clone()));
    for (name, parent) in units.into_iter().chain(departments) {
        writeln!(
            out,
            "dn: ou={name},{parent}\nobjectClass: organizationalUnit\nou: {name}\n"
        )?;
    }
    for number in 0..people {
        out.write_all(Person::new(number).ldif().as_bytes())?;
    }
    for number in 0..groups(people) {
        group(number, people, out)?;
    }
    Ok(())
}

/// The cn values of each entry that has some.
pub(super) fn cns(people: u64) -> impl Iterator<Item = Vec<String>> {
    let of_person = |number| {
        let values = Person::new(number).values().into_iter();
        let cns = values.filter(|(name, _)| *name == "cn");
        cns.map(|(_, cn)| cn).collect()
    };
    let of_groups = (0..groups(people)).map(|number| vec![group_name(number)]);
    (0..people).map(of_person).chain(of_groups)
}

/// The first group is `cn=big`.
fn group_name(number: u64) -> String {
    match number {
        0 => "big".to_owned(),
        _ => format!("team {} {number}", Numbers::new(number, 9).family()),
    }
}

/// A group. Sizes fall with the number.
fn group(number: u64, people: u64, out: &mut impl Write) -> io::Result<()> {
    let name = group_name(number);
    writeln!(
        out,
        "dn: cn={name},ou=groups,{SUFFIX}\nobjectClass: groupOfNames\ncn: {name}"
    )?;
    let size = (people / (number + 1)).clamp(1, MEMBERS_MAX);
    // A step that shares no factor with the count visits each person once.
    let step = (1..)
        .map(|more| 7919 * number + more)
        .find(|step| gcd(*step, people) == 1);
    for at in 0..size {
        let person = at.wrapping_mul(step.unwrap_or(1)) % people.max(1);
        writeln!(out, "member: {}", Person::new(person).dn())?;
    }
    writeln!(out)
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Numbers that look like any others, from the number of an entry.
struct Numbers(u64);

impl Numbers {
    fn new(number: u64, purpose: u64) -> Numbers {
        Numbers(mix(number ^ (purpose << 48)))
    }

    fn below(&mut self, count: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % count.max(1)
    }

    /// A number below `count`; small ones are common.
    fn skewed(&mut self, count: u64) -> u64 {
        let part = self.below(1 << 20) as f64 / (1_u64 << 20) as f64;
        ((count as f64 * part * part * part) as u64).min(count.saturating_sub(1))
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }

    fn given(&mut self) -> String {
        let number = self.skewed(400);
        let mut own = Numbers::new(number, 3);
        format!("{}{}", own.of(&STARTS), own.of(&MIDDLES))
    }

    /// Two to four syllables; a tenth of all names have two parts.
    fn family(&mut self) -> String {
        let mut own = Numbers::new(self.skewed(60_000), 4);
        let mut name = own.of(&STARTS).to_owned();
        for _ in 0..own.below(3) {
            name += own.of(&MIDDLES);
        }
        name += own.of(&ENDS);
        match self.below(10) {
            0 => {
                let mut other = Numbers::new(self.skewed(60_000), 4);
                format!("{name}-{}{}", other.of(&STARTS), other.of(&ENDS))
            }
            _ => name,
        }
    }
}

struct Person {
    number: u64,
    given: String,
    middle: String,
    family: String,
    title: &'static str,
    department: u64,
    numbers: Numbers,
}

impl Person {
    fn new(number: u64) -> Person {
        let mut numbers = Numbers::new(number, 1);
        Person {
            number,
            given: numbers.given(),
            middle: numbers.given(),
            family: numbers.family(),
            title: numbers.of(&TITLES),
            department: numbers.skewed(DEPARTMENTS),
            numbers,
        }
    }

    /// Three letters and the number with base 36.
    fn uid(&self) -> String {
        const SIGNS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let initial = |name: &str| name.chars().next().unwrap_or('x').to_ascii_lowercase();
        let mut uid: String = [&self.given, &self.middle, &self.family]
            .map(|name| initial(name))
            .iter()
            .collect();
        let mut rest = self.number + 46_656;
        while rest > 0 {
            uid.push(char::from(SIGNS[(rest % 36) as usize]));
            rest /= 36;
        }
        uid
    }

    fn dn(&self) -> String {
        format!(
            "uid={},ou=d{},ou=staff,{SUFFIX}",
            self.uid(),
            self.department
        )
    }

    fn ldif(self) -> String {
        let classes = ["inetOrgPerson", "organizationalPerson", "person"]
            .map(|class| format!("objectClass: {class}\n"))
            .concat();
        let mut out = format!("dn: {}\n{classes}", self.dn());
        // Two values of a person may be the same by chance; an attribute is a set.
        let mut seen = std::collections::HashSet::new();
        for (name, value) in self.values() {
            if seen.insert((name, value.to_lowercase())) {
                let _ = writeln!(out, "{name}: {value}");
            }
        }
        let _ = writeln!(out, "userPassword: {HASHED}\n");
        out
    }

    /// Attributes with values.
    fn values(self) -> Vec<(&'static str, String)> {
        let uid = self.uid();
        let Person {
            number,
            given,
            middle,
            family,
            title,
            department,
            mut numbers,
        } = self;
        let (first, second) = (given.to_lowercase(), family.to_lowercase());
        let room = numbers.below(4000);
        let cns = [
            format!("{given} {middle} {family} ({title}, Department {department}, Room {room})"),
            format!("{family}, {given} {middle}"),
            format!("{given} {family}"),
            format!("{title} {family} {number}"),
        ];
        let mails = [
            format!("{uid}@harbour.example"),
            format!("{first}.{second}.{number}@staff.harbour.example"),
            format!("{number}@post.example"),
        ];
        let part = family.split('-').next().unwrap_or_default().to_owned();
        let (cn_count, mail_count) = (1 + numbers.below(4), 1 + numbers.below(3));
        let mut values = Vec::new();
        let mut add =
            |name, texts: Vec<String>| values.extend(texts.into_iter().map(|text| (name, text)));
        add("uid", vec![uid]);
        add("cn", cns.into_iter().take(cn_count as usize).collect());
        add("sn", vec![family, part]);
        add("givenName", vec![given, middle]);
        add(
            "mail",
            mails.into_iter().take(mail_count as usize).collect(),
        );
        let count = numbers.below(4);
        let phones = (0..count).map(|_| numbers.below(10_000_000));
        add(
            "telephoneNumber",
            phones.map(|phone| format!("+31 10 {phone:07}")).collect(),
        );
        add("l", vec![format!("Port {}", numbers.skewed(CITIES))]);
        add("st", vec![format!("Region {}", numbers.skewed(30))]);
        add("title", vec![title.to_owned()]);
        add("employeeNumber", vec![format!("H-{}", number * 7 + 13)]);
        let count = numbers.below(30);
        let words: Vec<&str> = (0..count).map(|_| numbers.of(&WORDS)).collect();
        if !words.is_empty() {
            add("description", vec![words.join(" ")]);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn staff_is_whole_and_unlike_people() {
        let mut ldif = Vec::new();
        write(3000, &mut ldif).unwrap();
        let text = String::from_utf8(ldif).unwrap();
        let records: Vec<&str> = text.split_terminator("\n\n").collect();
        assert_eq!(records.len() as u64, entries(3000));
        let names: HashSet<&str> = records
            .iter()
            .filter_map(|one| one.lines().next())
            .collect();
        assert_eq!(names.len(), records.len(), "names differ");
        let staff = records.iter().filter(|one| one.contains("\nuid: "));
        let cns: Vec<usize> = staff.map(|one| one.matches("\ncn: ").count()).collect();
        assert_eq!(cns.len(), 3000);
        assert!((1..=4).all(|count| cns.contains(&count)));
        let members: HashSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("member: "))
            .collect();
        assert!(
            members
                .iter()
                .all(|dn| names.contains(format!("dn: {dn}").as_str()))
        );
        let big = records
            .iter()
            .find(|one| one.starts_with("dn: cn=big,"))
            .unwrap();
        let each: HashSet<&str> = big.lines().collect();
        assert_eq!(
            each.iter()
                .filter(|line| line.starts_with("member: "))
                .count(),
            3000
        );
    }
}
