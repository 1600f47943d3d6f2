//! A small directory with its own clock, and requests in bytes as a client sends them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_directory::{
    BindStep, Clock, DatabaseOptions, Directory, DirectoryOptions, Entropy, Identity, Name,
    Progress, Quantum, RootAccount, Session, Timestamp, WriteRequest,
};
use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    AddRequest, BindRequest, Change, CompareRequest, Control, DeleteRequest, Deref, FilterBuf,
    LdapResult, Limits, Message, ModifyDnRequest, ModifyOperation, ModifyRequest, PartialAttribute,
    Request, Response, ResponseMessage, ResultCode, Scope, SearchRequest, Values, encode, oid,
};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{Store, StoreOptions};
use tempfile::TempDir;

pub(crate) const ROOT: &str = "cn=admin,dc=example,dc=com";
pub(crate) const TOP: &str = "dc=example,dc=com";
pub(crate) const PEOPLE: &str = "ou=people,dc=example,dc=com";
pub(crate) const JANE: &str = "uid=jane,ou=people,dc=example,dc=com";
pub(crate) const JOHN: &str = "uid=john,ou=people,dc=example,dc=com";

pub(crate) struct World {
    pub(crate) directory: Directory,
    pub(crate) clock: Arc<TestClock>,
    root: String,
    pub(crate) store: Arc<Store>,
    _dir: TempDir,
}

fn options_for(schema: Arc<Schema>, store: Arc<Store>, clock: &Arc<TestClock>) -> DirectoryOptions {
    let mut options = DirectoryOptions::new(schema, vec![DatabaseOptions::new(store)]);
    options.databases[0].root = Some(RootAccount {
        dn: ROOT.to_owned(),
        password: Some(b"secret".to_vec()),
    });
    options.clock = Arc::<TestClock>::clone(clock);
    options.entropy = Arc::new(TestEntropy::default());
    options.cookie_key = Some([9; 32]);
    options
}

/// A clock that only tests advance. 2026-01-02T03:04:05Z.
#[derive(Default)]
pub(crate) struct TestClock(AtomicU64);

const START_US: u64 = 1_767_323_045_000_000;

impl TestClock {
    pub(crate) fn sleep_s(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(START_US + self.0.load(Ordering::Relaxed))
    }

    fn elapsed_us(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts.
#[derive(Default)]
struct TestEntropy(AtomicU64);

impl Entropy for TestEntropy {
    fn random(&self) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
    }
}

/// An entry as a client receives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryText {
    pub(crate) dn: String,
    pub(crate) attributes: BTreeMap<String, Vec<String>>,
}

impl EntryText {
    pub(crate) fn get(&self, name: &str) -> Vec<&str> {
        let values = self.attributes.get(name);
        values.into_iter().flatten().map(String::as_str).collect()
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.attributes.keys().map(String::as_str).collect()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SearchAnswer {
    pub(crate) entries: Vec<EntryText>,
    pub(crate) result: LdapResult,
    /// Cookie of the paged results control, if there was one.
    pub(crate) cookie: Option<Vec<u8>>,
    /// All response controls: OID and value.
    pub(crate) controls: Vec<(String, Vec<u8>)>,
}

impl SearchAnswer {
    pub(crate) fn control(&self, oid: &str) -> Option<&[u8]> {
        let control = self.controls.iter().find(|(found, _)| found == oid);
        control.map(|(_, value)| value.as_slice())
    }

    pub(crate) fn dns(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.dn.as_str()).collect()
    }
}

/// A search request that owns what it asks for.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) base: String,
    pub(crate) scope: Scope,
    pub(crate) filter: String,
    pub(crate) attributes: Vec<String>,
    pub(crate) size_limit: u32,
    pub(crate) time_limit_s: u32,
    pub(crate) types_only: bool,
    pub(crate) deref: Deref,
    /// Page size and cookie.
    pub(crate) page: Option<(u32, Vec<u8>)>,
    /// Other controls: OID, criticality, value.
    pub(crate) controls: Vec<(&'static str, bool, Option<Vec<u8>>)>,
    pub(crate) quantum: Quantum,
}

pub(crate) fn asked(base: &str, scope: Scope, filter: &str, attributes: &[&str]) -> Asked {
    Asked {
        base: base.to_owned(),
        scope,
        filter: filter.to_owned(),
        attributes: attributes.iter().map(|&name| name.to_owned()).collect(),
        size_limit: 0,
        time_limit_s: 0,
        types_only: false,
        deref: Deref::Never,
        page: None,
        controls: Vec::new(),
        quantum: Quantum::default(),
    }
}

impl Asked {
    /// The request in bytes.
    pub(crate) fn pdu(&self) -> Vec<u8> {
        let filter = FilterBuf::parse(&self.filter).expect(&self.filter);
        let request = SearchRequest {
            size_limit: self.size_limit,
            time_limit_s: self.time_limit_s,
            types_only: self.types_only,
            deref: self.deref,
            attributes: self.attributes.iter().map(String::as_bytes).collect(),
            ..SearchRequest::new(&self.base, self.scope, filter.filter())
        };
        let value = self.page.as_ref().map(|(size, cookie)| {
            PagedResults {
                size: *size,
                cookie,
            }
            .encode()
        });
        let page = value
            .as_ref()
            .map(|value| Control::with_value(oid::PAGED_RESULTS, true, value));
        let others = self.controls.iter();
        let others = others.map(|(oid, critical, value)| Control {
            oid: oid.as_bytes(),
            critical: *critical,
            value: value.as_deref(),
        });
        let controls: Vec<Control<'_>> = others.chain(page).collect();
        pdu(&Request::Search(request), &controls)
    }
}

impl World {
    /// The example: a suffix, people, two persons.
    pub(crate) fn new() -> World {
        World::with(|_| {})
    }

    pub(crate) fn with(adjust: impl FnOnce(&mut DirectoryOptions)) -> World {
        let world = World::empty(adjust);
        world.load_example();
        world
    }

    /// Adds the entries of the example to an empty world.
    pub(crate) fn load_example(&self) {
        self.load(EXAMPLE);
    }

    pub(crate) fn empty(adjust: impl FnOnce(&mut DirectoryOptions)) -> World {
        World::empty_with_store(adjust, |_| {})
    }

    pub(crate) fn empty_with_store(
        adjust: impl FnOnce(&mut DirectoryOptions),
        adjust_store: impl FnOnce(&mut StoreOptions),
    ) -> World {
        World::empty_with_schema(Schema::standard(), adjust, adjust_store)
    }

    pub(crate) fn empty_with_schema(
        schema: Arc<Schema>,
        adjust: impl FnOnce(&mut DirectoryOptions),
        adjust_store: impl FnOnce(&mut StoreOptions),
    ) -> World {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut options = StoreOptions {
            suffixes: vec![TOP.to_owned()],
            ..StoreOptions::default()
        };
        adjust_store(&mut options);
        let store = Store::create(dir.path(), &options, Arc::clone(&schema)).expect("a store");
        let clock = Arc::new(TestClock(AtomicU64::new(0)));
        let mut options = options_for(schema, store.into(), &clock);
        adjust(&mut options);
        let root = options.databases[0].root.as_ref();
        World {
            root: root.map_or(ROOT, |root| &root.dn).to_owned(),
            store: Arc::clone(&options.databases[0].store),
            directory: Directory::open(options).expect("a directory"),
            clock,
            _dir: dir,
        }
    }

    /// Opens the directory anew, with other options.
    pub(crate) fn reopen(&mut self, adjust: impl FnOnce(&mut DirectoryOptions)) {
        let schema = Arc::clone(self.directory.schema());
        let mut options = options_for(schema, Arc::clone(&self.store), &self.clock);
        adjust(&mut options);
        self.directory = Directory::open(options).expect("a directory");
    }

    /// Adds entries given as `dn: ...` and attribute lines, with empty lines between entries.
    /// Gives an attribute of an entry another value, as a bind does.
    pub(crate) fn change_bind_state(&self, dn: &str, name: &str, value: &str) {
        self.change_bind_values(dn, name, &[value]);
    }

    /// Gives an attribute of an entry other values, as binds do.
    pub(crate) fn change_bind_values(&self, dn: &str, name: &str, values: &[&str]) {
        let mut writer = self.store.write().expect("nobody else writes");
        let schema = writer.schema();
        let dn = fulgurite_schema::Dn::parse(schema, dn).expect("a name");
        let description = schema.describe(name.as_bytes()).expect("a type");
        let id = writer.find(&dn).expect("a sound store").entry();
        let values = values.iter().map(|value| value.as_bytes().to_vec());
        let changes = [(description, values.collect())];
        let changed = writer.change_bind_state(id.expect("an entry"), &changes);
        changed.expect("a change");
        writer.commit().expect("a commit");
    }

    /// Gives an entry values without a request, as a load does.
    pub(crate) fn change_entry(&self, dn: &str, values: &[(&str, &str)]) {
        let mut writer = self.store.write().expect("nobody else writes");
        let schema = writer.schema();
        let dn = fulgurite_schema::Dn::parse(schema, dn).expect("a name");
        let id = writer.find(&dn).expect("a sound store").entry();
        let id = id.expect("an entry");
        let stored = writer.entry(id).expect("a sound store");
        let stored = stored.expect("an entry").to_entry();
        let mut entry = stored.expect("a sound record");
        for (name, value) in values {
            let description = schema.describe(name.as_bytes()).expect("a type");
            entry.push(&description, value.as_bytes().to_vec());
        }
        let checked = fulgurite_schema::CheckedEntry::on_trust(entry, schema);
        writer.modify(id, &checked).expect("a change");
        writer.commit().expect("a commit");
    }

    pub(crate) fn load(&self, text: &str) {
        for record in text
            .split("\n\n")
            .filter(|record| !record.trim().is_empty())
        {
            let mut lines = record
                .lines()
                .filter_map(|line| line.trim().split_once(": "));
            let (_, dn) = lines.next().expect("a dn line");
            let attributes: Vec<(&str, &str)> = lines.collect();
            let result = self.add(&self.root(), dn, &attributes);
            assert_eq!(result, LdapResult::success(), "{dn}");
        }
    }

    /// Returns the number of candidates of a search, and of the entries found.
    pub(crate) fn examined(&self, filter: &str) -> (u64, u32) {
        let pdu = asked(TOP, Scope::Subtree, filter, &["1.1"]).pdu();
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!("a search was encoded")
        };
        let root = self.root();
        let mut task = self
            .directory
            .begin_search(&root, 7, request, &message.controls);
        while task.advance(&mut Vec::new(), Quantum::default()) == Progress::More {}
        (task.examined(), task.entries())
    }

    pub(crate) fn root(&self) -> Session {
        Session::of(Identity::User(self.name(&self.root)))
    }

    pub(crate) fn is_root(&self, session: &Session) -> bool {
        self.directory.databases()[0].is_root(session)
    }

    pub(crate) fn user(&self, dn: &str) -> Session {
        Session::of(Identity::User(self.name(dn)))
    }

    fn name(&self, dn: &str) -> Name {
        Name::from(&Dn::parse(self.directory.schema(), dn).expect(dn))
    }

    pub(crate) fn bind(&self, dn: &str, password: &str) -> (LdapResult, Session) {
        self.bind_request(&BindRequest::simple(dn, password.as_bytes()))
    }

    pub(crate) fn bind_request(&self, request: &BindRequest<'_>) -> (LdapResult, Session) {
        self.bind_on(Session::new(), request)
    }

    pub(crate) fn bind_on(
        &self,
        mut session: Session,
        request: &BindRequest<'_>,
    ) -> (LdapResult, Session) {
        let pdu = pdu(&Request::Bind(*request), &[]);
        let message = decode(&pdu);
        let Request::Bind(request) = &message.request else {
            unreachable!("a bind was encoded")
        };
        let outcome = match self
            .directory
            .begin_bind(&mut session, request, &message.controls)
        {
            BindStep::Done(outcome) => outcome,
            BindStep::Check(check) => check.run(&self.directory),
        };
        let result = outcome.result.clone();
        let mut out = Vec::new();
        outcome.finish(&mut session, message.id, &mut out);
        assert_eq!(single_result(&out), result);
        (result, session)
    }

    pub(crate) fn search(&self, session: &Session, asked: &Asked) -> SearchAnswer {
        found(&self.answer(session, asked))
    }

    /// The answers of a search, in bytes.
    pub(crate) fn answer(&self, session: &Session, asked: &Asked) -> Vec<u8> {
        let pdu = asked.pdu();
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!("a search was encoded")
        };
        let mut task = self
            .directory
            .begin_search(session, message.id, request, &message.controls);
        let mut out = Vec::new();
        while task.advance(&mut out, asked.quantum) == Progress::More {}
        let found = found(&out);
        assert_eq!(task.entries() as usize, found.entries.len());
        assert_eq!(task.code(), found.result.code);
        out
    }

    /// Subtree search of the whole example, as root: the names found, sorted.
    pub(crate) fn names(&self, filter: &str) -> Vec<String> {
        let found = self.search(&self.root(), &asked(TOP, Scope::Subtree, filter, &["1.1"]));
        assert_eq!(found.result, LdapResult::success(), "{filter}");
        let mut names: Vec<String> = found.entries.into_iter().map(|entry| entry.dn).collect();
        names.sort();
        names
    }

    /// One entry with the attributes asked for, as root.
    pub(crate) fn read(&self, dn: &str, attributes: &[&str]) -> EntryText {
        let asked = asked(dn, Scope::Base, "(objectClass=*)", attributes);
        let mut found = self.search(&self.root(), &asked);
        assert_eq!(found.result, LdapResult::success(), "{dn}");
        assert_eq!(found.entries.len(), 1, "{dn}");
        found.entries.remove(0)
    }

    pub(crate) fn compare(
        &self,
        session: &Session,
        dn: &str,
        name: &str,
        value: &str,
    ) -> LdapResult {
        let request = CompareRequest {
            dn: dn.as_bytes(),
            assertion: fulgurite_ldap::Assertion {
                attribute: name.as_bytes(),
                value: value.as_bytes(),
            },
        };
        let pdu = pdu(&Request::Compare(request), &[]);
        let message = decode(&pdu);
        self.directory.compare(session, &request, &message.controls)
    }

    pub(crate) fn add(
        &self,
        session: &Session,
        dn: &str,
        attributes: &[(&str, &str)],
    ) -> LdapResult {
        self.write(session, &add_pdu(dn, attributes))
    }

    pub(crate) fn delete(&self, session: &Session, dn: &str) -> LdapResult {
        self.write(session, &delete_pdu(dn))
    }

    pub(crate) fn modify(
        &self,
        session: &Session,
        dn: &str,
        changes: &[(ModifyOperation, &str, &[&str])],
    ) -> LdapResult {
        self.write(session, &modify_pdu(dn, changes))
    }

    pub(crate) fn rename(
        &self,
        session: &Session,
        dn: &str,
        new_rdn: &str,
        delete_old_rdn: bool,
        new_superior: Option<&str>,
    ) -> LdapResult {
        let request = ModifyDnRequest {
            dn: dn.as_bytes(),
            new_rdn: new_rdn.as_bytes(),
            delete_old_rdn,
            new_superior: new_superior.map(str::as_bytes),
        };
        self.write(session, &pdu(&Request::ModifyDn(request), &[]))
    }

    pub(crate) fn write(&self, session: &Session, pdu: &[u8]) -> LdapResult {
        let replies = self.directory.apply(&[write_request(session, pdu)]);
        assert_eq!(replies.len(), 1);
        assert_eq!(single_result(&replies[0].bytes), replies[0].result);
        replies[0].result.clone()
    }
}

/// The update that a PDU holds.
pub(crate) fn write_request(session: &Session, pdu: &[u8]) -> WriteRequest {
    WriteRequest::new(session, &decode(pdu)).expect("an update")
}

pub(crate) fn add_pdu(dn: &str, attributes: &[(&str, &str)]) -> Vec<u8> {
    let mut names: Vec<&str> = Vec::new();
    let mut values: Vec<Vec<&[u8]>> = Vec::new();
    for (name, value) in attributes {
        match names.iter().position(|known| known == name) {
            Some(at) => values[at].push(value.as_bytes()),
            None => {
                names.push(name);
                values.push(vec![value.as_bytes()]);
            }
        }
    }
    let attributes = names
        .iter()
        .zip(&values)
        .map(|(name, values)| PartialAttribute {
            description: name.as_bytes(),
            values: Values::from_slices(values),
        })
        .collect();
    let dn = dn.as_bytes();
    pdu(&Request::Add(AddRequest { dn, attributes }), &[])
}

pub(crate) fn delete_pdu(dn: &str) -> Vec<u8> {
    pdu(&Request::Delete(DeleteRequest { dn: dn.as_bytes() }), &[])
}

pub(crate) fn modify_pdu(dn: &str, changes: &[(ModifyOperation, &str, &[&str])]) -> Vec<u8> {
    let values: Vec<Vec<&[u8]>> = changes
        .iter()
        .map(|(.., values)| values.iter().map(|value| value.as_bytes()).collect())
        .collect();
    let changes = changes
        .iter()
        .zip(&values)
        .map(|((operation, name, _), values)| Change {
            operation: *operation,
            attribute: PartialAttribute {
                description: name.as_bytes(),
                values: Values::from_slices(values),
            },
        })
        .collect();
    let dn = dn.as_bytes();
    pdu(&Request::Modify(ModifyRequest { dn, changes }), &[])
}

pub(crate) fn pdu(request: &Request<'_>, controls: &[Control<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    encode::request(&mut out, 7, request, controls);
    out
}

pub(crate) fn decode(pdu: &[u8]) -> Message<'_> {
    Message::decode(pdu, &Limits::default()).expect("what was encoded decodes")
}

/// Splits bytes into messages and reads entries and the result.
pub(crate) fn found(mut bytes: &[u8]) -> SearchAnswer {
    let mut entries = Vec::new();
    loop {
        let len = fulgurite_ldap::frame(bytes, usize::MAX)
            .expect("framed")
            .expect("whole messages");
        let (pdu, rest) = bytes.split_at(len);
        let message = ResponseMessage::decode(pdu).expect("a response");
        assert_eq!(message.id, 7);
        bytes = rest;
        match message.response {
            Response::SearchEntry(entry) => entries.push(EntryText {
                dn: text(entry.dn),
                attributes: entry
                    .attributes
                    .iter()
                    .map(|attribute| {
                        let values = attribute.values.iter().map(text).collect();
                        (text(attribute.description), values)
                    })
                    .collect(),
            }),
            Response::SearchDone(result) => {
                assert!(rest.is_empty(), "nothing follows the result");
                let control = message.controls.find(oid::PAGED_RESULTS);
                let cookie = control.map(|control| {
                    let value = control.value.expect("a value");
                    let page = PagedResults::decode(value).expect("a page");
                    page.cookie.to_vec()
                });
                let controls = message.controls.iter();
                let controls = controls.map(|control| {
                    (
                        text(control.oid),
                        control.value.unwrap_or_default().to_vec(),
                    )
                });
                return SearchAnswer {
                    entries,
                    result,
                    cookie,
                    controls: controls.collect(),
                };
            }
            other => panic!("unexpected {other:?}"),
        }
    }
}

fn single_result(pdu: &[u8]) -> LdapResult {
    let message = ResponseMessage::decode(pdu).expect("a response");
    assert_eq!(message.id, 7);
    message.response.result().expect("a result").clone()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Code alone, for results whose text does not matter.
pub(crate) fn code(result: &LdapResult) -> ResultCode {
    result.code
}

const EXAMPLE: &str = "dn: dc=example,dc=com
objectClass: domain
dc: example

dn: ou=people,dc=example,dc=com
objectClass: organizationalUnit
ou: people

dn: uid=jane,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
objectClass: posixAccount
uid: jane
cn: Jane Doe
cn;lang-de: Jane Reh
sn: Doe
mail: jane@example.com
uidNumber: 1000
gidNumber: 100
homeDirectory: /home/jane
userPassword: jane's

dn: uid=john,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: john
cn: John Roe
sn: Roe
description: first of two
description: Second  of Two

dn: ou=groups,dc=example,dc=com
objectClass: organizationalUnit

dn: cn=all,ou=groups,dc=example,dc=com
objectClass: groupOfNames
cn: all
member: uid=jane,ou=people,dc=example,dc=com
member: uid=john,ou=people,dc=example,dc=com
";
