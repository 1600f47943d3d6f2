//! A node's store for the simulator: a directory with a database in files.
//!
//! The content borrows its directory, and nodes come and go. So a directory is never closed, and
//! [`Files`] removes its files in the end.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite::Environment;
use fulgurite_cluster::{
    Batch, Content, Csn, Digest, Divergence, Effects, Head, Position, Record, RecordKind, Time,
};
use fulgurite_directory::{
    CheckpointRule, Clock, Connection, DatabaseOptions, Directory, DirectoryOptions, Entropy,
    Identity, Name, RootAccount, Session, StoreContent, Timestamp, WriteRequest,
};
use fulgurite_ldap::{
    AddRequest, Change, DeleteRequest, Limits, Message, ModifyOperation, ModifyRequest,
    PartialAttribute, Request, Values, encode,
};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{AllEntries, PackedCsn, StoreOptions};
use tempfile::TempDir;

use crate::disk::LossyDisk;

const ROOT: &str = "cn=admin,dc=example";
const SUFFIX: &str = "dc=example";

/// The times of checkpoints: often, so that runs of a minute have many.
const CHECKPOINTS: CheckpointRule = CheckpointRule {
    interval_ms: 5000,
    bytes_max: 1 << 20,
};

/// An entry: the number of the update that wrote it, and its change number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredEntry {
    pub(crate) update: u64,
    pub(crate) csn: Csn,
}

pub(crate) type Entries = BTreeMap<u8, StoredEntry>;

/// An update of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// Fails if the entry is there.
    Add(u8),
    /// Fails if it is not.
    Modify(u8),
    /// Fails if it is not.
    Delete(u8),
}

impl Update {
    pub(crate) fn key(self) -> u8 {
        match self {
            Update::Add(key) | Update::Modify(key) | Update::Delete(key) => key,
        }
    }

    /// Returns true if the update succeeds where the entry is there, or is not.
    pub(crate) fn succeeds(self, is_here: bool) -> bool {
        is_here != matches!(self, Update::Add(_))
    }
}

/// A clock that the simulator sets.
#[derive(Default)]
struct SimulatedClock(AtomicU64);

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    fn elapsed_us(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Random bytes that no other node has.
struct Counted;

impl Entropy for Counted {
    fn random(&self) -> [u8; 16] {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        u128::from(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
    }
}

/// The files of all stores of a test. They go with it.
pub(crate) struct Files(TempDir);

/// The parts that the stores of a test share.
#[derive(Default)]
struct Shared {
    files: PathBuf,
    /// The store that all others begin as.
    first: Option<&'static Home>,
    /// The content behind each batch.
    contents: HashMap<Digest, String>,
}

thread_local! {
    static SHARED: RefCell<Shared> = RefCell::default();
}

impl Files {
    /// Begins a test.
    pub(crate) fn begin() -> Files {
        // In memory if there is such a file system: each checkpoint flushes.
        let files = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let files = Files(files.expect("a temporary directory"));
        let path = files.0.path().to_owned();
        SHARED.with_borrow_mut(|shared| shared.files = path);
        let first = first_home();
        SHARED.with_borrow_mut(|shared| shared.first = Some(first));
        files
    }

    /// Makes a directory for a store.
    fn directory() -> PathBuf {
        let files = SHARED.with_borrow(|shared| shared.files.clone());
        let directory = tempfile::tempdir_in(files).expect("a temporary directory");
        directory.keep()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        SHARED.take();
    }
}

/// A directory that is never closed.
struct Home {
    directory: Directory,
    clock: Arc<SimulatedClock>,
    disk: Arc<LossyDisk>,
    /// The start of its machine.
    boot: u64,
}

/// The store of a node.
pub(crate) struct Store {
    home: &'static Home,
    content: StoreContent<'static>,
    /// The entries, as read after the last commit.
    pub(crate) entries: Entries,
    pub(crate) disk_is_full: bool,
    /// The updates that the last transaction refuses.
    pub(crate) refused: Vec<u64>,
    /// The files after a power cut, until they are opened.
    lost: Option<PathBuf>,
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store")
            .field("head", &self.content.head())
            .finish_non_exhaustive()
    }
}

impl Home {
    /// Opens a store that is in a folder; the content of position 0 makes a new one.
    fn open(path: &Path, boot: u64, is_new: bool) -> &'static Home {
        let disk = LossyDisk::of(path);
        let (options, schema) = (options(&disk, boot), Schema::standard());
        let store = match is_new {
            true => fulgurite_store::Store::create(path, &options, schema),
            false => fulgurite_store::Store::open(path, &options, schema),
        };
        let store = store.expect("a sound store");
        let clock = Arc::new(SimulatedClock::default());
        let schema = Arc::clone(store.schema());
        let mut options = DirectoryOptions::new(schema, vec![DatabaseOptions::new(store)]);
        options.databases[0].root = Some(RootAccount {
            dn: ROOT.to_owned(),
            password: None,
        });
        options.clock = Arc::<SimulatedClock>::clone(&clock);
        options.entropy = Arc::new(Counted);
        options.cookie_key = Some([9; 32]);
        Box::leak(Box::new(Home {
            directory: Directory::open(options).expect("a directory"),
            clock,
            disk,
            boot,
        }))
    }

    /// Copies the files, as a node does that needs a snapshot.
    fn copy(&self) -> &'static Home {
        let path = Files::directory();
        let store = self.directory.databases()[0].store();
        let copied = store.environment().copy_to_path(&path, false);
        copied.expect("a copy");
        Home::open(&path, self.boot, false)
    }

    fn content(&'static self) -> StoreContent<'static> {
        let database = &self.directory.databases()[0];
        let content = StoreContent::open(&self.directory, database).expect("a member");
        content.with_checkpoints(CHECKPOINTS)
    }

    fn request(&self, number: u64, update: Update) -> WriteRequest {
        let name = Dn::parse(self.directory.schema(), ROOT).expect("a name");
        let mut session = Session::of(Identity::User(Name::from(&name)));
        session.set_connection(Arc::new(Connection {
            id: number,
            ..Connection::default()
        }));
        let bytes = pdu(number, update);
        let message = Message::decode(&bytes, &Limits::default()).expect("what was encoded");
        WriteRequest::new(&session, &message).expect("an update")
    }
}

fn options(disk: &Arc<LossyDisk>, boot: u64) -> StoreOptions {
    let observer = Arc::<LossyDisk>::clone(disk);
    let environment = Environment::options().observer(observer);
    StoreOptions {
        suffixes: vec![SUFFIX.to_owned()],
        checkpoints: true,
        environment: Some(environment.boot_id(&boot.to_be_bytes())),
        map_bytes_max: Some(16 << 20),
        ..StoreOptions::default()
    }
}

/// Returns the request of an update.
fn pdu(number: u64, update: Update) -> Vec<u8> {
    let (dn, key) = (
        format!("cn={0},{SUFFIX}", update.key()),
        update.key().to_string(),
    );
    let number = number.to_string();
    let value = [number.as_bytes()];
    let description = PartialAttribute {
        description: b"description",
        values: Values::from_slices(&value),
    };
    let (class, name) = ([b"device".as_slice()], [key.as_bytes()]);
    let dn = dn.as_bytes();
    let request = match update {
        Update::Add(_) => Request::Add(AddRequest {
            dn,
            attributes: vec![
                PartialAttribute {
                    description: b"objectClass",
                    values: Values::from_slices(&class),
                },
                PartialAttribute {
                    description: b"cn",
                    values: Values::from_slices(&name),
                },
                description,
            ],
        }),
        Update::Modify(_) => Request::Modify(ModifyRequest {
            dn,
            changes: vec![Change {
                operation: ModifyOperation::Replace,
                attribute: description,
            }],
        }),
        Update::Delete(_) => Request::Delete(DeleteRequest { dn }),
    };
    let mut out = Vec::new();
    encode::request(&mut out, 7, &request, &[]);
    out
}

impl Default for Store {
    /// Returns the content of position 0.
    fn default() -> Store {
        let first = SHARED.with_borrow(|shared| shared.first);
        let home = first.expect("a test has begun").copy();
        Store::of(home)
    }
}

/// Makes the store that all others begin as.
fn first_home() -> &'static Home {
    let path = Files::directory();
    let home = Home::open(&path, 1, true);
    let class = [b"domain".as_slice()];
    let attribute = PartialAttribute {
        description: b"objectClass",
        values: Values::from_slices(&class),
    };
    let request = Request::Add(AddRequest {
        dn: SUFFIX.as_bytes(),
        attributes: vec![attribute],
    });
    let mut bytes = Vec::new();
    encode::request(&mut bytes, 7, &request, &[]);
    let message = Message::decode(&bytes, &Limits::default()).expect("what was encoded");
    let name = Dn::parse(home.directory.schema(), ROOT).expect("a name");
    let root = Session::of(Identity::User(Name::from(&name)));
    let request = WriteRequest::new(&root, &message).expect("an update");
    let replies = home.directory.apply(&[request]);
    assert!(replies[0].result.is_success(), "{:?}", replies[0].result);
    StoreContent::found(&home.directory.databases()[0]).expect("a fit database");
    home
}

impl Clone for Store {
    /// Opens the content anew, without the open transaction.
    fn clone(&self) -> Store {
        Store {
            disk_is_full: self.disk_is_full,
            lost: self.lost.clone(),
            ..Store::of(self.home)
        }
    }
}

impl Store {
    fn of(home: &'static Home) -> Store {
        let mut store = Store {
            home,
            content: home.content(),
            entries: Entries::new(),
            disk_is_full: false,
            refused: Vec::new(),
            lost: None,
        };
        store.read();
        store
    }

    /// Reads the entries. All stores that have applied the same batches must be equal.
    fn read(&mut self) {
        let store = self.home.directory.databases()[0].store();
        let view = store.snapshot().expect("a sound store");
        let mut all = AllEntries::of(&view).expect("a sound store");
        let mut text = String::new();
        self.entries.clear();
        while let Some(view_of_entry) = all.next().expect("a sound store") {
            let content = view.content_of(view_of_entry.id()).expect("a sound store");
            text.push_str(&format!("{content:?}\n"));
            let entry = view_of_entry.to_entry().expect("a sound record");
            let first = |name: &str| {
                let description = store.schema().describe(name.as_bytes()).expect(name);
                let held = entry.attribute(&description)?.values.first()?;
                Some(String::from_utf8_lossy(held).into_owned())
            };
            let Some(key) = key_of_name(entry.dn.pretty()) else {
                continue;
            };
            let csn = first("entryCSN").expect("a number");
            let csn = PackedCsn::parse(csn.as_bytes()).expect("a sound number");
            let stored = StoredEntry {
                update: first("description")
                    .and_then(|text| text.parse().ok())
                    .expect("a number"),
                csn: Csn::from_bytes(*csn.as_bytes()).expect("a number"),
            };
            self.entries.insert(key, stored);
        }
        let digest = self.content.head().digest;
        let first = SHARED.with_borrow_mut(|shared| {
            let first = shared.contents.entry(digest);
            first.or_insert_with(|| text.clone()).clone()
        });
        assert_eq!(first, text, "nodes differ at {:?}", self.content.head());
    }

    /// Loses sectors that were written since the last flush.
    pub(crate) fn lose_power(&mut self, is_lost: impl FnMut() -> bool) {
        self.content.abort();
        let path = Files::directory();
        self.home.disk.lose_power(&path, is_lost);
        self.lost = Some(path);
    }

    /// Opens the store after a stop. The mutant takes the last commit after each.
    pub(crate) fn open(&mut self, heeds_boot: bool) {
        let Some(path) = self.lost.take() else {
            *self = self.clone();
            return;
        };
        let boot = self.home.boot + u64::from(heeds_boot);
        *self = Store {
            disk_is_full: self.disk_is_full,
            ..Store::of(Home::open(&path, boot, false))
        };
    }

    /// Takes the content of another store.
    pub(crate) fn copy(&mut self, from: &Store) {
        *self = Store::of(from.home.copy());
    }
}

impl Content for Store {
    /// The number of the update, and the update.
    type Update = (u64, Update);
    /// True if it is done.
    type Answer = bool;

    fn head(&self) -> Head {
        self.content.head()
    }

    fn durable(&self) -> Position {
        self.content.durable()
    }

    fn is_writable(&self) -> bool {
        !self.disk_is_full && self.content.is_writable()
    }

    fn begin(&mut self, updates: &[&(u64, Update)], last: Csn, time: Time) -> Effects<bool> {
        self.home.clock.0.store(time.wall_us, Ordering::Relaxed);
        let requests = updates
            .iter()
            .map(|(number, update)| self.home.request(*number, *update));
        let requests: Vec<WriteRequest> = requests.collect();
        let effects = self
            .content
            .begin(&requests.iter().collect::<Vec<_>>(), last, time);
        let answers = effects
            .answers
            .iter()
            .map(|reply| reply.result.is_success());
        let answers: Vec<bool> = answers.collect();
        let refused = updates
            .iter()
            .zip(&answers)
            .filter(|(_, is_done)| !**is_done);
        self.refused = refused.map(|((number, _), _)| *number).collect();
        Effects {
            records: effects.records,
            answers,
        }
    }

    fn code(answer: &bool) -> u32 {
        u32::from(!answer)
    }

    fn commit(&mut self, head: Head) {
        if self.disk_is_full {
            return self.content.abort();
        }
        self.content.commit(head);
        self.read();
    }

    fn abort(&mut self) {
        self.content.abort();
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        if !self.disk_is_full {
            self.content.apply(batch, head)?;
            self.read();
        }
        Ok(())
    }

    fn maintain(&mut self, now_ms: u64) {
        self.content.maintain(now_ms);
    }
}

fn key_of_name(dn: &str) -> Option<u8> {
    dn.strip_prefix("cn=")?.split(',').next()?.parse().ok()
}

/// Returns the key of the entry that a record is about.
pub(crate) fn key_of(record: &Record) -> u8 {
    key_of_name(&record.dn).expect("a name with a key")
}

/// Does what a record says.
pub(crate) fn effect(entries: &mut Entries, record: &Record) {
    let entry = StoredEntry {
        update: record.session,
        csn: record.csn,
    };
    match record.kind {
        RecordKind::Delete => entries.remove(&key_of(record)),
        _ => entries.insert(key_of(record), entry),
    };
}
