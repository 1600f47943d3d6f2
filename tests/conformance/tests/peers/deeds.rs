//! Updates as values, with controls, and odd ones made up.

use fulgurite_client::{Change, PartialAttribute};
use fulgurite_ldap::control::ReadEntry;
use fulgurite_ldap::{
    AddRequest, CompareRequest, DeleteRequest, FilterBuf, ModifyDnRequest, ModifyOperation,
    ModifyRequest, Request, Values, oid,
};
use fulgurite_testkit::Random;

use crate::data::SUFFIX;

pub(crate) const ADA: &str = "uid=ada,ou=people,dc=example,dc=org";
pub(crate) const BOB: &str = "uid=bob,ou=people,dc=example,dc=org";

/// A control that owns its value.
pub(crate) type Asked = (&'static str, bool, Option<Vec<u8>>);

/// An update or compare that owns what it asks for.
#[derive(Clone, Debug)]
pub(crate) enum Update {
    Add(String, Vec<(String, Vec<Vec<u8>>)>),
    Modify(String, Vec<(ModifyOperation, String, Vec<Vec<u8>>)>),
    Delete(String),
    Rename(String, String, bool, Option<String>),
    Compare(String, String, Vec<u8>),
}

impl Update {
    pub(crate) fn with_request<R>(&self, then: impl FnOnce(&Request<'_>) -> R) -> R {
        match self {
            Update::Add(dn, attributes) => {
                let values: Vec<Vec<&[u8]>> = attributes.iter().map(|(_, v)| slices(v)).collect();
                let attributes = attributes.iter().zip(&values);
                let attributes = attributes.map(|((name, _), values)| PartialAttribute {
                    description: name.as_bytes(),
                    values: Values::from_slices(values),
                });
                then(&Request::Add(AddRequest {
                    dn: dn.as_bytes(),
                    attributes: attributes.collect(),
                }))
            }
            Update::Modify(dn, changes) => {
                let values: Vec<Vec<&[u8]>> = changes.iter().map(|(.., v)| slices(v)).collect();
                let changes = changes.iter().zip(&values);
                let changes = changes.map(|((operation, name, _), values)| Change {
                    operation: *operation,
                    attribute: PartialAttribute {
                        description: name.as_bytes(),
                        values: Values::from_slices(values),
                    },
                });
                then(&Request::Modify(ModifyRequest {
                    dn: dn.as_bytes(),
                    changes: changes.collect(),
                }))
            }
            Update::Delete(dn) => then(&Request::Delete(DeleteRequest { dn: dn.as_bytes() })),
            Update::Rename(dn, rdn, delete_old_rdn, superior) => {
                then(&Request::ModifyDn(ModifyDnRequest {
                    dn: dn.as_bytes(),
                    new_rdn: rdn.as_bytes(),
                    delete_old_rdn: *delete_old_rdn,
                    new_superior: superior.as_ref().map(String::as_bytes),
                }))
            }
            Update::Compare(dn, attribute, value) => then(&Request::Compare(CompareRequest {
                dn: dn.as_bytes(),
                assertion: fulgurite_ldap::Assertion {
                    attribute: attribute.as_bytes(),
                    value,
                },
            })),
        }
    }
}

fn slices(values: &[Vec<u8>]) -> Vec<&[u8]> {
    values.iter().map(Vec::as_slice).collect()
}

pub(crate) fn bytes(values: &[&str]) -> Vec<Vec<u8>> {
    values
        .iter()
        .map(|value| value.as_bytes().to_vec())
        .collect()
}

pub(crate) fn replace(dn: &str, name: &str, values: &[&str]) -> Update {
    let change = (ModifyOperation::Replace, name.to_owned(), bytes(values));
    Update::Modify(dn.to_owned(), vec![change])
}

pub(crate) fn change(operation: ModifyOperation, dn: &str, name: &str, values: &[&str]) -> Update {
    Update::Modify(
        dn.to_owned(),
        vec![(operation, name.to_owned(), bytes(values))],
    )
}

pub(crate) fn person(cn: &str, more: &[(&str, &str)]) -> Update {
    let mut attributes = vec![
        ("objectClass".to_owned(), bytes(&["person"])),
        ("cn".to_owned(), bytes(&[cn])),
        ("sn".to_owned(), bytes(&["z"])),
    ];
    attributes.extend(
        more.iter()
            .map(|(name, v)| ((*name).to_owned(), bytes(&[v]))),
    );
    Update::Add(format!("cn={cn},{SUFFIX}"), attributes)
}

pub(crate) fn assertion(filter: &str) -> Asked {
    let filter = FilterBuf::parse(filter).expect(filter);
    (oid::ASSERTION, true, Some(filter.encoded().to_vec()))
}

pub(crate) fn reading(oid: &'static str, critical: bool, names: &[&str]) -> Asked {
    let attributes = names.iter().map(|name| name.as_bytes()).collect();
    (oid, critical, Some(ReadEntry { attributes }.encode()))
}

fn pick<'t>(random: &mut Random, from: &[&'t str]) -> &'t str {
    from[random.below(from.len())]
}

const ODD: &[(&str, &[&str])] = &[
    ("cn", &["n1", "N1", "n2", "User  One", "x"]),
    ("sn", &["One", "one", "z", "  Z  ", "y"]),
    (
        "description",
        &["a", "A", "b", " b ", "c d", "c  d", "", "\u{e4}"],
    ),
    (
        "objectClass",
        &[
            "person",
            "inetOrgPerson",
            "posixAccount",
            "top",
            "organizationalUnit",
            "extensibleObject",
            "alias",
            "referral",
            "uidObject",
            "bogus",
            "account",
        ],
    ),
    ("uidNumber", &["1", "01", "2", "-3", "x", "1001"]),
    ("gidNumber", &["100", "5", "0"]),
    ("telephoneNumber", &["+1 555", "+1555", "1 5-55", "abc"]),
    ("mail", &["A@b.c", "a@b.c", "z"]),
    ("jpegPhoto", &["x"]),
    ("seeAlso", &[SUFFIX, "dc=EXAMPLE, dc=org", "nodn"]),
    ("userPassword", &["one", "two"]),
    ("title;lang-de", &["t", "T"]),
    ("title", &["t", "T", "u"]),
    ("homeDirectory", &["/home/u1", "/h"]),
    ("uid", &["ada", "bob", "ADA", "q"]),
    ("ou", &["p", "P", "q"]),
    ("bogus", &["x"]),
    ("creatorsName", &["cn=x"]),
    ("c", &["de", "DE", "germany"]),
    ("employeeType", &["a", "b"]),
    ("2.5.4.4", &["One", "q"]),
    ("surname", &["One", "w"]),
    ("preferredLanguage", &["de"]),
    ("ref", &["ldap://x/"]),
    ("aliasedObjectName", &["ou=things,dc=example,dc=org"]),
];

fn odd_name(random: &mut Random) -> String {
    let names = [
        ADA,
        BOB,
        "ou=people,dc=example,dc=org",
        "ou=things,dc=example,dc=org",
        "cn=ref,dc=example,dc=org",
        "cn=alias,dc=example,dc=org",
        "cn=n0,ou=people,dc=example,dc=org",
        "cn=n1,ou=people,dc=example,dc=org",
        "cn=n2,ou=people,dc=example,dc=org",
        "cn=n1,ou=things,dc=example,dc=org",
        "cn=n2,ou=things,dc=example,dc=org",
        "cn=m,cn=n1,ou=people,dc=example,dc=org",
        "cn=x,cn=alias,dc=example,dc=org",
        "cn=x,cn=ref,dc=example,dc=org",
        "cn=none,ou=none,dc=example,dc=org",
        SUFFIX,
    ];
    pick(random, &names).to_owned()
}

fn odd_attribute(random: &mut Random, least: usize) -> (String, Vec<Vec<u8>>) {
    let among = if random.below(2) == 0 { 6 } else { ODD.len() };
    let (name, values) = ODD[random.below(among)];
    let count = [0, 1, 1, 1, 1, 2, 2, 3][random.below(8)].max(least);
    let values = (0..count).map(|_| pick(random, values).as_bytes().to_vec());
    (name.to_owned(), values.collect())
}

pub(crate) fn odd_deed(random: &mut Random) -> Update {
    let dn = odd_name(random);
    match random.below(12) {
        0..=2 => {
            let classes: &[&str] = match random.below(6) {
                0 => &["person"],
                1 => &["inetOrgPerson"],
                2 => &["inetOrgPerson", "posixAccount"],
                3 => &["person", "extensibleObject"],
                4 => &["organizationalUnit"],
                _ => &["account"],
            };
            let mut attributes = vec![("objectClass".to_owned(), bytes(classes))];
            attributes.push(("sn".to_owned(), bytes(&["z"])));
            if random.below(2) == 0 {
                attributes.push(odd_attribute(random, 1));
            }
            Update::Add(dn, attributes)
        }
        3..=7 => {
            let count = [1, 1, 1, 2, 2, 3][random.below(6)];
            let changes = (0..count).map(|_| {
                use ModifyOperation::{Add, Delete, Increment, Replace};
                let operation = [Add, Delete, Replace, Replace, Add, Delete, Increment];
                let operation = operation[random.below(7)];
                let least = usize::from(matches!(operation, Add | Increment));
                let (name, values) = odd_attribute(random, least);
                (operation, name, values)
            });
            Update::Modify(dn, changes.collect())
        }
        8 => Update::Delete(dn),
        9 | 10 => {
            let rdn = [
                "cn=n0",
                "cn=n1",
                "cn=N1",
                "uid=ada",
                "uid=u9",
                "sn=z",
                "cn=n1+sn=z",
                "ou=p",
                "bogus=x",
                "cn=",
                "dc=x",
                "uidNumber=3",
                "title=t",
                "cn=n1,ou=q",
                "x",
                "telephoneNumber=1 5-55",
                "cn=a+cn=b",
            ];
            let superior = (random.below(2) == 0).then(|| odd_name(random));
            let rdn = pick(random, &rdn).to_owned();
            Update::Rename(dn, rdn, random.below(2) == 0, superior)
        }
        _ => {
            let (name, mut values) = odd_attribute(random, 1);
            Update::Compare(dn, name, values.swap_remove(0))
        }
    }
}

pub(crate) fn odd_controls(random: &mut Random) -> Vec<Asked> {
    let mut controls = Vec::new();
    if random.below(5) > 1 {
        return controls;
    }
    if random.below(5) < 2 {
        controls.push((oid::MANAGE_DSA_IT, true, None));
    }
    match random.below(6) {
        0 => controls.push((oid::NO_OP, true, None)),
        1 => controls.push((oid::RELAX, false, None)),
        2 => {
            let (name, values) = odd_attribute(random, 1);
            let value = String::from_utf8_lossy(&values[0]).into_owned();
            controls.push(assertion(&format!("({name}={value})")));
        }
        3 => controls.push(reading(oid::PRE_READ, false, &["*"])),
        4 => controls.push(reading(oid::POST_READ, false, &["*"])),
        _ => {}
    }
    controls
}
