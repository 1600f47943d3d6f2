//! Updates with controls, password modify and transactions, side by side with slapd. Compared are
//! result, matched name, text, response controls and the resulting entries.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use fulgurite_client::{
    Client, ClientError, Control, LdapResult, Response, ResponseMessage, ResultCode, Scope,
    SearchRequest,
};
use fulgurite_ldap::control::SessionTracking;
use fulgurite_ldap::{
    EndTransaction, ExtendedRequest, FilterBuf, ModifyOperation, PasswordModifyRequest, Request,
    oid,
};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::compare::INCOMPARABLE;
use crate::data::SUFFIX;
use crate::deeds::{
    ADA, Asked, BOB, Update, assertion, bytes, change, odd_controls, odd_deed, person, reading,
    replace,
};
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};

const DATA: &str = "\
dn: dc=example,dc=org
objectClass: domain
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=things,dc=example,dc=org
objectClass: organizationalUnit
ou: things

dn: uid=ada,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
objectClass: posixAccount
uid: ada
cn: Ada
sn: Lovelace
uidNumber: 1001
gidNumber: 100
homeDirectory: /home/ada
userPassword: ada secret

dn: uid=bob,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: Two
userPassword: bob secret

dn: cn=ref,dc=example,dc=org
objectClass: referral
objectClass: extensibleObject
cn: ref
ref: ldap://other.example/ou=x

dn: cn=alias,dc=example,dc=org
objectClass: alias
objectClass: extensibleObject
cn: alias
aliasedObjectName: ou=people,dc=example,dc=org
";

/// Both servers, and what they answered differently.
struct Both {
    theirs: Client,
    mine: Client,
    differences: Vec<String>,
    /// Returns true if slapd has done half of an operation, after which nothing can be compared.
    lost: bool,
    /// True if slapd has ended the connection: now and then it does at the end of a transaction.
    gone: bool,
    compared: usize,
    codes: BTreeMap<String, usize>,
}

impl Both {
    fn connect(pair: &Pair, who: Option<(&str, &str)>) -> Both {
        let connect = |server: &Server| {
            let mut client = Client::connect(server.address()).expect("connect");
            let timeout = client.set_read_timeout(Some(PATIENCE));
            timeout.expect("set a timeout");
            if let Some((dn, password)) = who {
                let bound = client.bind(dn, password.as_bytes()).expect("bind");
                assert!(
                    bound.is_success(),
                    "{} binds as {dn}: {bound}",
                    server.name()
                );
            }
            client
        };
        Both {
            theirs: connect(&pair.reference),
            mine: connect(&pair.ours),
            differences: Vec::new(),
            lost: false,
            gone: false,
            compared: 0,
            codes: BTreeMap::new(),
        }
    }

    fn deed(&mut self, deed: &Update, controls: &[Asked]) {
        let what = format!("{deed:?} {controls:?}");
        deed.with_request(|request| self.ask(&what, request, controls));
    }

    fn extended(&mut self, what: &str, oid: &str, value: Option<&[u8]>) {
        let oid = oid.as_bytes();
        let request = Request::Extended(ExtendedRequest { oid, value });
        self.ask(what, &request, &[]);
    }

    fn ask(&mut self, what: &str, request: &Request<'_>, controls: &[Asked]) {
        let controls: Vec<Control<'_>> = controls
            .iter()
            .map(|(oid, critical, value)| Control {
                oid: oid.as_bytes(),
                critical: *critical,
                value: value.as_deref(),
            })
            .collect();
        let is_end = |request: &ExtendedRequest<'_>| request.oid == oid::END_TRANSACTION.as_bytes();
        let ends = matches!(request, Request::Extended(request) if is_end(request));
        if self.gone {
            return;
        }
        let expected = match try_answer(&mut self.theirs, request, &controls) {
            Ok(expected) => expected,
            Err(_) if ends => {
                self.gone = true;
                return;
            }
            Err(error) => panic!("slapd: {error} after {request:?}"),
        };
        let got = answer(&mut self.mine, request, &controls);
        // slapd does not say which attribute a compare does not know.
        let unknown = |answer: &str| answer.starts_with("17 ");
        if matches!(request, Request::Compare(_)) && unknown(&expected) && unknown(&got) {
            return;
        }
        self.lost |= expected.contains("DN index add failed");
        let code = expected.split(' ').next().unwrap_or_default().to_owned();
        *self.codes.entry(code).or_default() += 1;
        self.note(what, &expected, &got);
    }

    fn note(&mut self, what: &str, expected: &str, got: &str) {
        self.compared += 1;
        if expected != got {
            let text = format!("{what}\n  slapd: {expected}\n  ours:  {got}");
            self.differences.push(text);
        }
    }

    /// Compares everything there is, attributes and values in their order.
    fn compare_entries(&mut self, when: &str) {
        let (theirs, mine) = (dump(&mut self.theirs), dump(&mut self.mine));
        let names: std::collections::BTreeSet<_> = theirs.keys().chain(mine.keys()).collect();
        for name in names {
            let (expected, got) = (theirs.get(name), mine.get(name));
            self.note(
                &format!("{when}: {name}"),
                &format!("{expected:?}"),
                &format!("{got:?}"),
            );
        }
    }

    fn finish(self, least: usize) {
        println!("{} compared: {:?}", self.compared, self.codes);
        for difference in self.differences.iter().take(20) {
            println!("{difference}");
        }
        let count = self.differences.len();
        assert!(count == 0, "{count} of {} differ", self.compared);
        assert!(self.compared >= least, "{} compared", self.compared);
    }
}

/// Result code, matched name, text, referrals, what response controls hold.
fn answer(client: &mut Client, request: &Request<'_>, controls: &[Control<'_>]) -> String {
    let answer = try_answer(client, request, controls);
    answer.unwrap_or_else(|error| panic!("{error} after {request:?} {controls:?}"))
}

fn try_answer(
    client: &mut Client,
    request: &Request<'_>,
    controls: &[Control<'_>],
) -> Result<String, ClientError> {
    let reply = client.request(request, controls)?;
    let mut text = result(&reply.result);
    for control in &reply.controls {
        let value = control.value.as_deref().unwrap_or_default();
        let _ = write!(text, " {}: {}", control.oid, entry(value));
    }
    match reply.value.as_deref() {
        // A password that the server has made up.
        Some([0x30, ..]) if reply.result.is_success() => text.push_str(" made up"),
        Some(value) => {
            let _ = write!(text, " value {}", value.escape_ascii());
        }
        None => {}
    }
    Ok(text)
}

fn result(result: &LdapResult) -> String {
    // Servers differ in the value that they report as the duplicate among several equal ones.
    let digits = |c: char| if c.is_ascii_digit() { '#' } else { c };
    let text: String = result.diagnostic.chars().map(digits).collect();
    let code = result.code.number();
    format!(
        "{code} matched {:?} {:?} {text:?}",
        result.matched_dn, result.referrals
    )
}

/// A search result entry without its envelope, in the order of its attributes.
fn entry(value: &[u8]) -> String {
    let len = u32::try_from(value.len() + 3).expect("short").to_be_bytes();
    let message = [&[0x30, 0x84][..], &len, &[2, 1, 1], value].concat();
    let message = ResponseMessage::decode(&message).expect("a search result entry");
    let Response::SearchEntry(entry) = &message.response else {
        panic!("not an entry: {message:?}");
    };
    let mut text = entry.dn.escape_ascii().to_string();
    for attribute in &entry.attributes {
        let values: Vec<String> = attribute
            .values
            .iter()
            .map(|value| value.escape_ascii().to_string())
            .collect();
        let name = attribute.description.escape_ascii();
        let _ = write!(text, "; {name}: {}", values.join(" | "));
    }
    text
}

type Lines = Vec<(String, Vec<Vec<u8>>)>;

fn dump(client: &mut Client) -> BTreeMap<String, Lines> {
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let mut request = SearchRequest::new(SUFFIX, Scope::Subtree, filter.filter());
    request.attributes = vec![b"*", b"+"];
    let found = client
        .search_with(&request, &[Control::manage_dsa_it()])
        .expect("read everything");
    assert_eq!(found.result.code, ResultCode::Success);
    let comparable = |name: &str| {
        let name = name.to_ascii_lowercase();
        !INCOMPARABLE.contains(&name.as_str())
    };
    let lines = found.entries.into_iter().map(|entry| {
        let attributes = entry.attributes.into_iter();
        let lines = attributes
            .filter(|(name, _)| comparable(name))
            .map(|(name, values)| {
                let values = values.into_iter().map(without_salt);
                (name, values.collect())
            })
            .collect();
        (entry.dn.to_ascii_lowercase(), lines)
    });
    lines.collect()
}

/// Hashed passwords are never equal.
fn without_salt(value: Vec<u8>) -> Vec<u8> {
    if value.starts_with(b"{") {
        b"a hash".to_vec()
    } else {
        value
    }
}

struct Pair {
    reference: Server,
    ours: Server,
    _scratch: Scratch,
}

impl Pair {
    fn start(label: &str) -> Pair {
        let scratch = Scratch::new(label);
        let ldif = scratch.join("data.ldif");
        fs::write(&ldif, DATA).expect("write the data");
        Pair {
            reference: Server::slapd(&scratch.join("slapd"), &ldif),
            ours: Server::tested(&scratch.join("ours"), &ldif),
            _scratch: scratch,
        }
    }
}

const ROOT: Option<(&str, &str)> = Some((ROOT_DN, ROOT_PASSWORD));

/// Every control on every operation: without value, with one, twice, critical and not.
#[test]
fn every_control_on_every_operation() {
    let pair = Pair::start("writes-controls");
    let mut both = Both::connect(&pair, ROOT);
    let missing = format!("cn=missing,{SUFFIX}");
    let deeds = [
        Update::Compare(BOB.to_owned(), "sn".to_owned(), b"Two".to_vec()),
        Update::Delete(missing.clone()),
        replace(BOB, "sn", &["Two"]),
        Update::Add(
            missing.clone(),
            vec![("cn".to_owned(), bytes(&["missing"]))],
        ),
        Update::Rename(missing, "cn=x".to_owned(), true, None),
    ];
    let controls = [
        oid::MANAGE_DSA_IT,
        oid::PAGED_RESULTS,
        oid::ASSERTION,
        oid::PRE_READ,
        oid::POST_READ,
        oid::PERMISSIVE_MODIFY,
        oid::DOMAIN_SCOPE,
        oid::RELAX,
        oid::DONT_USE_COPY,
        oid::NO_OP,
        oid::SESSION_TRACKING,
        oid::TRANSACTION,
        "1.2.3.4",
    ];
    for oid in controls {
        for deed in &deeds {
            for critical in [true, false] {
                both.deed(deed, &[(oid, critical, None)]);
                // slapd hangs up on an assertion that is no filter.
                if oid != oid::ASSERTION {
                    both.deed(deed, &[(oid, critical, Some(b"x".to_vec()))]);
                }
                both.deed(deed, &[(oid, critical, None), (oid, critical, None)]);
            }
            both.deed(deed, &[(oid, true, Some(Vec::new()))]);
        }
    }
    let tracking = SessionTracking {
        source_ip: b"192.0.2.1",
        source_name: b"x",
        format: b"1.3.6.1.4.1.21008.108.63.1.3",
        identifier: b"ada",
    };
    let tracked = (oid::SESSION_TRACKING, false, Some(tracking.encode()));
    both.deed(&replace(BOB, "sn", &["Two"]), &[tracked]);
    // Texts about values that cannot be decoded are each server's own.
    both.differences
        .retain(|difference| !difference.contains("decod"));
    both.finish(400);
}

#[test]
fn assertions_and_readings() {
    let pair = Pair::start("writes-readings");
    for who in [ROOT, Some((ADA, "ada secret")), None] {
        let mut both = Both::connect(&pair, who);
        for filter in [
            "(sn=Two)",
            "(sn=No)",
            "(!(sn=No))",
            "(nope=x)",
            "(!(nope=x))",
            "(userPassword=bob secret)",
            "(!(userPassword=x))",
            "(entryDN=uid=bob,ou=people,dc=example,dc=org)",
            "(hasSubordinates=FALSE)",
            "(&)",
            "(objectClass=person)",
        ] {
            let asserted = [assertion(filter)];
            both.deed(&replace(BOB, "sn", &["Two"]), &asserted);
            let compare = Update::Compare(BOB.to_owned(), "cn".to_owned(), b"Bob".to_vec());
            both.deed(&compare, &asserted);
            both.deed(&Update::Delete(format!("ou=people,{SUFFIX}")), &asserted);
            let rename = Update::Rename(BOB.to_owned(), "uid=bob".to_owned(), true, None);
            both.deed(&rename, &asserted);
            both.deed(&person("new", &[]), &asserted);
            both.deed(&Update::Delete(format!("cn=new,{SUFFIX}")), &[]);
        }
        for names in [
            &["sn"][..],
            &[],
            &["*"],
            &["1.1"],
            &["nope", "cn"],
            &["userPassword"],
            &["entryDN", "hasSubordinates", "structuralObjectClass"],
            &["name"],
        ] {
            for critical in [true, false] {
                let (pre, post) = (
                    reading(oid::PRE_READ, critical, names),
                    reading(oid::POST_READ, critical, names),
                );
                both.deed(&replace(BOB, "title", &["x"]), &[pre.clone(), post.clone()]);
                both.deed(&person("new", &[]), std::slice::from_ref(&post));
                let new = format!("cn=new,{SUFFIX}");
                let rename = Update::Rename(new, "cn=newer".to_owned(), true, None);
                both.deed(&rename, &[pre.clone(), post.clone()]);
                both.deed(&Update::Delete(format!("cn=newer,{SUFFIX}")), &[pre]);
            }
        }
        both.finish(80);
    }
}

#[test]
fn relaxed_permissive_and_without_effect() {
    let pair = Pair::start("writes-relaxed");
    let mut both = Both::connect(&pair, ROOT);
    let relax: &[Asked] = &[(oid::RELAX, true, None)];
    let kept = [
        ("entryUUID", "11111111-1111-1111-1111-111111111111"),
        ("createTimestamp", "20200101000000Z"),
        ("creatorsName", "cn=x"),
        ("modifiersName", "cn=y"),
        ("modifyTimestamp", "20200102000000Z"),
        ("entryCSN", "20200102000000.000000Z#000000#000#000000"),
        ("structuralObjectClass", "person"),
        ("hasSubordinates", "TRUE"),
        ("subschemaSubentry", "cn=x"),
    ];
    for (name, value) in kept {
        for controls in [&[][..], relax] {
            both.deed(&person("kept", &[(name, value)]), controls);
            both.deed(&Update::Delete(format!("cn=kept,{SUFFIX}")), &[]);
            both.deed(&replace(BOB, name, &[value]), controls);
        }
    }
    both.compare_entries("relaxed");
    both.deed(&replace(BOB, "objectClass", &["person"]), relax);
    both.deed(
        &replace(BOB, "objectClass", &["account", "extensibleObject"]),
        relax,
    );
    both.deed(&replace(ADA, "uidNumber", &["1", "2"]), relax);
    let permissive: &[Asked] = &[(oid::PERMISSIVE_MODIFY, true, None)];
    use ModifyOperation::{Add, Delete, Increment};
    for (operation, name, values) in [
        (Add, "cn", &["Ada"][..]),
        (Add, "cn", &["ADA", "Augusta"]),
        (Add, "title", &["x", "X"]),
        (Delete, "cn", &["Nobody", "Augusta"]),
        (Delete, "title", &[]),
        (Delete, "title", &["x"]),
        (Increment, "uidNumber", &["1"]),
        (Increment, "shadowMax", &["1"]),
    ] {
        both.deed(&change(operation, ADA, name, values), permissive);
        both.deed(&change(operation, ADA, name, values), &[]);
    }
    let no_op: &[Asked] = &[(oid::NO_OP, true, None)];
    both.deed(&person("never", &[]), no_op);
    both.deed(&Update::Delete(ADA.to_owned()), no_op);
    both.deed(&replace(ADA, "sn", &[]), no_op);
    both.deed(&replace(ADA, "sn", &["x"]), no_op);
    let rename = Update::Rename(ADA.to_owned(), "uid=a".to_owned(), true, None);
    both.deed(&rename, no_op);
    both.compare_entries("in the end");
    both.finish(60);
}

#[test]
fn passwords_and_transactions() {
    let mut attempts = 0..5;
    assert!(
        attempts.any(|_| compare_passwords_and_transactions()),
        "slapd ends all connections"
    );
}

/// Returns false if slapd has ended its connection at the end of a transaction.
fn compare_passwords_and_transactions() -> bool {
    let pair = Pair::start("writes-extended");
    let mut both = Both::connect(&pair, ROOT);
    let password = |user: Option<&str>, old: Option<&str>, new: Option<&str>| {
        let request = PasswordModifyRequest {
            user_identity: user.map(str::as_bytes),
            old_password: old.map(str::as_bytes),
            new_password: new.map(str::as_bytes),
        };
        request.encode()
    };
    let missing = format!("cn=none,{SUFFIX}");
    for (user, old, new) in [
        (Some(BOB), None, Some("new secret")),
        (Some(BOB), Some("wrong"), Some("x")),
        (Some(BOB), Some("new secret"), Some("newer")),
        (Some(BOB), None, None),
        (Some(BOB), None, Some("")),
        (Some(BOB), Some(""), Some("x")),
        (Some("nodn"), None, Some("x")),
        (Some(&missing), None, Some("x")),
        (None, None, Some("x")),
        (Some(SUFFIX), None, Some("x")),
    ] {
        let value = password(user, old, new);
        let what = format!("password of {user:?} from {old:?} to {new:?}");
        both.extended(&what, oid::PASSWORD_MODIFY, Some(&value));
    }
    both.extended("undecodable", oid::PASSWORD_MODIFY, Some(b"xx"));
    for oid in [oid::WHO_AM_I, oid::CANCEL, "1.2.3.4"] {
        both.extended("no value", oid, None);
        both.extended("empty", oid, Some(b""));
        both.extended("undecodable", oid, Some(b"\x30\x00"));
        both.extended("a message id", oid, Some(b"\x30\x03\x02\x01\x63"));
    }
    transactions(&mut both);
    if both.gone {
        return false;
    }
    both.compare_entries("in the end");
    both.finish(60);
    let mut anonymous = Both::connect(&pair, None);
    anonymous.extended("password", oid::PASSWORD_MODIFY, None);
    anonymous.extended("start", oid::START_TRANSACTION, None);
    anonymous.finish(2);
    // The password is the new one: the old one would have stayed, had the change been lost.
    let value = password(Some(ADA), Some("ada secret"), Some("another"));
    let mut root = Both::connect(&pair, ROOT);
    root.extended("to be used", oid::PASSWORD_MODIFY, Some(&value));
    root.finish(1);
    Both::connect(&pair, Some((ADA, "another"))).finish(0);
    true
}

fn transactions(both: &mut Both) {
    let inside: &[Asked] = &[(oid::TRANSACTION, true, Some(Vec::new()))];
    let end = |commit| {
        EndTransaction {
            commit,
            identifier: b"",
        }
        .encode()
    };
    let start = |both: &mut Both| both.extended("start", oid::START_TRANSACTION, None);
    start(both);
    both.extended("start again", oid::START_TRANSACTION, None);
    both.extended("start with a value", oid::START_TRANSACTION, Some(b"x"));
    both.deed(&replace(BOB, "title", &["within"]), inside);
    both.deed(&person("within", &[]), inside);
    both.deed(&replace(BOB, "nope", &["x"]), inside);
    both.deed(&replace("nodn", "sn", &["x"]), inside);
    both.deed(
        &replace(BOB, "sn", &["x"]),
        &[(oid::TRANSACTION, true, Some(b"q".to_vec()))],
    );
    both.deed(
        &replace(BOB, "sn", &["x"]),
        &[inside[0].clone(), reading(oid::POST_READ, true, &[])],
    );
    both.deed(&replace(ADA, "title", &["outside"]), &[]);
    both.extended("commit", oid::END_TRANSACTION, Some(&end(true)));
    both.extended("commit again", oid::END_TRANSACTION, Some(&end(true)));
    if both.gone {
        return;
    }
    both.compare_entries("committed");
    start(both);
    both.deed(&replace(BOB, "title", &["lost"]), inside);
    both.deed(&Update::Delete(format!("cn=none,{SUFFIX}")), inside);
    both.deed(&person("lost", &[]), inside);
    let commit = Request::Extended(ExtendedRequest {
        oid: oid::END_TRANSACTION.as_bytes(),
        value: Some(&end(true)),
    });
    // The update to blame has the same place in both conversations.
    both.ask("a commit that fails", &commit, &[]);
    start(both);
    both.deed(&replace(BOB, "title", &["lost"]), inside);
    both.extended("abort", oid::END_TRANSACTION, Some(&end(false)));
    start(both);
    both.extended("commit nothing", oid::END_TRANSACTION, Some(&end(true)));
    both.extended("no value", oid::END_TRANSACTION, None);
    both.extended("undecodable", oid::END_TRANSACTION, Some(b"xx"));
}

/// Odd combinations by chance.
#[test]
fn odd_updates_come_to_the_same() {
    let seed = seed("odd_updates_come_to_the_same", 7_411);
    let mut random = Random::new(seed);
    let pair = Pair::start("writes-odd");
    let mut both = Both::connect(&pair, ROOT);
    let count = quick_or_long(600, 20_000);
    for number in 1..=count {
        let (deed, controls) = (odd_deed(&mut random), odd_controls(&mut random));
        both.deed(&deed, &controls);
        if both.lost {
            println!("slapd could not go on after {number} of {count}");
            both.differences.pop();
            break;
        }
        if number % 100 == 0 {
            both.compare_entries(&format!("after {number}"));
        }
        if both.differences.len() > 10 {
            break;
        }
    }
    both.finish(300);
}
