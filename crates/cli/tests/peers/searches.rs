//! What a search can ask for beyond base, scope and filter, side by side with slapd: aliases, referrals, subentries,
//! orders, views of lists, pages, matching values.
//!
//! The data are a generated tree with aliases to everywhere: to entries, to each other, in circles, to nothing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use fulgurite_client::{Client, Control, Entry, ResultCode, Scope, SearchOutcome, SearchRequest};
use fulgurite_ldap::control::{
    MatchedValues, PagedResults, SortKey, SortRequest, SortResponse, Subentries, VlvRequest,
    VlvResponse, VlvTarget,
};
use fulgurite_ldap::{Deref, FilterBuf, oid};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::compare::INCOMPARABLE;
use crate::data::SUFFIX;
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};

/// A control of a request: OID, criticality, value.
type Asked = (&'static str, bool, Option<Vec<u8>>);

/// One search.
#[derive(Clone)]
struct Search {
    base: String,
    scope: Scope,
    deref: Deref,
    filter: String,
    attributes: Vec<&'static str>,
    size_limit: u32,
    controls: Vec<Asked>,
    types_only: bool,
    /// Whether the order of the entries matters.
    ordered: bool,
    /// Whether the order of attributes and values matters.
    in_order: bool,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} of {} for {} ({:?}), {:?}, at most {}",
            self.scope, self.base, self.filter, self.deref, self.attributes, self.size_limit
        )?;
        for (oid, critical, value) in &self.controls {
            write!(f, "\n  control {oid} {critical} ")?;
            match (*oid, value.as_deref()) {
                (oid::SORT_REQUEST, Some(value)) => SortRequest::decode(value)
                    .iter()
                    .flat_map(|sort| &sort.keys)
                    .try_for_each(|key| {
                        let rule = key.rule.unwrap_or_default().escape_ascii();
                        write!(
                            f,
                            "{}:{rule}:{} ",
                            key.attribute.escape_ascii(),
                            key.reverse
                        )
                    })?,
                (oid::VLV_REQUEST, Some(value)) => write!(f, "{:?}", VlvRequest::decode(value))?,
                (_, value) => write!(f, "{}", value.unwrap_or_default().escape_ascii())?,
            }
        }
        Ok(())
    }
}

impl Search {
    fn new(base: &str, scope: Scope, filter: &str) -> Search {
        Search {
            base: base.to_owned(),
            scope,
            deref: Deref::Never,
            filter: filter.to_owned(),
            attributes: vec!["1.1"],
            size_limit: 0,
            controls: Vec::new(),
            types_only: false,
            ordered: false,
            in_order: false,
        }
    }

    fn with(mut self, oid: &'static str, critical: bool, value: Option<Vec<u8>>) -> Search {
        self.controls.push((oid, critical, value));
        self
    }

    fn ask(&self, client: &mut Client) -> SearchOutcome {
        let filter = FilterBuf::parse(&self.filter).expect(&self.filter);
        let request = SearchRequest {
            deref: self.deref,
            size_limit: self.size_limit,
            types_only: self.types_only,
            attributes: self.attributes.iter().map(|name| name.as_bytes()).collect(),
            ..SearchRequest::new(&self.base, self.scope, filter.filter())
        };
        let controls: Vec<Control<'_>> = self
            .controls
            .iter()
            .map(|(oid, critical, value)| Control {
                oid: oid.as_bytes(),
                critical: *critical,
                value: value.as_deref(),
            })
            .collect();
        let found = client.search_with(&request, &controls);
        found.unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// An answer in words that have to be equal.
    fn told(&self, found: &SearchOutcome) -> String {
        let mut text = format!("{:?}", found.result.code);
        if !found.result.matched_dn.is_empty() {
            let _ = write!(text, ", matched \"{}\"", found.result.matched_dn);
        }
        for url in &found.result.referrals {
            let _ = write!(text, ", referral {url}");
        }
        let references: BTreeSet<&String> = found.references.iter().collect();
        // slapd drops references from sorted answers.
        for url in references.iter().filter(|_| !self.ordered) {
            let _ = write!(text, "\n  continued at {url}");
        }
        let text_of = if self.in_order {
            entry_as_it_came
        } else {
            entry_text
        };
        let entries: Vec<String> = found.entries.iter().map(text_of).collect();
        if found.result.code == ResultCode::SizeLimitExceeded && !self.ordered {
            let _ = write!(text, "\n  {} entries", entries.len());
        } else if self.ordered {
            entries
                .iter()
                .for_each(|entry| write!(text, "\n  {entry}").unwrap_or_default());
        } else {
            // slapd returns an entry as often as aliases lead to it.
            let entries: BTreeSet<&String> = entries.iter().collect();
            entries
                .iter()
                .for_each(|entry| write!(text, "\n  {entry}").unwrap_or_default());
        }
        for control in &found.controls {
            let value = control.value.as_deref().unwrap_or_default();
            let _ = match control.oid.as_str() {
                // The draft's numbers and slapd's.
                oid::VLV_RESPONSE => match VlvResponse::decode(value).map(|vlv| VlvResponse {
                    context: None,
                    code: if vlv.code == 77 { 61 } else { vlv.code },
                    ..vlv
                }) {
                    Ok(vlv) if vlv.code == 76 || vlv.code == 60 => write!(text, "\n  no order"),
                    vlv => write!(text, "\n  {vlv:?}"),
                },
                oid::SORT_RESPONSE if found.result.is_success() => {
                    write!(text, "\n  {:?}", SortResponse::decode(value))
                }
                _ => Ok(()),
            };
        }
        text
    }
}

/// Name and values; attributes without values, which slapd leaves behind of what it computes, are left out.
fn entry_text(entry: &Entry) -> String {
    let mut values = BTreeSet::new();
    for (name, all) in &entry.attributes {
        let name = name.to_ascii_lowercase();
        for value in all {
            if INCOMPARABLE.contains(&name.as_str()) {
                values.insert(format!("{name}: ..."));
            } else {
                values.insert(format!("{name}: {}", value.escape_ascii()));
            }
        }
    }
    let values: Vec<String> = values.into_iter().collect();
    format!("{} {}", entry.dn, values.join("; "))
}

/// Name, attributes and values as they came. Names of attributes are written as each server likes.
fn entry_as_it_came(entry: &Entry) -> String {
    let mut text = entry.dn.clone();
    for (name, values) in &entry.attributes {
        let name = name.to_ascii_lowercase();
        let _ = write!(text, "\n    {name}:");
        let comparable = !INCOMPARABLE.contains(&name.as_str());
        for value in values.iter().filter(|_| comparable) {
            let _ = write!(text, " {}", value.escape_ascii());
        }
    }
    text
}

/// Both servers with the same tree.
struct Pair {
    theirs: Client,
    mine: Client,
    differences: Vec<String>,
    compared: usize,
    found: usize,
    reference: Server,
    ours: Server,
    _scratch: Scratch,
}

impl Pair {
    fn start(label: &str, ldif: &str) -> Pair {
        let scratch = Scratch::new(label);
        let file = scratch.join("tree.ldif");
        fs::write(&file, ldif).expect("write the tree");
        let reference = Server::slapd(&scratch.join("slapd"), &file);
        let ours = Server::tested(&scratch.join("ours"), &file);
        Pair {
            theirs: connect(&reference),
            mine: connect(&ours),
            differences: Vec::new(),
            compared: 0,
            found: 0,
            reference,
            ours,
            _scratch: scratch,
        }
    }

    /// Asks both, each on a connection of its own if a list is kept for the connection.
    fn compare(&mut self, search: &Search) {
        if search
            .controls
            .iter()
            .any(|(oid, _, _)| *oid == oid::VLV_REQUEST)
        {
            self.theirs = connect(&self.reference);
            self.mine = connect(&self.ours);
        }
        let (expected, got) = (search.ask(&mut self.theirs), search.ask(&mut self.mine));
        self.found += expected.entries.len();
        let (expected, got) = (search.told(&expected), search.told(&got));
        self.note(&format!("{search:?}"), &expected, &got);
    }

    fn note(&mut self, what: &str, expected: &str, got: &str) {
        self.compared += 1;
        if expected != got {
            let text = format!("{what}\n reference: {expected}\n ours: {got}");
            self.differences.push(text);
        }
    }

    fn finish(self) {
        println!(
            "{} answers of {} entries compared",
            self.compared, self.found
        );
        assert!(self.found > 0, "nothing was found anywhere");
        for (number, difference) in self.differences.iter().take(12).enumerate() {
            println!("{}. {difference}", number + 1);
        }
        assert!(
            self.differences.is_empty(),
            "{} of {} answers differ, the first listed above\n{}",
            self.differences.len(),
            self.compared,
            self.ours.log()
        );
    }
}

fn connect(server: &Server) -> Client {
    let mut client = Client::connect(server.address()).expect("connect");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let bound = client.bind(ROOT_DN, ROOT_PASSWORD.as_bytes());
    assert!(bound.expect("bind").is_success());
    client
}

/// A tree of units and persons, and the names of all of them.
fn tree(random: &mut Random, persons: usize) -> (String, Vec<String>) {
    let mut ldif = format!("dn: {SUFFIX}\nobjectClass: domain\ndc: example\n\n");
    let mut units = vec![SUFFIX.to_owned()];
    for number in 0..8 {
        let parent = random.pick(&units).clone();
        let dn = format!("ou=u{number},{parent}");
        let _ = write!(
            ldif,
            "dn: {dn}\nobjectClass: organizationalUnit\nou: u{number}\n\n"
        );
        units.push(dn);
    }
    let mut names = units.clone();
    let surnames = [
        "Abel",
        "abel",
        "Äbel",
        "Zorn",
        "de  Groot",
        "De Groot",
        "x",
        "Brand",
        "brandt",
    ];
    for number in 0..persons {
        let dn = format!("uid=p{number},{}", random.pick(&units));
        let _ = write!(
            ldif,
            "dn: {dn}\nobjectClass: inetOrgPerson\nobjectClass: posixAccount\nuid: p{number}\ncn: Person {number}\n\
             sn: {}\nuidNumber: {}\ngidNumber: {}\nhomeDirectory: /h\n",
            random.pick(&surnames),
            random.below(2_000),
            random.below(5),
        );
        for _ in 0..random.below(4) {
            let _ = writeln!(ldif, "mail: m{}@x.org", random.below(1_000_000));
        }
        if random.chance(60) {
            let _ = writeln!(ldif, "givenName: G{}", random.below(6));
        }
        ldif.push('\n');
        names.push(dn);
    }
    (ldif, names)
}

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
                base = format!("{},{base}", *random.pick(&below));
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
            let mut search = Search::new(&base, *random.pick(&SCOPES), *random.pick(&filters));
            search.deref = *random.pick(&deref);
            // What the scopes `one` and `children` take in of an alias's target depends in slapd on which indexes the
            // filter meets.
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
        let mut search = people(*random.pick(&SETS)).with(oid::SORT_REQUEST, true, Some(order));
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
        let search = people(*random.pick(&SETS)).with(oid::SORT_REQUEST, true, Some(order));
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
                    assert_eq!(references.max(usize::from(size_limit > 0)), 1, "{search:?}");
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
        vec![visible(false), domain],
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
    for (oid, value) in [
        (oid::SUBENTRIES, None),
        (oid::SUBENTRIES, Some(b"xx".to_vec())),
        (oid::DOMAIN_SCOPE, Some(b"x".to_vec())),
        (oid::MANAGE_DSA_IT, Some(b"x".to_vec())),
    ] {
        pair.compare(&Search::new(SUFFIX, Scope::Base, "(objectClass=*)").with(oid, false, value));
    }
    pair.finish();
}

/// Extensible matches, options, subtypes and what makes no sense: each by itself, denied, and beside something else.
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

/// Lists of attributes, each for an entry of its own kind.
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
