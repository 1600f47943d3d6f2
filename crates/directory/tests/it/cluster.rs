//! Nodes of a cluster in one process: a log, and the content of each node on its store.

use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_cluster::{
    Batch, BatchId, Content, Divergence, Draft, Epoch, Follower, Head, NodeId, Position, Received,
    RecordKind, Sequencer, Time, VERSION_NEWEST,
};
use fulgurite_directory::{
    DirectoryOptions, Entropy, OrderedDirectory, Session, StoreContent, Unsettled, Unsuitable,
    UpdateOrder, WriteReply, WriteRequest,
};
use fulgurite_ldap::{Control, DeleteRequest, LdapResult, ModifyDnRequest, Request, oid};
use fulgurite_ldap::{ModifyOperation, ResultCode};
use fulgurite_schema::{CheckedEntry, Dn};
use fulgurite_store::{AllEntries, CsnVector, StoreOptions, verify};

use crate::guards::overlay;
use crate::support::*;
use ModifyOperation::{Add, Delete, Increment, Replace};

/// Random bytes that no other node has.
struct NodeEntropy(Mutex<u128>);

impl Entropy for NodeEntropy {
    fn random(&self) -> [u8; 16] {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        next.to_be_bytes()
    }
}

/// Keeps the updates that a directory makes by itself, such as those of binds.
#[derive(Debug, Default)]
pub(crate) struct KeptUpdates(Mutex<Vec<WriteRequest>>);

impl KeptUpdates {
    pub(crate) fn take(&self) -> Vec<WriteRequest> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl UpdateOrder for KeptUpdates {
    fn order(&self, _: &dyn OrderedDirectory, requests: &[WriteRequest]) -> Vec<WriteReply> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(requests.iter().cloned());
        let reply = WriteReply {
            result: LdapResult::new(ResultCode::NoOperation),
            bytes: Vec::new(),
            audit: None,
        };
        vec![reply; requests.len()]
    }
}

/// Times that a batch is applied, if the store has no room.
const TRIES: usize = 5;

/// The worlds of the nodes, and their log.
pub(crate) struct Cluster {
    pub(crate) worlds: Vec<World>,
    pub(crate) kept: Vec<Arc<KeptUpdates>>,
    pub(crate) log: Vec<Vec<u8>>,
    batches: u64,
}

/// The step after which a sequencer dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    BeforeAppend,
    BeforeCommit,
}

impl Cluster {
    /// Begins nodes with one content, which `make` must make from nothing but the options.
    pub(crate) fn new(
        count: usize,
        make: impl Fn() -> World,
        adjust: impl Fn(&mut DirectoryOptions),
    ) -> Cluster {
        let mut kept = Vec::new();
        let worlds = (0..count).map(|node| {
            let mut world = make();
            world.reopen(|options| {
                adjust(options);
                options.entropy = Arc::new(NodeEntropy(Mutex::new((node as u128 + 1) << 64)));
            });
            StoreContent::found(&world.directory.databases()[0]).expect("a fit database");
            let order = Arc::new(KeptUpdates::default());
            let path = world.store.path().to_owned();
            world
                .directory
                .order_updates(&path, Arc::<KeptUpdates>::clone(&order));
            kept.push(order);
            world
        });
        Cluster {
            worlds: worlds.collect(),
            kept,
            log: Vec::new(),
            batches: 0,
        }
    }

    fn example(count: usize) -> Cluster {
        Cluster::new(count, World::new, |_| {})
    }

    pub(crate) fn content(&self, node: usize) -> StoreContent<'_> {
        let directory = &self.worlds[node].directory;
        StoreContent::open(directory, &directory.databases()[0]).expect("a member")
    }

    /// Lets a node do updates in one batch, and all others apply it.
    pub(crate) fn submit(&mut self, node: usize, requests: &[WriteRequest]) -> Vec<ResultCode> {
        let replies = self.lead(node, requests, None);
        (0..self.worlds.len()).for_each(|node| self.follow(node).expect("equal contents"));
        replies.iter().map(|reply| reply.result.code).collect()
    }

    /// Lets a node do updates, unless it dies.
    pub(crate) fn lead(
        &mut self,
        node: usize,
        requests: &[WriteRequest],
        death: Option<Death>,
    ) -> Vec<WriteReply> {
        self.follow(node).expect("equal contents");
        self.batches += 1;
        let id = BatchId(u128::from(self.batches).to_be_bytes());
        let log = std::mem::take(&mut self.log);
        let (replies, batch) = {
            let mut content = self.content(node);
            let head = content.head();
            let mut sequencer = Sequencer::new(NodeId(node as u64 + 1), Epoch(1), head);
            let updates: Vec<&WriteRequest> = requests.iter().collect();
            let effects = content.begin(&updates, head.csn, Time::default());
            assert_eq!(effects.answers.len(), requests.len());
            let mut batch = None;
            if effects.records.is_empty() {
                content.abort();
            } else {
                let draft = Draft {
                    version: VERSION_NEWEST,
                    requests: Vec::new(),
                    records: effects.records,
                    is_single: updates.len() == 1,
                };
                let begun = sequencer.begin(draft, id, 0);
                begun.expect("a short batch");
                let (bytes, after, _) = sequencer.batch().expect("a batch");
                match death {
                    Some(Death::BeforeAppend) => {}
                    Some(Death::BeforeCommit) => batch = Some(bytes.to_vec()),
                    None => {
                        batch = Some(bytes.to_vec());
                        content.commit(*after);
                        assert_eq!(content.head(), *after);
                    }
                }
            }
            (effects.answers, batch)
        };
        self.log = log;
        self.log.extend(batch);
        replies
    }

    /// Lets a node apply what the log has.
    pub(crate) fn follow(&self, node: usize) -> Result<(), Divergence> {
        let mut content = self.content(node);
        let mut follower = Follower::new(content.head());
        for (bytes, position) in self.log.iter().zip(1..) {
            let received = follower.receive(Position(position), bytes)?;
            if let Received::Apply(batch, head) = received {
                // A store without room gives some of its log, and tries again.
                for _ in 0..TRIES {
                    if content.head() != head {
                        content.apply(&batch, head)?;
                    }
                }
                assert_eq!(content.head(), head, "{:?}", content.take_warnings());
                follower.applied(head, batch.epoch);
            }
        }
        Ok(())
    }

    /// Asserts that all nodes have one content.
    pub(crate) fn assert_equal(&self, label: &str) {
        let first = state(&self.worlds[0]);
        for (number, world) in self.worlds.iter().enumerate().skip(1) {
            let other = state(world);
            for (one, two) in first.iter().zip(&other) {
                assert_eq!(one, two, "{label}: node {number}");
            }
            assert_eq!(first.len(), other.len(), "{label}: node {number}");
        }
    }
}

/// Returns all that nodes must have in common, a line for each fact.
pub(crate) fn state(world: &World) -> Vec<String> {
    let view = world.store.snapshot().expect("a sound store");
    let report = verify(&view).expect("a sound store");
    assert!(report.is_clean(), "{report:?}");
    let mut lines = Vec::new();
    let mut entries = AllEntries::of(&view).expect("a sound store");
    while let Some(entry) = entries.next().expect("a sound store") {
        let content = view.content_of(entry.id()).expect("a sound store");
        let dn = view.dn(entry.id()).expect("a name");
        lines.push(format!("{dn} {:?} {content:?}", entry.id()));
    }
    let changes = view.changes().expect("a log");
    for position in changes.oldest..=changes.newest {
        let row = view.change(position).expect("a sound log").expect("a row");
        lines.push(format!(
            "{position} {:?} {} {:?} {:?} {:?} {} {:?} {} {:?}",
            row.kind,
            row.csn,
            row.previous,
            row.uuid,
            row.entry,
            row.session,
            row.author(),
            row.dn,
            row.rename,
        ));
    }
    lines.push(format!("{:?}", changes.vector));
    let gone = view.deleted_beyond(&CsnVector::default()).expect("a log");
    lines.push(format!("{gone:?}"));
    lines.push(format!("{:?}", view.sync_row(b"cluster/end")));
    lines
}

pub(crate) fn rename_pdu(dn: &str, rdn: &str, deletes: bool, superior: Option<&str>) -> Vec<u8> {
    let request = ModifyDnRequest {
        dn: dn.as_bytes(),
        new_rdn: rdn.as_bytes(),
        delete_old_rdn: deletes,
        new_superior: superior.map(str::as_bytes),
    };
    pdu(&Request::ModifyDn(request), &[])
}

pub(crate) fn tree_delete_pdu(dn: &str) -> Vec<u8> {
    let control = Control {
        oid: oid::TREE_DELETE.as_bytes(),
        critical: true,
        value: None,
    };
    pdu(
        &Request::Delete(DeleteRequest { dn: dn.as_bytes() }),
        &[control],
    )
}

fn person<'a>(uid: &'a str, more: &[(&'a str, &'a str)]) -> Vec<u8> {
    let attributes = [
        ("objectClass", "inetOrgPerson"),
        ("uid", uid),
        ("cn", uid),
        ("sn", "S"),
    ];
    let dn = format!("uid={uid},{PEOPLE}");
    add_pdu(&dn, &[&attributes[..], more].concat())
}

fn requests(session: &Session, pdus: &[Vec<u8>]) -> Vec<WriteRequest> {
    pdus.iter().map(|pdu| write_request(session, pdu)).collect()
}

#[test]
fn every_kind_of_update_leaves_nodes_equal() {
    let mut cluster = Cluster::example(3);
    let root = cluster.worlds[0].root();
    let anna = format!("uid=anna,{PEOPLE}");
    let batches: [&[Vec<u8>]; 6] = [
        &[
            person("anna", &[("description", "one"), ("description", "Two ")]),
            modify_pdu(
                &anna,
                &[(Add, "description", &["three"]), (Replace, "sn", &["T"])],
            ),
            // An increment leaves its attribute at its place.
            modify_pdu(JANE, &[(Increment, "uidNumber", &["5"])]),
        ],
        &[
            modify_pdu(
                &anna,
                &[(Delete, "description", &["ONE"]), (Add, "title", &["x"])],
            ),
            rename_pdu(&anna, "uid=anne+cn=anna", true, None),
        ],
        &[
            rename_pdu(
                &format!("cn=anna+uid=anne,{PEOPLE}"),
                "uid=anna",
                false,
                Some(TOP),
            ),
            add_pdu(
                &format!("ou=deep,{PEOPLE}"),
                &[("objectClass", "organizationalUnit")],
            ),
            add_pdu(
                &format!("ou=more,ou=deep,{PEOPLE}"),
                &[("objectClass", "organizationalUnit")],
            ),
        ],
        &[
            rename_pdu(PEOPLE, "ou=folk", true, None),
            tree_delete_pdu(&format!("ou=deep,ou=folk,{TOP}")),
            delete_pdu(&format!("uid=anna,{TOP}")),
        ],
        &[rename_pdu(
            &format!("ou=folk,{TOP}"),
            "ou=people",
            true,
            None,
        )],
        &[person("anna", &[("userPassword", "secret")])],
    ];
    for (number, batch) in batches.iter().enumerate() {
        let codes = cluster.submit(number % 3, &requests(&root, batch));
        assert_eq!(
            codes,
            vec![ResultCode::Success; batch.len()],
            "batch {number}"
        );
        cluster.assert_equal(&format!("batch {number}"));
    }
    assert_eq!(
        cluster.worlds[2]
            .read(JANE, &["uidNumber"])
            .get("uidNumber"),
        ["1005"]
    );
    assert_eq!(cluster.log.len(), batches.len());
}

#[test]
fn refused_updates_leave_the_others_of_their_batch() {
    let mut cluster = Cluster::example(2);
    let root = cluster.worlds[0].root();
    let batch = [
        person("anna", &[]),
        person("anna", &[]),
        modify_pdu(&format!("uid=none,{PEOPLE}"), &[(Replace, "sn", &["T"])]),
        modify_pdu(&format!("uid=anna,{PEOPLE}"), &[(Replace, "sn", &["T"])]),
    ];
    let codes = cluster.submit(0, &requests(&root, &batch));
    let (success, exists) = (ResultCode::Success, ResultCode::EntryAlreadyExists);
    assert_eq!(codes, [success, exists, ResultCode::NoSuchObject, success]);
    cluster.assert_equal("after a batch");
    // A batch of refusals has no place in the log.
    let codes = cluster.submit(1, &requests(&root, &batch[1..3]));
    assert_eq!(codes, [exists, ResultCode::NoSuchObject]);
    assert_eq!(cluster.log.len(), 1);
}

#[test]
fn an_update_that_fills_the_store_is_the_only_one_that_fails() {
    let make = || {
        let limit = |store: &mut StoreOptions| store.map_bytes_max = Some(2 << 20);
        let world = World::empty_with_store(|_| {}, limit);
        world.load_example();
        world
    };
    let mut cluster = Cluster::new(2, make, |_| {});
    let root = cluster.worlds[0].root();
    let long = "x".repeat(200_000);
    let batch: Vec<Vec<u8>> = (0..12)
        .map(|number| match number % 3 {
            0 => person(&format!("short{number}"), &[]),
            _ => person(&format!("long{number}"), &[("description", &long)]),
        })
        .collect();
    let mut seen = Vec::new();
    for batch in batch.chunks(4) {
        seen.extend(cluster.submit(0, &requests(&root, batch)));
        cluster.assert_equal("after a batch");
    }
    assert!(seen.contains(&ResultCode::Success));
    let short = seen.iter().step_by(3);
    assert!(
        short.into_iter().all(|code| *code == ResultCode::Success),
        "{seen:?}"
    );
    let failed = seen.iter().filter(|code| **code != ResultCode::Success);
    assert!(failed.count() > 0, "{seen:?}");
}

#[test]
fn a_sequencer_that_dies_leaves_the_outcome_to_the_log() {
    for death in [Death::BeforeAppend, Death::BeforeCommit] {
        let mut cluster = Cluster::example(2);
        let root = cluster.worlds[0].root();
        let first = requests(&root, &[person("first", &[])]);
        assert_eq!(cluster.submit(0, &first), [ResultCode::Success]);
        let next = requests(&root, &[person("next", &[])]);
        cluster.lead(0, &next, Some(death));
        assert_eq!(
            cluster.content(0).head().position,
            Position(1),
            "nothing is committed"
        );
        (0..2).for_each(|node| cluster.follow(node).expect("equal contents"));
        cluster.assert_equal("after the death");
        let is_there = !cluster.worlds[1].names("(uid=next)").is_empty();
        assert_eq!(is_there, death == Death::BeforeCommit);
        // The other one goes on.
        let codes = cluster.submit(1, &next);
        let done = match death {
            Death::BeforeAppend => ResultCode::Success,
            Death::BeforeCommit => ResultCode::EntryAlreadyExists,
        };
        assert_eq!(codes, [done]);
        cluster.assert_equal("after the next batch");
    }
}

/// Gives an entry other values, as nobody may in a cluster.
fn change_silently(world: &World, dn: &str, name: &str, value: &str) {
    let mut writer = world.store.write().expect("nobody else writes");
    let schema = writer.schema();
    let description = schema.describe(name.as_bytes()).expect("a type");
    let name = Dn::parse(schema, dn).expect("a name");
    let id = writer.find(&name).expect("a sound store").entry();
    let id = id.expect("an entry");
    let held = writer.entry(id).expect("a sound store").expect("an entry");
    let mut entry = held.to_entry().expect("a sound record");
    entry.set(&description, vec![value.as_bytes().to_vec()]);
    let checked = CheckedEntry::on_trust(entry, schema);
    writer.modify(id, &checked).expect("a change");
    writer.commit().expect("a commit");
}

#[test]
fn a_node_with_another_content_stops() {
    let old = "20200101000000.000000Z#000000#000#000000";
    let removal = modify_pdu(JANE, &[(Delete, "description", &["only here"])]);
    let cases = [
        (0, JANE, ("description", "only here"), removal.clone()),
        (
            1,
            JOHN,
            ("entryCSN", old),
            modify_pdu(JOHN, &[(Add, "title", &["b"])]),
        ),
        (
            1,
            JOHN,
            ("entryUUID", "00000000-0000-0000-0000-000000000001"),
            delete_pdu(JOHN),
        ),
    ];
    for (node, dn, (name, value), update) in cases {
        let mut cluster = Cluster::example(2);
        let root = cluster.worlds[0].root();
        change_silently(&cluster.worlds[node], dn, name, value);
        // A change of other values still fits.
        let other = if dn == JANE { JANE } else { PEOPLE };
        let fits = modify_pdu(other, &[(Add, "telephoneNumber", &["1"])]);
        assert_eq!(
            cluster.submit(0, &requests(&root, &[fits])),
            [ResultCode::Success]
        );
        cluster.lead(0, &requests(&root, &[update]), None);
        let before = state(&cluster.worlds[1]);
        let mut content = cluster.content(1);
        let position = content.head().position.next();
        let received = Follower::new(content.head()).receive(position, &cluster.log[1]);
        let Ok(Received::Apply(batch, head)) = received else {
            panic!("{received:?}");
        };
        let stopped = content.apply(&batch, head);
        assert_eq!(stopped, Err(Divergence::Entry(position)));
        let warnings = content.take_warnings();
        assert!(
            warnings.len() == 1 && warnings[0].contains(dn),
            "{warnings:?}"
        );
        assert_eq!(state(&cluster.worlds[1]), before, "nothing is merged");
    }
}

#[test]
fn a_database_outside_or_changed_outside_is_no_member() {
    let world = World::new();
    let open = |world: &World| {
        let database = &world.directory.databases()[0];
        StoreContent::open(&world.directory, database).map(|content| content.head())
    };
    assert!(matches!(open(&world), Err(Unsuitable::NoMember)));
    StoreContent::found(&world.directory.databases()[0]).expect("a fit database");
    assert_eq!(open(&world).expect("a member"), Head::default());
    let john = modify_pdu(JOHN, &[(Replace, "title", &["b"])]);
    assert_eq!(world.write(&world.root(), &john), LdapResult::success());
    assert!(matches!(open(&world), Err(Unsuitable::ChangedOutside)));
    let mut world = World::new();
    world.reopen(|options| options.databases[0].last_mod = false);
    let refused = StoreContent::found(&world.directory.databases()[0]);
    assert!(matches!(refused, Err(Unsuitable::LastMod)));
}

#[test]
fn references_follow_on_every_node() {
    let lines = ["refint_attributes member~seeAlso~manager"];
    let adjust = |options: &mut DirectoryOptions| {
        options.databases[0].overlays = vec![overlay("refint", &lines)];
    };
    let mut cluster = Cluster::new(2, || World::with(adjust), adjust);
    let root = cluster.worlds[0].root();
    let batch = [
        // An entry that names itself changes twice.
        modify_pdu(
            JANE,
            &[(Add, "manager", &[JANE]), (Add, "seeAlso", &[JOHN])],
        ),
        rename_pdu(JANE, "uid=joan", true, None),
        delete_pdu(JOHN),
    ];
    let codes = cluster.submit(0, &requests(&root, &batch));
    assert_eq!(codes, [ResultCode::Success; 3]);
    cluster.assert_equal("after the batch");
    let joan = format!("uid=joan,{PEOPLE}");
    let read = cluster.worlds[1].read(&joan, &["manager", "seeAlso"]);
    assert_eq!(read.get("manager"), [joan.as_str()]);
    assert!(read.get("seeAlso").is_empty());
    let batch = Batch::decode(&cluster.log[0]).expect("a batch");
    let silent = batch.records.iter().filter(|record| record.is_unordered);
    assert!(
        silent.count() > 0,
        "other entries have changed without a number"
    );
}

#[test]
fn values_of_a_large_group_are_told_one_by_one() {
    const GROUP: &str = "cn=all,ou=groups,dc=example,dc=com";
    let make = || {
        let world = World::empty_with_store(|_| {}, |store| store.inline_values_max = Some(4));
        world.load_example();
        world
    };
    let mut cluster = Cluster::new(2, make, |_| {});
    let root = cluster.worlds[0].root();
    let members: Vec<String> = (0..200).map(|n| format!("uid=m{n},{TOP}")).collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let (few, more) = (&members[..100], &members[100..]);
    let steps: [&[(ModifyOperation, &str, &[&str])]; 8] = [
        &[(Replace, "member", few)],
        &[(Add, "member", &more[..1])],
        &[(Delete, "member", &few[3..5]), (Add, "member", &more[1..3])],
        &[
            (Add, "member", &more[3..5]),
            (Delete, "member", &more[3..4]),
        ],
        &[(Replace, "description", &["a"])],
        // None of the values stays.
        &[
            (Delete, "member", &few[..3]),
            (Delete, "member", &few[5..]),
            (Delete, "member", &[more[0], more[1], more[2], more[4]]),
            (Add, "member", &more[5..9]),
        ],
        &[(Add, "member", few)],
        &[(Replace, "member", &few[..1])],
    ];
    let mut values = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        let request = requests(&root, &[modify_pdu(GROUP, step)]);
        assert_eq!(cluster.submit(number % 2, &request), [ResultCode::Success]);
        cluster.assert_equal(&format!("step {number}"));
        let batch = Batch::decode(cluster.log.last().expect("a batch")).expect("a batch");
        let operations = batch.records.iter().flat_map(|record| &record.operations);
        let of_members = operations.filter(|operation| operation.attribute == "member");
        values.push(
            of_members
                .map(|operation| operation.values.len())
                .sum::<usize>(),
        );
    }
    assert_eq!(values[1..5], [1, 4, 1, 0], "no other value is told");
}

#[test]
fn binds_leave_nodes_equal() {
    let adjust = |options: &mut DirectoryOptions| {
        options.databases[0].last_bind_s = Some(0);
    };
    let mut cluster = Cluster::new(2, || World::with(adjust), adjust);
    for world in &cluster.worlds {
        world.clock.sleep_s(2);
    }
    let (result, _) = cluster.worlds[1].bind(JANE, "jane's");
    assert_eq!(result.code, ResultCode::Success);
    let updates = cluster.kept[1].take();
    assert_eq!(updates.len(), 1, "the directory writes nothing by itself");
    assert_eq!(cluster.submit(0, &updates), [ResultCode::Success]);
    cluster.assert_equal("after a bind");
    let time = cluster.worlds[1].read(JANE, &["pwdLastSuccess"]);
    assert_eq!(time.get("pwdLastSuccess"), ["20260102030407Z"]);
    let batch = Batch::decode(&cluster.log[0]).expect("a batch");
    let kinds: Vec<RecordKind> = batch.records.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [RecordKind::BindState]);
    // An update of the entry keeps it.
    let root = cluster.worlds[0].root();
    let change = modify_pdu(JANE, &[(Replace, "title", &["b"])]);
    assert_eq!(
        cluster.submit(0, &requests(&root, &[change])),
        [ResultCode::Success]
    );
    cluster.assert_equal("after a change");
}

#[test]
fn an_update_without_an_answer_has_a_reply() {
    let world = World::new();
    let request = write_request(&world.root(), &person("anna", &[]));
    for (outcome, code) in [
        (Unsettled::Busy, ResultCode::Busy),
        (Unsettled::TooLong, ResultCode::UnwillingToPerform),
        (Unsettled::Unknown, ResultCode::Unavailable),
    ] {
        let reply = world.directory.unsettled(&request, outcome);
        assert_eq!(reply.result.code, code);
        assert!(!reply.bytes.is_empty());
    }
}
