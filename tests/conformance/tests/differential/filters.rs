//! Filters: octets, and the text that a person would write for them.

use fulgurite_testkit::Random;

use crate::ber::{boolean, group, octets, tlv};
use crate::values::{attribute, value};

/// A filter as it travels, with its text.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) octets: Vec<u8>,
    pub(crate) text: String,
}

impl Filter {
    pub(crate) fn everything() -> Filter {
        present("objectClass")
    }
}

fn present(name: &str) -> Filter {
    Filter {
        octets: tlv(0x87, name.as_bytes()),
        text: format!("({name}=*)"),
    }
}

/// Any filter, at most `depth` junctions deep.
pub(crate) fn any(depth: usize, names: &[String], random: &mut Random) -> Filter {
    if depth == 0 || random.chance(60) {
        return item(names, random);
    }
    let (tag, sign, least, most) = match random.below(3) {
        0 => (0xa0, '&', 0, 3),
        1 => (0xa1, '|', 0, 3),
        _ => (0xa2, '!', 1, 1),
    };
    // Empty junctions are rare in the wild.
    let count = random
        .between(least, most)
        .max(usize::from(random.chance(90)));
    let parts: Vec<Filter> = (0..count).map(|_| any(depth - 1, names, random)).collect();
    let octets: Vec<Vec<u8>> = parts.iter().map(|part| part.octets.clone()).collect();
    let text: String = parts.iter().map(|part| part.text.as_str()).collect();
    Filter {
        octets: group(tag, &octets),
        text: format!("({sign}{text})"),
    }
}

/// One assertion.
pub(crate) fn item(names: &[String], random: &mut Random) -> Filter {
    let (name, kind) = attribute(random);
    match random.below(20) {
        0..=2 => return Filter::everything(),
        3..=4 => return present(name),
        5..=7 => return substrings(name, random),
        8 => return extensible(name, names, random),
        _ => {}
    }
    let asserted = value(kind, names, random);
    // Each server makes its own identifiers: which is the greater is chance.
    let orders = if name == "entryUUID" { 2 } else { 0 };
    let (tag, sign) = match orders + random.below(12 - orders) {
        0 => (0xa5, ">="),
        1 => (0xa6, "<="),
        _ => (0xa3, "="),
    };
    Filter {
        octets: group(tag, &[octets(name), octets(&asserted)]),
        text: format!("({name}{sign}{})", asserted.escape_ascii()),
    }
}

// Not of spaces alone: slapd and we differ there, see the deviations in the tests with slapd.
const PIECES: &[&str] = &[
    "a", "al", "alph", "e", "et", "secret", "Z", "one", "wave", "ü", "1", "example", "  two",
];

fn substrings(name: &str, random: &mut Random) -> Filter {
    let mut parts = Vec::new();
    let mut text = format!("({name}=");
    if random.chance(50) {
        let piece = random.pick(PIECES);
        parts.push(tlv(0x80, piece.as_bytes()));
        text += piece;
    }
    text.push('*');
    for _ in 0..random.below(3) {
        let piece = random.pick(PIECES);
        parts.push(tlv(0x81, piece.as_bytes()));
        text += piece;
        text.push('*');
    }
    if parts.is_empty() || random.chance(30) {
        let piece = random.pick(PIECES);
        parts.push(tlv(0x82, piece.as_bytes()));
        text += piece;
    }
    text.push(')');
    Filter {
        octets: group(0xa4, &[octets(name), group(0x30, &parts)]),
        text,
    }
}

const RULES: &[&str] = &[
    "caseExactMatch",
    "caseIgnoreMatch",
    "2.5.13.2",
    "2.5.13.5",
    "distinguishedNameMatch",
    "integerMatch",
    "integerBitAndMatch",
    "1.2.840.113556.1.4.804",
    "caseIgnoreIA5Match",
    "objectIdentifierMatch",
    "octetStringMatch",
    "numericStringMatch",
    "dnSubtreeMatch",
    "dnOneLevelMatch",
    "booleanMatch",
    "undefinedMatch",
    "caseIgnoreOrderingMatch",
];

fn extensible(name: &str, names: &[String], random: &mut Random) -> Filter {
    let (_, kind) = attribute(random);
    let asserted = value(kind, names, random);
    let (has_type, has_rule) =
        [(true, true), (true, false), (false, true), (true, true)][random.below(4)];
    let dn = random.chance(30);
    let rule = random.pick(RULES);
    let mut parts = Vec::new();
    let mut text = String::from("(");
    if has_rule {
        parts.push(tlv(0x81, rule.as_bytes()));
    }
    if has_type {
        parts.push(tlv(0x82, name.as_bytes()));
        text += name;
    }
    parts.push(tlv(0x83, &asserted));
    if dn {
        let mut flag = boolean(true);
        flag[0] = 0x84;
        parts.push(flag);
        text += ":dn";
    }
    if has_rule {
        text.push(':');
        text += rule;
    }
    Filter {
        octets: group(0xa9, &parts),
        text: format!("{text}:={})", asserted.escape_ascii()),
    }
}
