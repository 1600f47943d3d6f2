//! One search with everything it can ask for, a generated tree, and both servers with it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use fulgurite_client::{Client, Control, Entry, ResultCode, Scope, SearchOutcome, SearchRequest};
use fulgurite_ldap::control::{SortRequest, SortResponse, VlvRequest, VlvResponse};
use fulgurite_ldap::{Deref, FilterBuf, oid};
use fulgurite_testkit::{Random, Scratch};

use crate::compare::INCOMPARABLE;
use crate::data::SUFFIX;
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};

/// A control of a request: OID, criticality, value.
pub(crate) type Asked = (&'static str, bool, Option<Vec<u8>>);

/// One search.
#[derive(Clone)]
pub(crate) struct Search {
    pub(crate) base: String,
    pub(crate) scope: Scope,
    pub(crate) deref: Deref,
    pub(crate) filter: String,
    pub(crate) attributes: Vec<&'static str>,
    pub(crate) size_limit: u32,
    pub(crate) controls: Vec<Asked>,
    pub(crate) types_only: bool,
    /// True if the order of the entries matters.
    pub(crate) ordered: bool,
    /// True if the order of attributes and values matters.
    pub(crate) in_order: bool,
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
    pub(crate) fn new(base: &str, scope: Scope, filter: &str) -> Search {
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

    pub(crate) fn with(
        mut self,
        oid: &'static str,
        critical: bool,
        value: Option<Vec<u8>>,
    ) -> Search {
        self.controls.push((oid, critical, value));
        self
    }

    pub(crate) fn ask(&self, client: &mut Client) -> SearchOutcome {
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
    pub(crate) fn told(&self, found: &SearchOutcome) -> String {
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

/// Name and values; attributes without values, which slapd leaves behind of what it computes, are
/// left out.
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
pub(crate) struct Pair {
    pub(crate) theirs: Client,
    pub(crate) mine: Client,
    differences: Vec<String>,
    compared: usize,
    pub(crate) found: usize,
    pub(crate) reference: Server,
    pub(crate) ours: Server,
    _scratch: Scratch,
}

impl Pair {
    pub(crate) fn start(label: &str, ldif: &str) -> Pair {
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

    /// Asks both, each on a separate connection if a list is kept for the connection.
    pub(crate) fn compare(&mut self, search: &Search) {
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

    pub(crate) fn note(&mut self, what: &str, expected: &str, got: &str) {
        self.compared += 1;
        if expected != got {
            let text = format!("{what}\n reference: {expected}\n ours: {got}");
            self.differences.push(text);
        }
    }

    pub(crate) fn finish(self) {
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

pub(crate) fn connect(server: &Server) -> Client {
    let mut client = Client::connect(server.address()).expect("connect");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let bound = client.bind(ROOT_DN, ROOT_PASSWORD.as_bytes());
    assert!(bound.expect("bind").is_success());
    client
}

/// A tree of units and persons, and the names of all of them.
pub(crate) fn tree(random: &mut Random, persons: usize) -> (String, Vec<String>) {
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
