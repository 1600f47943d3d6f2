//! Every form of filter and of attribute selection, side by side with slapd.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fulgurite_client::Scope;
use fulgurite_testkit::{Random, seed};

use crate::data::SUFFIX;
use crate::side_by_side::{Pair, Search, tree};

/// Extensible matches, options, subtypes and nonsense: each alone, negated, and combined.
const FILTERS: &[&str] = &[
    "(sn:=abel)",
    "(sn:caseExactMatch:=Abel)",
    "(sn:2.5.13.5:=abel)",
    "(sn:caseIgnoreOrderingMatch:=b)",
    "(sn:caseIgnoreSubstringsMatch:=a)",
    "(sn:integerMatch:=1)",
    "(sn:nope:=abel)",
    "(nope:caseExactMatch:=abel)",
    "(:caseExactMatch:=Abel)",
    "(:caseIgnoreMatch:=u1)",
    "(:dn:caseIgnoreMatch:=u1)",
    "(ou:dn:=u1)",
    "(ou:dn:caseExactMatch:=U1)",
    "(ou:dn:caseIgnoreMatch:=U1)",
    "(dc:dn:=EXAMPLE)",
    "(name:dn:=u1)",
    "(uid:dn:=p1)",
    "(:dn:2.5.13.5:=example)",
    "(:dn:distinguishedNameMatch:=ou=u1)",
    "(cn:dn:=x)",
    "(uidNumber:=500)",
    "(uidNumber:integerMatch:=0500)",
    "(uidNumber:integerOrderingMatch:=1000)",
    "(uidNumber:1.2.840.113556.1.4.803:=4)",
    "(uidNumber:1.2.840.113556.1.4.803:=5)",
    "(uidNumber:1.2.840.113556.1.4.804:=12)",
    "(uidNumber:1.2.840.113556.1.4.804:=0)",
    "(uidNumber:1.2.840.113556.1.4.803:=x)",
    "(gidNumber:integerBitAndMatch:=1)",
    "(sn:1.2.840.113556.1.4.803:=1)",
    "(member:=uid=p1,ou=u1,dc=example,dc=org)",
    "(member:dnSubtreeMatch:=ou=u1,dc=example,dc=org)",
    "(member:dnOneLevelMatch:=dc=example,dc=org)",
    "(member:dnSubordinateMatch:=dc=example,dc=org)",
    "(member:dnSuperiorMatch:=uid=p1,ou=u1,ou=u0,dc=example,dc=org)",
    "(entryDN:dnSubtreeMatch:=ou=u1,dc=example,dc=org)",
    "(entryDN:dnOneLevelMatch:=dc=example,dc=org)",
    "(entryDN:dnSubordinateMatch:=ou=u0,dc=example,dc=org)",
    // slapd forgets the parent of a name that does not exist.
    "(entryDN:dnSuperiorMatch:=ou=u0,dc=example,dc=org)",
    "(objectClass:=person)",
    "(objectClass:caseIgnoreMatch:=person)",
    "(creatorsName:=cn=admin,dc=example,dc=org)",
    "(createTimestamp:generalizedTimeOrderingMatch:=20300101000000Z)",
    "(cn;lang-de=*)",
    "(cn;lang-de=person 1 de)",
    "(cn;lang-=person 1 de)",
    "(cn;lang-fr=*)",
    "(cn=person 1 de)",
    "(cn=*de)",
    "(name=person 1 de)",
    "(name;lang-de=*)",
    "(name=abel)",
    "(cn;x-nope=*)",
    "(userCertificate=*)",
    "(userCertificate;binary=*)",
    "(distinguishedName=*)",
    "(distinguishedName=uid=p1,dc=example,dc=org)",
    "(2.5.4.4=abel)",
    "(2.5.4.999=abel)",
    "(0.9.2342.19200300.100.1.1=p1)",
    "(uidNumber>=1000)",
    "(uidNumber<=1000)",
    "(uidNumber>=x)",
    "(sn>=b)",
    "(objectClass>=a)",
    "(mail=*)",
    "(mail=*@X.ORG)",
    "(mail=m*1*@x.org)",
    "(uidNumber=*1*)",
    "(member=*p1*)",
    "(objectClass=nope)",
    "(objectClass=2.5.6.6)",
    "(objectClass=top)",
    "(structuralObjectClass=person)",
    "(structuralObjectClass=inetOrgPerson)",
    "(hasSubordinates=TRUE)",
    "(hasSubordinates=FALSE)",
    "(hasSubordinates=*)",
    // By its value, which slapd makes up too late, we find what has it.
    "(subschemaSubentry=*)",
    "(entryDN=*)",
    "(entryDN=uid=P1,dc=example,dc=org)",
    "(entryUUID=*)",
    "(entryCSN=*)",
    "(&)",
    "(|)",
    "(&(sn=abel)(nope=x))",
    "(|(sn=abel)(nope=x))",
];

#[test]
fn filters_of_every_form_equal_slapds() {
    let mut random = Random::new(seed("filters_of_every_form_equal_slapds", 4_515));
    let (mut ldif, names) = tree(&mut random, 40);
    ldif = ldif.replace("cn: Person 1\n", "cn: Person 1\ncn;lang-de: Person 1 de\n");
    ldif = ldif.replace(
        "cn: Person 2\n",
        "cn: Person 2\ncn;lang-de-at: Person 2 de\n",
    );
    for number in 0..5 {
        let _ = write!(
            ldif,
            "dn: cn=g{number},{SUFFIX}\nobjectClass: groupOfNames\ncn: g{number}\n"
        );
        let members: BTreeSet<&String> = (0..4).map(|_| random.pick(&names)).collect();
        for member in members {
            let _ = writeln!(ldif, "member: {member}");
        }
        ldif.push('\n');
    }
    let mut pair = Pair::start("filters", &ldif);
    for filter in FILTERS {
        for filter in [
            (*filter).to_owned(),
            format!("(!{filter})"),
            format!("(&(objectClass=person){filter})"),
            format!("(|(uid=p3){filter})"),
            format!("(!(&(objectClass=person)(!{filter})))"),
        ] {
            pair.compare(&Search::new(SUFFIX, Scope::Subtree, &filter));
        }
        pair.compare(&Search::new(&names[2], Scope::One, filter));
    }
    pair.finish();
}

/// Lists of attributes, each for one kind of entry.
const SELECTIONS: &[&[&str]] = &[
    &[],
    &["*"],
    &["+"],
    &["*", "+"],
    &["1.1"],
    &["1.1", "sn"],
    &["*", "1.1"],
    &["@person"],
    &["@inetOrgPerson", "+"],
    &["@nope"],
    &["@top"],
    &["@2.5.6.6"],
    &["!person"],
    &["@extensibleObject"],
    &["name"],
    &["cn"],
    &["cn;lang-de"],
    &["cn;lang-de-"],
    &["cn;lang-"],
    &["cn;lang-fr"],
    &["cn;x-nope"],
    &["name;lang-de"],
    &["2.5.4.3"],
    &["CN", "cn", "commonName"],
    &["distinguishedName"],
    &["entryDN"],
    &["subschemaSubentry", "hasSubordinates"],
    &["structuralObjectClass"],
    &["creatorsName", "modifiersName"],
    &["objectClass", "nope"],
    &["nope"],
    &["userPassword"],
    &["", "sn"],
    &["sn", "*", "entryDN"],
    &["*;lang-de"],
];

#[test]
fn attributes_and_their_order_equal_slapds() {
    let mut random = Random::new(seed("attributes_and_their_order_equal_slapds", 4_529));
    let (ldif, names) = tree(&mut random, 10);
    let ldif = ldif.replace(
        "cn: Person 1\n",
        "cn: Person 1\ncn: Second\nuserPassword: x\ncn;lang-de: Person 1 de\ncn;lang-de-at: Person 1 at\n",
    );
    let person = names.iter().find(|name| name.starts_with("uid=p1,"));
    let mut pair = Pair::start("selections", &ldif);
    for attributes in SELECTIONS {
        for base in [SUFFIX, &names[1], person.expect("a person")] {
            for types_only in [false, true] {
                pair.compare(&Search {
                    attributes: attributes.to_vec(),
                    types_only,
                    in_order: true,
                    ..Search::new(base, Scope::Base, "(objectClass=*)")
                });
            }
        }
    }
    pair.finish();
}
