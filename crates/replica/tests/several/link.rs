//! One consumer with its connection: the state machine of the server, and a wire in between.

use std::collections::VecDeque;

use fulgurite_directory::{ContentOptions, CopiedContent, Progress, Quantum, SearchTask};
use fulgurite_ldap::{LdapResult, Limits, Message, Request, ResponseMessage, encode};
use fulgurite_policy::{RetryList, Syncrepl};
use fulgurite_replica::{BindSecrets, Consumer, ContentChange, Trouble, Turn, Vector};

use crate::broken_rule::BrokenRule;
use crate::node::{Node, TOP, messages};

/// A connection, seen from both ends.
#[derive(Default)]
struct Connection<'d> {
    task: Option<SearchTask<'d>>,
    is_waiting: bool,
    /// Messages of the provider that have not arrived.
    wire: VecDeque<Vec<u8>>,
}

/// A consumer of the server `to` at the server `from`.
pub(crate) struct Link<'d> {
    pub(crate) to: usize,
    pub(crate) from: usize,
    settings: Syncrepl,
    consumer: Consumer,
    content: CopiedContent,
    pending: Vec<ContentChange>,
    connection: Option<Connection<'d>>,
}

/// Returns the settings of a consumer.
pub(crate) fn settings(rid: u16, persists: bool) -> Syncrepl {
    Syncrepl {
        persist: persists,
        interval_s: 5,
        retry: Some(RetryList {
            steps: vec![(1, None)],
        }),
        ..Syncrepl::new(rid, "ldap://h", TOP)
    }
}

impl<'d> Link<'d> {
    pub(crate) fn new(nodes: &[Node<'d>], (to, from): (usize, usize), settings: Syncrepl) -> Self {
        let node = &nodes[to];
        Link {
            to,
            from,
            consumer: consumer(node, &settings),
            content: content(node, &settings),
            settings,
            pending: Vec::new(),
            connection: None,
        }
    }

    /// Loses what a crash of the consumer's server loses.
    pub(crate) fn crash(&mut self, nodes: &[Node<'d>]) {
        let node = &nodes[self.to];
        self.connection = None;
        self.pending.clear();
        self.consumer = consumer(node, &self.settings);
        self.content = content(node, &self.settings);
    }

    /// Returns true if a message is on its way, or a change waits for its commit.
    pub(crate) fn is_busy(&self) -> bool {
        let connection = self.connection.as_ref();
        let wire = connection.is_some_and(|connection| {
            !connection.wire.is_empty() || (connection.task.is_some() && !connection.is_waiting)
        });
        wire || !self.pending.is_empty()
    }

    /// Connects if it is time.
    pub(crate) fn turn(&mut self, nodes: &[Node<'d>], now_ms: u64, is_open: bool) {
        match self.consumer.turn(now_ms) {
            Turn::Connect { .. } if is_open => {
                let node = &nodes[self.to];
                self.consumer.has_stored(Vector::of(node.vector()));
                self.connection = Some(Connection::default());
                let begun = self.consumer.connected(now_ms, BindSecrets([0; 18]));
                begun.expect("a plain bind");
                self.send(nodes);
            }
            Turn::Connect { .. } => self.fail("no way", now_ms),
            Turn::Receive { .. } => {}
            Turn::Wait { .. } => self.connection = None,
            Turn::Stop => panic!("it never gives up"),
        }
    }

    fn fail(&mut self, text: &str, now_ms: u64) {
        self.pending.clear();
        self.connection = None;
        let trouble = Trouble::Connection(text.to_owned());
        self.consumer.failed(&trouble, now_ms, 0);
    }

    /// Loses the connection, and stores the changes that have come.
    pub(crate) fn cut(&mut self, nodes: &[Node<'d>], now_ms: u64, rule: Option<BrokenRule>) {
        if self.connection.is_some() {
            self.store(nodes, rule, now_ms);
            self.fail("cut", now_ms);
        }
    }

    /// Brings the requests of the consumer to the provider.
    fn send(&mut self, nodes: &[Node<'d>]) {
        let bytes = self.consumer.take_output();
        for pdu in messages(&bytes) {
            let Some(connection) = &mut self.connection else {
                return;
            };
            let message = Message::decode(pdu, &Limits::default()).expect("a request");
            let mut out = Vec::new();
            match &message.request {
                Request::Bind(_) => {
                    encode::bind_result(&mut out, message.id, &LdapResult::success(), None, &[]);
                    connection.wire.push_back(out);
                }
                Request::Search(request) => {
                    let node = &nodes[self.from];
                    let (directory, root) = (node.directory(), node.root());
                    let controls = &message.controls;
                    let task = directory.begin_search(&root, message.id, request, controls);
                    connection.task = Some(task);
                    connection.is_waiting = false;
                }
                Request::Unbind => connection.task = None,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Lets the provider work for a quantum. Returns true if it wrote anything.
    pub(crate) fn provide(&mut self, quantum: Quantum, parks: bool) -> bool {
        let Some(connection) = &mut self.connection else {
            return false;
        };
        let Some(task) = &mut connection.task else {
            return false;
        };
        let mut out = Vec::new();
        let progress = task.advance(&mut out, quantum);
        connection.is_waiting = progress == Progress::Waiting;
        match progress {
            Progress::Done => connection.task = None,
            _ if parks => task.park(),
            _ => {}
        }
        let written = messages(&out);
        connection
            .wire
            .extend(written.iter().map(|pdu| pdu.to_vec()));
        !written.is_empty()
    }

    /// Delivers messages, up to a number.
    pub(crate) fn deliver(
        &mut self,
        nodes: &[Node<'d>],
        (count, now_ms): (usize, u64),
        rule: Option<BrokenRule>,
    ) {
        for _ in 0..count {
            let Some(connection) = &mut self.connection else {
                return;
            };
            let Some(pdu) = connection.wire.pop_front() else {
                return;
            };
            let message = ResponseMessage::decode(&pdu).expect("a response");
            let taken = self.consumer.receive(&message, now_ms);
            self.pending.extend(self.consumer.take_changes());
            match taken {
                Ok(()) => self.send(nodes),
                Err(trouble) => {
                    self.store(nodes, rule, now_ms);
                    self.fail(&trouble.to_string(), now_ms);
                }
            }
        }
    }

    /// Stores what has come, in one transaction.
    pub(crate) fn store(&mut self, nodes: &[Node<'d>], rule: Option<BrokenRule>, now_ms: u64) {
        let changes = std::mem::take(&mut self.pending);
        if changes.is_empty() {
            return;
        }
        let node = &nodes[self.to];
        let batches = match rule {
            Some(rule) => rule.batches(node, changes),
            None => vec![changes],
        };
        for changes in batches {
            let (directory, path) = (node.directory(), node.store.path());
            let report = directory.apply_content(path, &mut self.content, &changes);
            let report = report.expect("a sound store");
            if std::env::var_os("FULGURITE_TEST_TRACE").is_some() {
                show(node.server, self.from + 1, &changes, &report.warnings);
            }
            if let Some(state) = report.state {
                self.consumer.has_stored(Vector::of(state));
            }
            if report.lost_sync.is_some() {
                self.connection = None;
                self.consumer.lost_sync(now_ms);
            }
        }
    }

    /// Tries the quarantine again.
    pub(crate) fn retry(&mut self, nodes: &[Node<'d>]) {
        let node = &nodes[self.to];
        let tried = node
            .directory()
            .retry_quarantined(node.store.path(), &mut self.content);
        tried.expect("a sound store");
    }
}

fn consumer(node: &Node<'_>, settings: &Syncrepl) -> Consumer {
    let stored = Vector::of(node.vector());
    Consumer::new(settings.clone(), stored, Some(node.server))
}

fn content(node: &Node<'_>, settings: &Syncrepl) -> CopiedContent {
    let options = ContentOptions {
        settings,
        multi_provider: true,
    };
    CopiedContent::new(node.directory().schema(), options).expect("sound settings")
}

/// Prints a batch.
fn show(to: u16, from: usize, changes: &[ContentChange], warnings: &[String]) {
    for change in changes {
        let text = match change {
            ContentChange::Entry(entry) => {
                let mut attributes = entry.attributes.iter();
                let csn = attributes.find(|held| held.description == "entryCSN");
                let csn = csn.and_then(|held| held.values.first());
                let csn = csn.map(|csn| String::from_utf8_lossy(csn).into_owned());
                let uuid = uuid::Uuid::from_bytes(entry.uuid);
                format!("{uuid} {} {csn:?} {:?}", entry.dn, entry.place)
            }
            ContentChange::Delete { uuid, csn, ends } => {
                let uuid = uuid::Uuid::from_bytes(*uuid);
                format!("{uuid} goes {csn:?} {ends:?}")
            }
            other => format!("{other:?}"),
        };
        println!("  {from} to {to}: {text}");
    }
    warnings.iter().for_each(|text| println!("  {to}: {text}"));
}
