//! Controls of requests: those that both servers know, and odd ones.

use fulgurite_testkit::Random;

use crate::ber::{boolean, group, integer, octets, sequence, tlv};
use crate::filters;
use crate::values::attribute;

/// A control, or the description of one that changes from request to request.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    Fixed {
        oid: String,
        critical: bool,
        value: Option<Vec<u8>>,
    },
    /// Paged results: the conversation puts in each server's own cookie.
    Paged { size: i64, critical: bool },
}

/// The kind of a request, as far as controls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Search,
    Update,
    Other,
}

impl Control {
    pub(crate) fn manage_dsa_it() -> Control {
        fixed("2.16.840.1.113730.3.4.2", true, None)
    }

    /// As it travels.
    pub(crate) fn octets(&self, cookie: &[u8]) -> Vec<u8> {
        let (oid, critical, value) = match self {
            Control::Fixed {
                oid,
                critical,
                value,
            } => (oid.as_str(), *critical, value.clone()),
            Control::Paged { size, critical } => {
                let value = sequence(&[integer(*size), octets(cookie)]);
                ("1.2.840.113556.1.4.319", *critical, Some(value))
            }
        };
        let mut parts = vec![octets(oid)];
        if critical {
            parts.push(boolean(true));
        }
        parts.extend(value.map(octets));
        sequence(&parts)
    }
}

pub(crate) fn fixed(oid: &str, critical: bool, value: Option<Vec<u8>>) -> Control {
    Control::Fixed {
        oid: oid.to_owned(),
        critical,
        value,
    }
}

/// Those of one request: mostly none.
pub(crate) fn some(target: Target, names: &[String], random: &mut Random) -> Vec<Control> {
    let mut chosen = Vec::new();
    while random.chance(if chosen.is_empty() { 30 } else { 15 }) {
        chosen.push(one(target, names, random));
    }
    if random.chance(1) && !chosen.is_empty() {
        chosen.push(chosen[0].clone());
    }
    chosen
}

fn one(target: Target, names: &[String], random: &mut Random) -> Control {
    let critical = random.chance(50);
    let of_searches = |random: &mut Random| match random.below(6) {
        0 | 1 => Control::Paged {
            size: [1, 2, 3, 10, 1000][random.below(5)],
            critical,
        },
        2 => sort(critical, random),
        3 => matched_values(critical, names, random),
        4 => fixed(
            "1.3.6.1.4.1.4203.1.10.1",
            critical,
            Some(boolean(random.chance(50))),
        ),
        _ => fixed("1.2.840.113556.1.4.1339", critical, None),
    };
    let of_updates = |random: &mut Random| match random.below(5) {
        0 | 1 => read_entry(critical, random),
        2 => fixed("1.2.840.113556.1.4.1413", critical, None),
        3 => fixed("1.3.6.1.4.1.4203.666.5.12", critical, None),
        _ => fixed("1.3.6.1.4.1.4203.666.5.2", critical, None),
    };
    match (random.below(10), target) {
        (0..=4, Target::Search) => of_searches(random),
        (0..=4, Target::Update) => of_updates(random),
        // Also where they do not belong.
        (5, _) => {
            if random.chance(50) {
                of_searches(random)
            } else {
                of_updates(random)
            }
        }
        (6, _) => assertion(critical, names, random),
        (7, _) => proxied(names, random),
        (8, _) => odd(critical, random),
        _ => fixed("2.16.840.1.113730.3.4.2", critical, None),
    }
}

fn assertion(critical: bool, names: &[String], random: &mut Random) -> Control {
    let filter = filters::any(1, names, random);
    fixed("1.3.6.1.1.12", critical, Some(filter.octets))
}

fn read_entry(critical: bool, random: &mut Random) -> Control {
    let oid = ["1.3.6.1.1.13.1", "1.3.6.1.1.13.2"][random.below(2)];
    let names: Vec<Vec<u8>> = (0..random.below(4))
        .map(|_| octets(["*", "+", "cn", "description", "1.1", "undefinedType"][random.below(6)]))
        .collect();
    fixed(oid, critical, Some(sequence(&names)))
}

fn sort(critical: bool, random: &mut Random) -> Control {
    let keys: Vec<Vec<u8>> = (0..random.between(1, 2))
        .map(|_| {
            let (name, _) = attribute(random);
            let mut parts = vec![octets(name)];
            if random.chance(25) {
                let rule = [
                    "caseIgnoreOrderingMatch",
                    "integerOrderingMatch",
                    "2.5.13.3",
                    "undefinedMatch",
                ][random.below(4)];
                parts.push(tlv(0x80, rule.as_bytes()));
            }
            if random.chance(30) {
                parts.push(tlv(0x81, &[0xff]));
            }
            sequence(&parts)
        })
        .collect();
    fixed("1.2.840.113556.1.4.473", critical, Some(sequence(&keys)))
}

fn matched_values(critical: bool, names: &[String], random: &mut Random) -> Control {
    let items: Vec<Vec<u8>> = (0..random.between(1, 2))
        .map(|_| filters::item(names, random).octets)
        .collect();
    fixed("1.2.826.0.1.3344810.2.3", critical, Some(sequence(&items)))
}

fn proxied(names: &[String], random: &mut Random) -> Control {
    let identity = match random.below(6) {
        0 => String::new(),
        1 => "u:ada".to_owned(),
        2 => "nonsense".to_owned(),
        3 => format!("dn:{}", random.pick(names)),
        4 => "dn:uid=bob,ou=People,dc=example,dc=org".to_owned(),
        _ => "dn:uid=ada,ou=People,dc=example,dc=org".to_owned(),
    };
    let critical = !random.chance(10);
    fixed(
        "2.16.840.1.113730.3.4.18",
        critical,
        Some(identity.into_bytes()),
    )
}

fn odd(critical: bool, random: &mut Random) -> Control {
    match random.below(8) {
        0 => fixed("1.2.3.4.5", critical, None),
        1 => fixed("1.2.3.4.5", critical, Some(b"value".to_vec())),
        2 => fixed("2.16.840.1.113730.3.4.2", critical, Some(b"value".to_vec())),
        3 => fixed(
            "1.2.840.113556.1.4.319",
            critical,
            Some(b"nonsense".to_vec()),
        ),
        4 => fixed("1.3.6.1.1.12", critical, None),
        5 => fixed("1.3.6.1.1.13.1", critical, Some(group(0x31, &[]))),
        6 => fixed("1.2.840.113556.1.4.473", critical, Some(sequence(&[]))),
        _ => fixed("1.3.6.1.1.22", critical, None),
    }
}
