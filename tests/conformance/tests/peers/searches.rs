//! The features of a search beyond base, scope and filter, side by side with slapd. They are
//! aliases, referrals, subentries, orders, views of lists, pages and matched values.
//!
//! The data are a generated tree with aliases to everywhere: to entries, to each other, in circles,
//! to nothing.

use std::fmt::Write as _;

use fulgurite_client::{Client, ResultCode, Scope};
use fulgurite_ldap::control::{
    MatchedValues, PagedResults, SearchOptions, SortKey, SortRequest, Subentries, VlvRequest,
    VlvTarget,
};
use fulgurite_ldap::{Deref, oid};
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::data::SUFFIX;
use crate::side_by_side::{Asked, Pair, Search, connect, tree};

/// Adds aliases to everywhere.
fn aliases(random: &mut Random, ldif: &mut String, names: &mut Vec<String>, count: usize) {
    let units: Vec<String> = names
        .iter()
        .filter(|name| !name.starts_with("uid="))
        .cloned()
        .collect();
    let places: Vec<String> = (0..count)
        .map(|number| format!("cn=a{number},{}", random.pick(&units)))
        .collect();
    for (number, dn) in places.iter().enumerate() {
        let target = match random.below(10) {
            0 => format!("uid=gone,{}", random.pick(&units)),
            1 => "dc=elsewhere".to_owned(),
            2 | 3 => random.pick(&places).clone(),
            4 => format!("uid=p1,{}", random.pick(&places)),
            5 | 6 => random.pick(&units).clone(),
            _ => random.pick(names).clone(),
        };
        let _ = write!(
            ldif,
            "dn: {dn}\nobjectClass: alias\nobjectClass: extensibleObject\ncn: a{number}\naliasedObjectName: {target}\n\n"
        );
    }
    names.extend(places);
}

const SCOPES: [Scope; 4] = [Scope::Base, Scope::One, Scope::Subtree, Scope::Children];

#[test]
fn aliases_are_followed_as_slapd_does() {
    let seed = seed("aliases_are_followed_as_slapd_does", 512);
    let mut random = Random::new(seed);
    for round in 0..quick_or_long(2, 20) {
        let (mut ldif, mut names) = tree(&mut random, 20);
        aliases(&mut random, &mut ldif, &mut names, 14);
        let mut pair = Pair::start(&format!("aliases-{round}"), &ldif);
        for _ in 0..quick_or_long(250, 2_000) {
            let mut base = random.pick(&names).clone();
            if random.chance(25) {
                let below = ["uid=p1", "ou=u1", "cn=nope", "cn=a1", "cn=a,ou=u2"];
                base = format!("{},{base}", random.pick::<&str>(&below));
            }
            let filters = [
                "(objectClass=*)",
                "(objectClass=alias)",
                "(sn=abel)",
                "(|(uid=p1)(ou=*))",
                "(!(objectClass=person))",
            ];
            let deref = [
                Deref::Never,
                Deref::Searching,
                Deref::Finding,
                Deref::Always,
            ];
            let mut search =
                Search::new(&base, *random.pick(&SCOPES), random.pick::<&str>(&filters));
            search.deref = *random.pick(&deref);
            // In slapd, the indexes that the filter meets decide whether scopes `one` and
            // `children` include an alias's target.
            if matches!(search.scope, Scope::One | Scope::Children) && search.deref.searching() {
                search.filter = "(objectClass=*)".to_owned();
            }
            pair.compare(&search);
        }
        pair.finish();
    }
}

/// A sort control.
fn sort(keys: &[(&str, Option<&str>, bool)]) -> Vec<u8> {
    let keys = keys.iter().map(|(attribute, rule, reverse)| SortKey {
        attribute: attribute.as_bytes(),
        rule: rule.map(str::as_bytes),
        reverse: *reverse,
    });
    SortRequest {
        keys: keys.collect(),
    }
    .encode()
}

/// One to three keys that slapd can sort by.
fn any_order(random: &mut Random) -> Vec<u8> {
    let text = Some("caseIgnoreOrderingMatch");
    let choices = [
        ("sn", text),
        ("givenName", text),
        ("mail", text),
        ("uid", text),
        ("uidNumber", None),
        ("gidNumber", Some("integerOrderingMatch")),
        ("cn;lang-de", text),
    ];
    let keys: Vec<_> = (0..random.between(1, 3))
        .map(|_| {
            let (name, rule) = *random.pick(&choices);
            (name, rule, random.chance(40))
        })
        .collect();
    sort(&keys)
}

fn people(filter: &str) -> Search {
    Search {
        ordered: true,
        ..Search::new(SUFFIX, Scope::Subtree, filter)
    }
}

const SETS: [&str; 4] = [
    "(uid=*)",
    "(objectClass=person)",
    "(&(uid=*)(givenName=*))",
    "(sn=none)",
];

#[test]
fn orders_and_views_equal_slapds() {
    let seed = seed("orders_and_views_equal_slapds", 2_891);
    let mut random = Random::new(seed);
    let (ldif, _) = tree(&mut random, 60);
    let mut pair = Pair::start("orders", &ldif);
    for _ in 0..quick_or_long(80, 800) {
        let order = any_order(&mut random);
        let mut search =
            people(random.pick::<&str>(&SETS)).with(oid::SORT_REQUEST, true, Some(order));
        search.size_limit = *random.pick(&[0, 0, 0, 5]);
        pair.compare(&search);
    }
    let bad: [&[(&str, Option<&str>, bool)]; 5] = [
        &[("sn", None, false)],
        &[("nope", None, false)],
        &[("sn", Some("nope"), false)],
        &[("uidNumber", None, false); 6],
        &[("uidNumber", None, false), ("jpegPhoto", None, true)],
    ];
    for keys in bad {
        pair.compare(&people("(uid=*)").with(oid::SORT_REQUEST, true, Some(sort(keys))));
    }
    for value in [None, Some(b"x".to_vec()), Some(b"\x30\x00".to_vec())] {
        pair.compare(&people("(uid=*)").with(oid::SORT_REQUEST, true, value));
    }
    for _ in 0..quick_or_long(80, 800) {
        let order = any_order(&mut random);
        let targets = [
            VlvTarget::Offset {
                offset: u32::try_from(random.below(70)).unwrap_or(0),
                count: 0,
            },
            VlvTarget::Offset {
                offset: u32::try_from(random.between(1, 30)).unwrap_or(1),
                count: u32::try_from(random.between(1, 40)).unwrap_or(1),
            },
        ];
        let view = VlvRequest {
            before: u32::try_from(random.below(4)).unwrap_or(0),
            after: u32::try_from(random.below(4)).unwrap_or(0),
            target: *random.pick(&targets),
            context: None,
        };
        let search = people(random.pick::<&str>(&SETS)).with(oid::SORT_REQUEST, true, Some(order));
        pair.compare(&search.with(oid::VLV_REQUEST, true, Some(view.encode())));
    }
    // In normal form, and of no entry: slapd takes the value as it is, and of equal entries any.
    for value in ["a", "de h", "m5", "zz", "", "g3x"] {
        for (attribute, reverse) in [("sn", false), ("sn", true), ("givenName", false)] {
            let order = sort(&[(attribute, Some("caseIgnoreOrderingMatch"), reverse)]);
            let view = VlvRequest {
                before: 1,
                after: 2,
                target: VlvTarget::AtLeast(value.as_bytes()),
                context: None,
            };
            let search = people("(uid=*)").with(oid::SORT_REQUEST, true, Some(order));
            pair.compare(&search.with(oid::VLV_REQUEST, true, Some(view.encode())));
        }
    }
    let first = VlvRequest {
        before: 0,
        after: 2,
        target: VlvTarget::Offset {
            offset: 1,
            count: 0,
        },
        context: None,
    };
    let view = Some(first.encode());
    let order = Some(sort(&[("uidNumber", None, false)]));
    let page = Some(
        PagedResults {
            size: 3,
            cookie: b"",
        }
        .encode(),
    );
    for critical in [true, false] {
        pair.compare(&people("(uid=*)").with(oid::VLV_REQUEST, critical, view.clone()));
        let both = people("(uid=*)").with(oid::SORT_REQUEST, true, order.clone());
        let both = both.with(oid::VLV_REQUEST, critical, view.clone());
        pair.compare(&both.with(oid::PAGED_RESULTS, true, page.clone()));
    }
    pair.finish();
}

/// All pages of a search: the names on each, and how many references there were on all.
fn pages(search: &Search, client: &mut Client, size: u32) -> (String, usize) {
    let mut text = String::new();
    let mut cookie = Vec::new();
    let mut tries = 200;
    let mut references = 0;
    loop {
        let page = PagedResults {
            size,
            cookie: &cookie,
        };
        let found = search
            .clone()
            .with(oid::PAGED_RESULTS, true, Some(page.encode()))
            .ask(client);
        // slapd answers before it has tidied up after a sorted page.
        if found.result.code == ResultCode::Busy && tries > 0 {
            tries -= 1;
            std::thread::sleep(std::time::Duration::from_millis(5));
            continue;
        }
        let _ = write!(text, "\n  {:?}:", found.result.code);
        found
            .entries
            .iter()
            .for_each(|entry| write!(text, " {}", entry.dn).unwrap_or_default());
        let control = found
            .controls
            .iter()
            .find(|control| control.oid == oid::PAGED_RESULTS);
        let Some(value) = control.and_then(|control| control.value.as_deref()) else {
            return (text + " no more pages", references);
        };
        references += found.references.len();
        cookie = PagedResults::decode(value).expect("a page").cookie.to_vec();
        if cookie.is_empty() {
            return (text + " the last", references);
        }
    }
}

#[test]
fn pages_equal_slapds() {
    let seed = seed("pages_equal_slapds", 2_696);
    let mut random = Random::new(seed);
    let (mut ldif, _) = tree(&mut random, 40);
    ldif = ldif.replace(
        "dn: uid=p20,",
        "dn: ou=r,dc=example,dc=org\nobjectClass: referral\nobjectClass: extensibleObject\nou: r\n\
         ref: ldap://elsewhere\n\ndn: uid=p20,",
    );
    let mut pair = Pair::start("pages", &ldif);
    for size in [1, 2, 7, 20, 40, 41, 100] {
        for filter in SETS {
            for sorted in [false, true] {
                for size_limit in [0, 20] {
                    // slapd counts what it sorted against the limit, page by page.
                    if sorted && size_limit > 0 {
                        continue;
                    }
                    let mut search = people(filter);
                    search.size_limit = size_limit;
                    if sorted {
                        let order = sort(&[("uidNumber", None, random.chance(50))]);
                        search = search.with(oid::SORT_REQUEST, true, Some(order));
                    }
                    pair.theirs = connect(&pair.reference);
                    let (expected, _) = pages(&search, &mut pair.theirs, size);
                    let (got, references) = pages(&search, &mut pair.mine, size);
                    // slapd may send one on two pages.
                    if pair.ours.name() != pair.reference.name() {
                        let references = references.max(usize::from(size_limit > 0));
                        assert_eq!(references, 1, "{search:?}");
                    }
                    pair.found += expected.matches("uid=").count();
                    pair.note(&format!("pages of {size} of {search:?}"), &expected, &got);
                }
            }
        }
    }
    pair.finish();
}

#[test]
fn matching_values_equal_slapds() {
    let mut random = Random::new(seed("matching_values_equal_slapds", 3_876));
    let (ldif, _) = tree(&mut random, 25);
    let mut pair = Pair::start("values", &ldif);
    let filters = [
        "((mail=m1*))",
        "((mail=*5*)(sn=abel))",
        "((mail=*))",
        "((name=person 3))",
        "((objectClass=person))",
        "((objectClass=posixAccount))",
        "((nope=x))",
        "((nope=*))",
        "((uidNumber>=1000))",
        "((uidNumber<=1000)(givenName=G1))",
        "((:caseExactMatch:=Abel))",
        "((sn:caseExactMatch:=Abel))",
        "((sn:nope:=Abel))",
        "((structuralObjectClass=*))",
        "((uid=p3)(uid=p4)(uid=p5))",
    ];
    for items in filters {
        let value = MatchedValues::encode_text(items).expect(items);
        for attributes in [vec![], vec!["*", "+"], vec!["mail", "sn"], vec!["1.1"]] {
            let search = Search {
                attributes,
                ..Search::new(SUFFIX, Scope::Subtree, "(uid=*)")
            };
            pair.compare(&search.with(oid::MATCHED_VALUES, true, Some(value.clone())));
        }
    }
    // slapd ends the connection over a value it cannot read; this one it can.
    for value in [None, Some(b"\x30\x00".to_vec())] {
        let search = Search {
            attributes: vec![],
            ..Search::new(SUFFIX, Scope::Subtree, "(uid=p1)")
        };
        pair.compare(&search.with(oid::MATCHED_VALUES, true, value));
    }
    pair.finish();
}

/// Asks with the search options control, alone and next to another control.
fn search_options(pair: &mut Pair, bases: &[String], managed: &Asked, domain: &Asked) {
    let mut cases: Vec<(u8, Option<&Asked>)> = [0, 1, 2, 3, 0xff].map(|flags| (flags, None)).into();
    cases.extend([(1, Some(managed)), (0, Some(domain)), (1, Some(domain))]);
    for (flags, other) in cases {
        for critical in [false, true] {
            let value = vec![0x30, 0x03, 0x02, 0x01, flags];
            let options = (SearchOptions::KIND.oid, critical, Some(value));
            let mut controls: Vec<Asked> = other.cloned().into_iter().collect();
            controls.push(options);
            for base in bases {
                let search = Search {
                    controls: controls.clone(),
                    ..Search::new(base, Scope::Subtree, "(objectClass=*)")
                };
                pair.compare(&search);
                controls.reverse();
            }
        }
    }
}

#[test]
fn referrals_and_subentries_equal_slapds() {
    let mut random = Random::new(seed("referrals_and_subentries_equal_slapds", 3_672));
    let (mut ldif, mut names) = tree(&mut random, 10);
    for (number, urls) in [
        "ref: ldap://h1/dc=a\nref: ldap://h2:1389/ a label\nref: ldap://h3\n",
        "ref: ldap://h4/dc=a??one\nref: ldap://h5/dc=a?cn?sub?(x=y)\nref: http://h6/x y\n",
        "ref: ldaps://h7/ou=%C3%A4,dc=b\n",
    ]
    .into_iter()
    .enumerate()
    {
        let parent = names[random.below(8)].clone();
        let dn = format!("ou=r{number},{parent}");
        let _ = write!(
            ldif,
            "dn: {dn}\nobjectClass: referral\nobjectClass: extensibleObject\nou: r{number}\n{urls}\n"
        );
        names.push(format!("cn=b,cn=a,{dn}"));
        names.push(format!("cn=a,{dn}"));
        names.push(dn);
    }
    for number in 0..3 {
        let dn = format!("cn=s{number},{}", names[random.below(8)]);
        let _ = write!(
            ldif,
            "dn: {dn}\nobjectClass: subentry\ncn: s{number}\nsubtreeSpecification: {{}}\n\n"
        );
        names.push(dn);
    }
    let mut pair = Pair::start("referrals-subentries", &ldif);
    let visible = |visible| (oid::SUBENTRIES, true, Some(Subentries { visible }.encode()));
    let managed = (oid::MANAGE_DSA_IT, true, None);
    let domain = (oid::DOMAIN_SCOPE, true, None);
    let controls: [Vec<Asked>; 8] = [
        vec![],
        vec![managed.clone()],
        vec![domain.clone()],
        vec![domain.clone(), managed.clone()],
        vec![visible(true)],
        vec![visible(false)],
        vec![visible(true), managed.clone()],
        vec![visible(false), domain.clone()],
    ];
    for base in &names {
        for scope in SCOPES {
            for controls in &controls {
                for filter in ["(objectClass=*)", "(|(objectClass=subentry)(uid=p1))"] {
                    pair.compare(&Search {
                        controls: controls.clone(),
                        ..Search::new(base, scope, filter)
                    });
                }
            }
        }
    }
    search_options(&mut pair, &names, &managed, &domain);
    for (oid, value) in [
        (SearchOptions::KIND.oid, None),
        (SearchOptions::KIND.oid, Some(Vec::new())),
        (oid::SUBENTRIES, None),
        (oid::SUBENTRIES, Some(b"xx".to_vec())),
        (oid::DOMAIN_SCOPE, Some(b"x".to_vec())),
        (oid::MANAGE_DSA_IT, Some(b"x".to_vec())),
    ] {
        pair.compare(&Search::new(SUFFIX, Scope::Base, "(objectClass=*)").with(oid, false, value));
    }
    pair.finish();
}
