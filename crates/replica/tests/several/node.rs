//! One server: its store, its directory, its clock, and what clients do there.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use fulgurite_directory::{
    Clock, DatabaseOptions, Directory, DirectoryOptions, Entropy, Identity, Name, OverlaySettings,
    Progress, Quantum, RootAccount, Session, Timestamp, WriteRequest,
};
use fulgurite_ldap::{
    Deref, FilterBuf, LdapResult, Limits, Message, Request, Response, ResponseMessage, Scope,
    SearchRequest, encode,
};
use fulgurite_policy::{Origin, Syncrepl};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{Durability, Retention, Store, StoreOptions};
use tempfile::TempDir;

pub(crate) const TOP: &str = "dc=example,dc=com";
const ROOT: &str = "cn=admin,dc=example,dc=com";

/// 2026-01-02T03:04:05Z.
const START_US: u64 = 1_767_323_045_000_000;

/// The attributes in which copies must be equal.
const COMPARED: [&str; 8] = [
    "*",
    "entryUUID",
    "entryCSN",
    "creatorsName",
    "createTimestamp",
    "modifiersName",
    "modifyTimestamp",
    "structuralObjectClass",
];

/// The time of a server: that of the world, and what its clock is wrong by.
#[derive(Debug)]
pub(crate) struct SkewedClock {
    world_us: Arc<AtomicU64>,
    pub(crate) skew_us: AtomicI64,
}

impl Clock for SkewedClock {
    fn now(&self) -> Timestamp {
        let now = START_US + self.elapsed_us();
        Timestamp(now.saturating_add_signed(self.skew_us.load(Ordering::Relaxed)))
    }

    fn elapsed_us(&self) -> u64 {
        self.world_us.load(Ordering::Relaxed)
    }
}

/// Counts, with the number of the server in front.
struct CountedEntropy {
    server: u16,
    count: Arc<AtomicU64>,
}

impl Entropy for CountedEntropy {
    fn random(&self) -> [u8; 16] {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        (u128::from(self.server) << 120 | u128::from(count)).to_be_bytes()
    }
}

/// An entry as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenEntry {
    pub(crate) dn: String,
    pub(crate) attributes: BTreeMap<String, Vec<String>>,
}

/// Attributes with their values, in the order of an answer.
pub(crate) type ReadAttributes = Vec<(String, Vec<String>)>;

impl SeenEntry {
    pub(crate) fn first(&self, name: &str) -> &str {
        let values = self.attributes.get(name);
        values
            .and_then(|values| values.first())
            .map_or("", |value| value)
    }
}

/// A server.
pub(crate) struct Node<'d> {
    pub(crate) server: u16,
    pub(crate) clock: Arc<SkewedClock>,
    pub(crate) store: Arc<Store>,
    consumers: Vec<Syncrepl>,
    schema: Arc<Schema>,
    entropy: Arc<AtomicU64>,
    /// A directory for each start. Searches of other servers borrow them.
    lives: &'d [OnceCell<Directory>],
    life: usize,
    _folder: TempDir,
}

impl<'d> Node<'d> {
    pub(crate) fn new(
        server: u16,
        (schema, world_us): (&Arc<Schema>, &Arc<AtomicU64>),
        consumers: Vec<Syncrepl>,
        lives: &'d [OnceCell<Directory>],
    ) -> Node<'d> {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let options = StoreOptions {
            suffixes: vec![TOP.to_owned()],
            durability: Some(Durability::NoSync),
            ..StoreOptions::default()
        };
        let store = Store::create(folder.path(), &options, Arc::clone(schema));
        let clock = SkewedClock {
            world_us: Arc::clone(world_us),
            skew_us: AtomicI64::new(0),
        };
        let node = Node {
            server,
            clock: Arc::new(clock),
            store: Arc::new(store.expect("a store")),
            consumers,
            schema: Arc::clone(schema),
            entropy: Arc::default(),
            lives,
            life: 0,
            _folder: folder,
        };
        node.start();
        node
    }

    fn start(&self) {
        let database = DatabaseOptions::new(Arc::clone(&self.store));
        let mut options = DirectoryOptions::new(Arc::clone(&self.schema), vec![database]);
        let database = &mut options.databases[0];
        database.root = Some(RootAccount {
            dn: ROOT.to_owned(),
            password: None,
        });
        database.overlays = vec![OverlaySettings::new("syncprov", Origin::Default)];
        database.replication.consumers = self.consumers.clone();
        database.replication.multi_provider = true;
        options.server_id = self.server;
        options.clock = Arc::<SkewedClock>::clone(&self.clock);
        options.entropy = Arc::new(CountedEntropy {
            server: self.server,
            count: Arc::clone(&self.entropy),
        });
        let directory = Directory::open(options).expect("a directory");
        assert!(self.lives[self.life].set(directory).is_ok(), "a new life");
    }

    /// Returns true if the server can start once more.
    pub(crate) fn can_restart(&self) -> bool {
        self.life + 1 < self.lives.len()
    }

    /// Loses everything but the store.
    pub(crate) fn restart(&mut self) {
        self.life += 1;
        self.start();
    }

    pub(crate) fn directory(&self) -> &'d Directory {
        self.lives[self.life].get().expect("it has started")
    }

    pub(crate) fn root(&self) -> Session {
        let name = Dn::parse(&self.schema, ROOT).expect("a name");
        Session::of(Identity::User(Name::from(&name)))
    }

    /// Does an update of a client.
    pub(crate) fn update(&self, request: &Request<'_>) -> LdapResult {
        let mut pdu = Vec::new();
        encode::request(&mut pdu, 1, request, &[]);
        let message = Message::decode(&pdu, &Limits::default()).expect("a message");
        let request = WriteRequest::new(&self.root(), &message).expect("an update");
        let mut replies = self.directory().apply(&[request]);
        replies.remove(0).result
    }

    /// Returns the names of the entries, each with its attributes as a client gets them.
    pub(crate) fn read(&self) -> Vec<(String, ReadAttributes)> {
        let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
        let request = SearchRequest {
            deref: Deref::Never,
            attributes: COMPARED.iter().map(|name| name.as_bytes()).collect(),
            ..SearchRequest::new(TOP, Scope::Subtree, filter.filter())
        };
        let mut pdu = Vec::new();
        encode::request(&mut pdu, 1, &Request::Search(request), &[]);
        let message = Message::decode(&pdu, &Limits::default()).expect("a message");
        let Request::Search(request) = &message.request else {
            unreachable!()
        };
        let directory = self.directory();
        let mut task = directory.begin_search(&self.root(), 1, request, &message.controls);
        let mut out = Vec::new();
        while task.advance(&mut out, Quantum::default()) == Progress::More {}
        let mut found = Vec::new();
        for pdu in messages(&out) {
            let message = ResponseMessage::decode(pdu).expect("a response");
            if let Response::SearchEntry(entry) = message.response {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let attributes = entry.attributes.iter().map(|attribute| {
                    let values = attribute.values.iter().map(text).collect();
                    (text(attribute.description), values)
                });
                found.push((text(entry.dn), attributes.collect()));
            }
        }
        found
    }

    /// Returns the entries by their UUIDs, without the order of values.
    pub(crate) fn entries(&self) -> BTreeMap<String, SeenEntry> {
        let entries = self.read().into_iter().map(|(dn, attributes)| {
            let attributes = attributes.into_iter().map(|(name, mut values)| {
                values.sort();
                (name, values)
            });
            let seen = SeenEntry {
                dn,
                attributes: attributes.collect(),
            };
            (seen.first("entryUUID").to_owned(), seen)
        });
        entries.collect()
    }

    /// Returns the greatest number of each server.
    pub(crate) fn vector(&self) -> Vec<String> {
        let database = &self.directory().databases()[0];
        database.content_state().expect("a sound store")
    }

    /// Returns the number of a deletion that is remembered.
    pub(crate) fn deletion_of(&self, uuid: &str) -> Option<String> {
        let uuid = uuid::Uuid::parse_str(uuid).ok()?.into_bytes();
        let view = self.store.snapshot().expect("a snapshot");
        let tombstone = view.tombstone(uuid).expect("a sound store")?;
        Some(tombstone.csn.text())
    }

    /// Returns a figure that moves with each change.
    pub(crate) fn newest_position(&self) -> u64 {
        let view = self.store.snapshot().expect("a snapshot");
        view.changes().expect("a sound store").newest
    }

    pub(crate) fn keep_log(&self, retention: Retention) {
        self.store.keep_changes(retention);
    }
}

/// Splits bytes into messages.
pub(crate) fn messages(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let len = fulgurite_ldap::frame(bytes, usize::MAX);
        let len = len.expect("framed").expect("whole messages");
        let (pdu, rest) = bytes.split_at(len);
        found.push(pdu);
        bytes = rest;
    }
    found
}
