//! The state of a node's loop.

use std::collections::BTreeSet;

use crate::batch::VERSION_OLDEST;
use crate::follower::{Divergence, Follower};
use crate::lease::Lease;
use crate::log::{LeaseId, NodeState};
use crate::sequencer::Sequencer;
use crate::values::{BatchId, Epoch, Head, NodeId, Position};

use super::calls::Calls;
use super::content::{Content, Time};
use super::history::History;
use super::message::{Forwarded, Output, Question};
use super::pause::Pause;
use super::settings::NodeSettings;
use super::waiting::{Clients, Readers};

/// The part of a node.
#[derive(Debug)]
pub(super) enum Role<A> {
    /// It applies batches of others.
    Following,
    /// It has won, and applies the log up to the end, once that is known.
    Catching(Epoch, Option<Head>),
    /// It makes batches.
    Leading(Sequencer, Option<Transaction<A>>),
}

/// The open transaction of the content, whose batch is on its way.
#[derive(Debug)]
pub(super) struct Transaction<A> {
    pub(super) begun_ms: u64,
    /// The size of its batch.
    pub(super) bytes: usize,
    /// True if its clients have heard that their outcomes are unknown.
    pub(super) is_overdue: bool,
    /// The updates without an answer.
    pub(super) updates: Vec<Begun<A>>,
}

/// An update of the open transaction, with its answer if that is committed.
#[derive(Debug)]
pub(super) struct Begun<A> {
    pub(super) from: NodeId,
    pub(super) number: u64,
    pub(super) answer: A,
}

/// An update that waits for a batch, and the time at which it is refused.
#[derive(Debug)]
pub(super) struct Queued<U> {
    pub(super) update: Forwarded<U>,
    pub(super) end_ms: u64,
}

/// The times at which something is due again.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) lead_ms: u64,
    pub(super) publish_ms: u64,
    pub(super) trim_ms: u64,
    /// True if the next states of nodes decide about a trim.
    pub(super) trims: bool,
}

/// A node of a cluster, with its content.
#[derive(Debug)]
pub struct Node<C: Content> {
    pub(super) id: NodeId,
    pub(super) settings: NodeSettings,
    pub(super) content: C,
    pub(super) follower: Follower,
    pub(super) role: Role<C::Answer>,
    pub(super) leader: Option<NodeId>,
    /// The newest leadership that this node knows of.
    pub(super) leader_epoch: Option<Epoch>,
    /// The newest format that all nodes read, as far as this node knows.
    pub(super) version: u16,
    /// The forwarded updates that a leadership refuses if they come late.
    pub(super) gone: BTreeSet<(Epoch, NodeId, u64)>,
    pub(super) lease: Option<(LeaseId, Lease)>,
    pub(super) calls: Calls,
    pub(super) queue: Vec<Queued<C::Update>>,
    pub(super) clients: Clients<C::Answer>,
    pub(super) readers: Readers,
    pub(super) history: History,
    pub(super) is_copying: bool,
    /// True if the node must not lead any more.
    pub(super) is_retired: bool,
    /// The end of the wait after a full log.
    pub(super) full_until_ms: u64,
    /// The pause before the next look at a batch of unknown outcome.
    pub(super) doubt: Pause,
    pub(super) due: Due,
    pub(super) outputs: Vec<Output<C::Update, C::Answer>>,
    pub(super) stopped: Option<Divergence>,
    life: [u8; 8],
    batches: u64,
}

impl<C: Content> Node<C> {
    /// Returns a node that knows nothing but its content. `life` is random: no two lives of any
    /// node have the same.
    #[must_use]
    pub fn new(id: NodeId, settings: NodeSettings, content: C, life: [u8; 8]) -> Node<C> {
        Node {
            id,
            settings,
            follower: Follower::new(content.head()),
            content,
            role: Role::Following,
            leader: None,
            leader_epoch: None,
            version: VERSION_OLDEST,
            gone: BTreeSet::new(),
            lease: None,
            calls: Calls::default(),
            queue: Vec::new(),
            clients: Clients::new(),
            readers: Readers::default(),
            history: History::new(settings.keep),
            is_copying: false,
            is_retired: false,
            full_until_ms: 0,
            doubt: Pause::default(),
            due: Due::default(),
            outputs: Vec::new(),
            stopped: None,
            life,
            batches: 0,
        }
    }

    /// Returns the number of the node.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Returns the content.
    #[must_use]
    pub fn content(&self) -> &C {
        &self.content
    }

    /// Returns the content, for changes that are no batches: the disk fills, or has room.
    pub fn content_mut(&mut self) -> &mut C {
        &mut self.content
    }

    /// Ends the node, and returns its content. A transaction may be open.
    #[must_use]
    pub fn into_content(self) -> C {
        self.content
    }

    /// Takes the outputs since the last call.
    pub fn take_outputs(&mut self) -> Vec<Output<C::Update, C::Answer>> {
        std::mem::take(&mut self.outputs)
    }

    /// Returns the position that is applied.
    #[must_use]
    pub fn position(&self) -> Position {
        self.content.head().position
    }

    /// Returns true if the node takes updates as the sequencer. It may have been deposed, without
    /// a word.
    #[must_use]
    pub fn is_leading(&self) -> bool {
        matches!(self.role, Role::Leading(..))
    }

    /// Returns the number of the leadership, if this node leads.
    #[must_use]
    pub fn epoch(&self) -> Option<Epoch> {
        match &self.role {
            Role::Leading(sequencer, _) => Some(sequencer.epoch()),
            _ => None,
        }
    }

    /// Returns the number of the newest leadership that the node knows of.
    #[must_use]
    pub fn newest_epoch(&self) -> Option<Epoch> {
        self.leader_epoch
    }

    /// Returns the sequencer, as far as the node knows.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// Returns the reason why the node has stopped. It needs a copy of another node.
    #[must_use]
    pub fn stopped(&self) -> Option<Divergence> {
        self.stopped
    }

    /// Returns the numbers of the own clients' updates without an answer. If the node ends now,
    /// their outcomes are unknown.
    #[must_use]
    pub fn unanswered(&self) -> Vec<u64> {
        let begun = match &self.role {
            Role::Leading(_, Some(transaction)) => transaction.updates.as_slice(),
            _ => &[],
        };
        let queued = self.queue.iter().map(|queued| &queued.update);
        let queued = queued.map(|update| (update.from, update.number));
        let begun = begun.iter().map(|begun| (begun.from, begun.number));
        let own = queued.chain(begun).filter(|(from, _)| *from == self.id);
        let own = own.map(|(_, number)| number);
        own.chain(self.clients.numbers()).collect()
    }

    /// Returns the state to publish.
    pub(super) fn state(&self, time: Time) -> NodeState {
        NodeState {
            node: self.id,
            version: self.settings.version,
            applied: self.position(),
            durable: self.content.durable(),
            clock_us: time.wall_us,
        }
    }

    /// Asks the log, unless a question like it is under way.
    pub(super) fn ask(&mut self, question: Question, time: Time) {
        let wait_ms = self.settings.call_wait_ms;
        if let Some(call) = self.calls.begin(&question, time.now_ms, wait_ms) {
            self.outputs.push(Output::Ask(call, question));
        }
    }

    /// Returns the name of the next batch.
    pub(super) fn next_batch(&mut self) -> BatchId {
        self.batches += 1;
        let mut name = [0; 16];
        let (life, number) = name.split_at_mut(8);
        life.copy_from_slice(&self.life);
        number.copy_from_slice(&self.batches.to_le_bytes());
        BatchId(name)
    }
}
