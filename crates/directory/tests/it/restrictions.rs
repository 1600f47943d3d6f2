//! Restrictions of operations, each row as measured on slapd.

use std::sync::Arc;

use fulgurite_directory::{
    Connection, DirectoryOptions, ExtendedStep, Restrictions, Session, Strength,
};
use fulgurite_ldap::{
    BindRequest, Controls, ExtendedRequest, LdapResult, ModifyOperation, Scope, oid,
};

use crate::support::{JANE, PEOPLE, ROOT, World, asked};

/// The requester and the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requester {
    /// Has not bound.
    Nobody,
    /// Has bound without a name.
    Anonymous,
    User,
    /// A user on a connection with these factors: transport, TLS.
    Over(u32, u32),
}
use Requester::{Anonymous, Nobody, Over, User};

/// None of them has a say in the outcome of a later one.
const DEEDS: [&str; 11] = [
    "search",
    "root dse",
    "nowhere",
    "compare",
    "who am i",
    "bind",
    "anonymous bind",
    "add",
    "modify",
    "rename",
    "delete",
];

/// Does it and says code and text.
fn outcome(world: &World, who: Requester, deed: &str) -> String {
    let mut session = world.session(who);
    let read = |base: &str| {
        let search = asked(base, Scope::Base, "(objectClass=*)", &["1.1"]);
        world.search(&session, &search).result
    };
    let unit = [("objectClass", "organizationalUnit")];
    let result = match deed {
        "search" => read(PEOPLE),
        "root dse" => read(""),
        "nowhere" => read("dc=nowhere"),
        "compare" => world.compare(&session, PEOPLE, "ou", "people"),
        "add" => world.add(&session, "ou=new,dc=example,dc=com", &unit),
        "modify" => {
            let change = (ModifyOperation::Replace, "description", &["x"][..]);
            world.modify(&session, PEOPLE, &[change])
        }
        "rename" => world.rename(&session, "ou=groups,dc=example,dc=com", "ou=g", true, None),
        "delete" => world.delete(&session, JANE),
        "who am i" => {
            let request = ExtendedRequest {
                oid: oid::WHO_AM_I.as_bytes(),
                value: None,
            };
            let directory = &world.directory;
            match directory.extended(&mut session.clone(), 1, &request, &Controls::NONE) {
                ExtendedStep::Done(reply) => reply.result,
                other => panic!("{other:?}"),
            }
        }
        "bind" => {
            let anonymous = Session::on(Arc::clone(session.connection()));
            world
                .bind_on(anonymous, &BindRequest::simple(JANE, b"jane's"))
                .0
        }
        "anonymous bind" => {
            session.reset();
            world.bind_on(session, &BindRequest::simple("", b"")).0
        }
        other => panic!("{other}"),
    };
    said(&result)
}

fn said(result: &LdapResult) -> String {
    let code = result.code.number();
    match (code, result.diagnostic.is_empty()) {
        (0 | 6, _) => "ok".to_owned(),
        (_, true) => code.to_string(),
        _ => format!("{code} {}", result.diagnostic),
    }
}

impl World {
    fn session(&self, who: Requester) -> Session {
        let (strength, name) = match who {
            Nobody | Anonymous => (Strength::default(), None),
            User => (Strength::default(), Some(JANE)),
            Over(transport, tls) => (
                Strength {
                    transport,
                    tls,
                    sasl: 0,
                },
                Some(JANE),
            ),
        };
        let connection = Connection {
            strength,
            ..Connection::default()
        };
        let mut session = match name {
            Some(name) => self.user(name),
            None => Session::new(),
        };
        session.set_connection(Arc::new(connection));
        if who != Nobody {
            session.bound(3);
        }
        session
    }
}

/// Restrictions as slapd's configuration says them.
fn restricted(words: &[&str]) -> Restrictions {
    let mut all = Restrictions::default();
    for line in words {
        let (directive, word) = line.split_once(' ').unwrap_or((line, ""));
        let (word, bits) = word.split_once('=').unwrap_or((word, ""));
        let number = || bits.parse().expect(line);
        let (set, require, security) = (
            &mut all.restrict.operations,
            &mut all.require,
            &mut all.security,
        );
        match (directive, word) {
            ("readonly", _) => all.read_only = true,
            ("restrict", "extended") if bits.is_empty() => set.extended = true,
            ("restrict", "extended") => all.restrict.extended_oids.push(bits.to_owned()),
            ("restrict", "add") => set.add = true,
            ("restrict", "bind") => set.bind = true,
            ("restrict", "rename") => set.modify_dn = true,
            ("restrict", "search") => set.search = true,
            ("restrict", "read") => (set.search, set.compare) = (true, true),
            ("restrict", "write") => {
                (set.add, set.delete, set.modify, set.modify_dn) = (true, true, true, true);
            }
            ("require", "bind") => require.bind = true,
            ("require", "LDAPv3") => require.ldap_v3 = true,
            ("require", "authc") => require.authentication = true,
            ("require", "SASL") => require.sasl = true,
            ("require", "strong") => require.strong = true,
            ("security", "ssf") => security.ssf = number(),
            ("security", "transport") => security.transport = number(),
            ("security", "tls") => security.tls = number(),
            ("security", "sasl") => security.sasl = number(),
            ("security", "update_ssf") => security.update_ssf = number(),
            ("security", "update_tls") => security.update_tls = number(),
            ("security", "simple_bind") => security.simple_bind = number(),
            _ => panic!("{line}"),
        }
    }
    all
}

/// Everything that comes out otherwise than without restrictions.
fn differences(who: Requester, adjust: impl Fn(&mut DirectoryOptions)) -> Vec<String> {
    let open = |options: &mut DirectoryOptions| {
        options.access = vec!["to * by * write".into()];
    };
    let free = World::with(open);
    let mut restricted = World::with(open);
    restricted.reopen(|options| {
        open(options);
        adjust(options);
    });
    let differs = |deed: &&str| {
        let now = outcome(&restricted, who, deed);
        (now != outcome(&free, who, deed)).then(|| format!("{deed}: {now}"))
    };
    DEEDS.iter().filter_map(differs).collect()
}

fn everywhere(words: &'static [&'static str]) -> impl Fn(&mut DirectoryOptions) {
    move |options| options.restrictions = restricted(words)
}

fn here(words: &'static [&'static str]) -> impl Fn(&mut DirectoryOptions) {
    move |options| options.databases[0].restrictions = restricted(words)
}

#[test]
fn read_only_and_forbidden_operations() {
    let updates = ["add", "modify", "rename", "delete"]
        .map(|deed| format!("{deed}: 53 operation restricted"));
    assert_eq!(differences(User, here(&["readonly"])), updates);
    assert_eq!(differences(User, everywhere(&["restrict write"])), updates);
    assert_eq!(
        differences(Anonymous, here(&["readonly"])),
        [""; 0],
        "8 comes first"
    );
    assert_eq!(
        differences(User, here(&["restrict rename"])),
        ["rename: 53 operation restricted"]
    );
    assert_eq!(
        differences(User, here(&["restrict read"])),
        [
            "search: 53 read operations restricted",
            "compare: 53 read operations restricted"
        ]
    );
    assert_eq!(
        differences(User, everywhere(&["restrict search"])),
        [
            "search: 53 operation restricted",
            "root dse: 53 operation restricted"
        ]
    );
    assert_eq!(
        differences(User, here(&["restrict read", "restrict add"])),
        [
            "search: 53 operation restricted",
            "compare: 53 operation restricted",
            "add: 53 operation restricted"
        ]
    );
    assert_eq!(
        differences(User, here(&["restrict extended=1.3.6.1.4.1.4203.1.11.3"])),
        ["who am i: 53 extended operation restricted"]
    );
    let extended = ["who am i: 53 operation restricted"];
    assert_eq!(differences(User, here(&["restrict extended"])), extended);
    assert_eq!(
        differences(Anonymous, here(&["restrict extended"])),
        [""; 0]
    );
    assert_eq!(
        differences(Anonymous, everywhere(&["restrict extended"])),
        extended
    );
    let binds = [
        "bind: 53 operation restricted",
        "anonymous bind: 53 operation restricted",
    ];
    assert_eq!(differences(User, everywhere(&["restrict bind"])), binds);
    assert_eq!(differences(User, here(&["restrict bind"])), binds[..1]);
}

#[test]
fn demands_on_the_bind() {
    let reads = |text: &str| {
        ["search", "root dse", "compare", "who am i"]
            .map(|deed| format!("{deed}: {text}"))
            .to_vec()
    };
    assert_eq!(
        differences(Nobody, everywhere(&["require bind"])),
        reads("1 BIND required")
    );
    assert_eq!(
        differences(Anonymous, everywhere(&["require bind"])),
        [""; 0]
    );
    assert_eq!(
        differences(Anonymous, everywhere(&["require authc"])),
        reads("53 authentication required")
    );
    assert_eq!(
        differences(Anonymous, here(&["require authc"])),
        [
            "search: 53 authentication required",
            "compare: 53 authentication required"
        ]
    );
    assert_eq!(
        differences(User, everywhere(&["require authc", "require strong"])),
        [""; 0]
    );
    assert_eq!(
        differences(
            Anonymous,
            everywhere(&["require authc", "require SASL", "require strong"])
        ),
        reads("8 strong(er) authentication required")
    );
    let by_name = differences(User, everywhere(&["require strong", "require SASL"]));
    assert_eq!(by_name.len(), 8, "{by_name:?}");
    assert!(
        by_name
            .iter()
            .all(|line| line.ends_with(": 8 SASL authentication required"))
    );
}

#[test]
fn demands_on_the_connection() {
    let all = |who, words| {
        let lines = differences(who, everywhere(words));
        let texts: Vec<String> = lines
            .iter()
            .map(|line| line.split_once(": ").expect("deed and text").1.to_owned())
            .collect();
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{lines:?}");
        (texts.len(), texts.into_iter().next().unwrap_or_default())
    };
    let told = |count, text: &str| (count, format!("13 {text}"));
    assert_eq!(
        all(User, &["security ssf=1"]),
        told(9, "confidentiality required")
    );
    assert_eq!(
        all(Over(71, 0), &["security ssf=72"]),
        told(9, "stronger confidentiality required")
    );
    assert_eq!(all(Over(71, 128), &["security ssf=72"]), (0, String::new()));
    assert_eq!(
        all(User, &["security tls=1"]),
        told(10, "TLS confidentiality required")
    );
    assert_eq!(
        all(Over(71, 0), &["security transport=72", "security tls=1"]),
        told(10, "stronger transport confidentiality required")
    );
    assert_eq!(
        all(User, &["security sasl=1", "security ssf=1"]),
        told(9, "SASL confidentiality required")
    );
    assert_eq!(
        all(User, &["security update_ssf=72", "security update_tls=1"]),
        told(4, "TLS confidentiality required for update")
    );
    assert_eq!(
        all(Over(71, 0), &["security update_ssf=72"]),
        told(4, "stronger confidentiality required for update")
    );
    assert_eq!(
        differences(User, everywhere(&["security simple_bind=56"])),
        ["bind: 13 confidentiality required"]
    );
    assert_eq!(
        differences(Anonymous, here(&["security ssf=1"])).len(),
        7,
        "not the root DSE, nor who am I, nor a bind without a name"
    );
}

#[test]
fn kinds_of_bind_are_allowed_and_forbidden() {
    let bound = |name: &str, password: &str, adjust: fn(&mut DirectoryOptions)| {
        let world = World::with(adjust);
        let (result, session) = world.bind_on(
            Session::new(),
            &BindRequest::simple(name, password.as_bytes()),
        );
        (said(&result), session.is_authenticated())
    };
    let refused = |text: &str| (text.to_owned(), false);
    let unauthenticated = "53 unauthenticated bind (DN with no password) disallowed";
    assert_eq!(bound(JANE, "", |_| ()), refused(unauthenticated));
    assert_eq!(
        bound(JANE, "", |options| options.allow.bind_anon_dn = true),
        refused("ok")
    );
    assert_eq!(bound("", "x", |_| ()), refused("49"));
    assert_eq!(
        bound("", "x", |options| options.allow.bind_anon_cred = true),
        refused("ok")
    );
    let anonymous = "48 anonymous bind disallowed";
    assert_eq!(
        bound("", "", |options| options.disallow.bind_anon = true),
        refused(anonymous)
    );
    let both: fn(&mut DirectoryOptions) = |options| {
        options.allow.bind_anon_dn = true;
        options.disallow.bind_anon = true;
    };
    assert_eq!(bound(JANE, "", both), refused(anonymous));
    assert_eq!(bound(JANE, "jane's", both), ("ok".to_owned(), true));
    let simple = "53 unwilling to perform simple authentication";
    assert_eq!(
        bound(JANE, "jane's", |options| options.disallow.bind_simple =
            true),
        refused(simple)
    );
    assert_eq!(
        bound("", "", |options| options.disallow.bind_simple = true),
        refused("ok")
    );
}

#[test]
fn version_two_needs_to_be_allowed() {
    let old = BindRequest {
        version: 2,
        ..BindRequest::simple(JANE, b"jane's")
    };
    let (result, _) = World::with(|_| ()).bind_on(Session::new(), &old);
    assert_eq!(
        said(&result),
        "2 historical protocol version requested, use LDAPv3 instead"
    );
    let world = World::with(|options| options.allow.bind_v2 = true);
    let (result, session) = world.bind_on(Session::new(), &old);
    assert_eq!((said(&result).as_str(), session.version()), ("ok", Some(2)));
    let world = World::with(|options| {
        options.allow.bind_v2 = true;
        options.restrictions = restricted(&["require LDAPv3"]);
    });
    let (_, session) = world.bind_on(Session::new(), &old);
    let search = asked(PEOPLE, Scope::Base, "(objectClass=*)", &[]);
    let result = world.search(&session, &search).result;
    assert_eq!(said(&result), "1 operation restricted to LDAPv3 clients");
}

#[test]
fn updates_without_a_name_can_be_allowed() {
    let world = World::with(|options| {
        options.access = vec!["to * by * write".into()];
    });
    assert_eq!(
        said(&world.delete(&Session::new(), JANE)),
        "8 modifications require authentication"
    );
    let world = World::with(|options| {
        options.access = vec!["to * by * write".into()];
        options.allow.update_anon = true;
    });
    assert_eq!(said(&world.delete(&Session::new(), JANE)), "ok");
}

#[test]
fn the_root_is_restricted_as_well() {
    let mut world = World::with(|_| ());
    world.reopen(here(&["readonly"]));
    assert_eq!(
        said(&world.delete(&world.user(ROOT), JANE)),
        "53 operation restricted"
    );
}
