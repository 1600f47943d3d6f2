//! The peers of a driver: its updates and outcomes as frames.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fulgurite_cluster::{Content, Epoch, Forwarded, NodeId, Outcome, Position};
use fulgurite_cluster_driver::{CopyProgress, Handle, Peers};

use crate::copies::CopyServer;
use crate::error::FrameError;
use crate::frame::{Frame, UPDATE_BYTES_MAX, WireOutcome};
use crate::links::Links;
use crate::listener::Listener;
use crate::settings::LinkSettings;
use crate::trust::PeerTrust;

/// A value that goes to another node.
pub trait Wire: Sized {
    /// Returns its bytes.
    fn to_bytes(&self) -> Vec<u8>;

    /// Reads it.
    ///
    /// # Errors
    /// [`FrameError`].
    fn from_bytes(bytes: &[u8]) -> Result<Self, FrameError>;
}

/// The source of copies.
pub trait CopySource<C> {
    /// Begins to fetch the content of another node.
    fn begin(&mut self);

    /// Returns the progress.
    fn progress(&mut self) -> CopyProgress<C>;
}

/// The positions that other nodes have told, about once a second. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Positions(Arc<Mutex<BTreeMap<NodeId, Position>>>);

impl Positions {
    /// Returns the position that a node has applied, as it has told last.
    #[must_use]
    pub fn of(&self, node: NodeId) -> Option<Position> {
        self.lock().get(&node).copied()
    }

    fn told(&self, node: NodeId, position: Position) {
        self.lock().insert(node, position);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Position>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The nodes that the peers of a driver send to, and hear.
#[derive(Clone, Debug)]
pub struct NodeList {
    links: Arc<Mutex<Links>>,
    node: NodeId,
}

impl NodeList {
    /// Opens the ways to these nodes, and closes all others. Others are not heard from now on.
    pub fn set(&self, nodes: &[(NodeId, String)]) {
        let mut links = lock(&self.links);
        let gone = links.nodes();
        let gone = gone.filter(|node| !nodes.iter().any(|(member, _)| member == node));
        let gone: Vec<NodeId> = gone.collect();
        gone.into_iter().for_each(|node| links.close(node));
        for (node, address) in nodes {
            if *node != self.node {
                links.open(*node, address);
            }
        }
    }

    /// Returns true if a node belongs to them.
    #[must_use]
    pub fn has(&self, node: NodeId) -> bool {
        lock(&self.links).leads_to(node)
    }
}

/// The peers of a driver.
pub struct NodePeers<S> {
    links: Arc<Mutex<Links>>,
    trust: PeerTrust,
    settings: LinkSettings,
    positions: Positions,
    copies: S,
}

impl<S> fmt::Debug for NodePeers<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("NodePeers");
        out.field("links", &*self.links()).finish_non_exhaustive()
    }
}

impl<S> NodePeers<S> {
    /// Returns peers that belong to a driver.
    #[must_use]
    pub fn new<U, A>(
        handle: &Handle<U, A>,
        trust: PeerTrust,
        settings: LinkSettings,
        copies: S,
    ) -> NodePeers<S>
    where
        U: Send + 'static,
        A: Send + 'static,
    {
        let handle = handle.clone();
        let unsent = move |_, frame| {
            if let Frame::Forward { number, update, .. } = frame {
                let is_long = update.len() > UPDATE_BYTES_MAX;
                let outcome = if is_long {
                    Outcome::TooLong
                } else {
                    Outcome::Busy
                };
                handle.replied(number, outcome);
            }
        };
        NodePeers {
            links: Arc::new(Mutex::new(Links::new(trust.clone(), settings, unsent))),
            trust,
            settings,
            positions: Positions::default(),
            copies,
        }
    }

    /// Returns the ways to the other nodes, to open and close them.
    pub fn links(&self) -> MutexGuard<'_, Links> {
        lock(&self.links)
    }

    /// Returns the positions of the other nodes.
    #[must_use]
    pub fn positions(&self) -> Positions {
        self.positions.clone()
    }

    /// Returns a way to change the nodes from another thread.
    #[must_use]
    pub fn nodes(&self) -> NodeList {
        NodeList {
            links: Arc::clone(&self.links),
            node: self.trust.node(),
        }
    }

    /// Begins to listen for the driver.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn listen<U, A>(
        &self,
        socket: TcpListener,
        handle: &Handle<U, A>,
        copies: Option<Arc<dyn CopyServer>>,
    ) -> io::Result<Listener>
    where
        U: Wire + Send + 'static,
        A: Wire + Send + 'static,
    {
        let (handle, links) = (handle.clone(), Arc::clone(&self.links));
        let sequencer = handle.clone();
        let take = move |number, epoch, update: &[u8], from| {
            let update = U::from_bytes(update);
            update.is_ok_and(|update| {
                sequencer.forwarded(Forwarded {
                    number,
                    update,
                    from,
                    epoch,
                })
            })
        };
        let (trust, positions, nodes) = (self.trust.clone(), self.positions(), self.nodes());
        Listener::start(
            socket,
            trust,
            self.settings,
            move |from, frame| match frame {
                // A node that was removed has a certificate still.
                _ if !nodes.has(from) => {}
                Frame::Forward {
                    number,
                    epoch,
                    update,
                } => {
                    // Without room, or in another form, the update is not done.
                    if !take(number, epoch, &update, from) {
                        let outcome = Outcome::Busy;
                        let _ = lock(&links).send(from, Frame::Outcome { number, outcome });
                    }
                }
                Frame::Outcome { number, outcome } => {
                    handle.replied(number, read_outcome(outcome));
                }
                Frame::Inquire { number, epoch } => handle.inquired(from, number, epoch),
                Frame::Absent { number, upto } => handle.absent(number, upto),
                Frame::Alive(position) => positions.told(from, position),
                Frame::Hello { .. } | Frame::Fetch { .. } | Frame::Copy { .. } | Frame::Part(_) => {
                }
            },
            copies,
        )
    }
}

fn lock(links: &Mutex<Links>) -> MutexGuard<'_, Links> {
    links.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads an outcome. One with an answer in another form is unknown.
fn read_outcome<A: Wire>(outcome: WireOutcome) -> Outcome<A> {
    match outcome {
        Outcome::Settled(position, answer) => match A::from_bytes(&answer) {
            Ok(answer) => Outcome::Settled(position, answer),
            Err(_) => Outcome::Unknown,
        },
        Outcome::Busy => Outcome::Busy,
        Outcome::TooLong => Outcome::TooLong,
        Outcome::Recorded(..) | Outcome::Unknown => Outcome::Unknown,
    }
}

fn write_outcome<A: Wire>(outcome: &Outcome<A>) -> WireOutcome {
    match outcome {
        Outcome::Settled(position, answer) => Outcome::Settled(*position, answer.to_bytes()),
        Outcome::Busy => Outcome::Busy,
        Outcome::TooLong => Outcome::TooLong,
        Outcome::Recorded(..) | Outcome::Unknown => Outcome::Unknown,
    }
}

impl<C, S> Peers<C> for NodePeers<S>
where
    C: Content<Update: Wire, Answer: Wire>,
    S: CopySource<C>,
{
    fn forward(&mut self, to: NodeId, update: Forwarded<C::Update>) -> bool {
        let frame = Frame::Forward {
            number: update.number,
            epoch: update.epoch,
            update: update.update.to_bytes(),
        };
        self.links().send(to, frame)
    }

    fn reply(&mut self, to: NodeId, number: u64, outcome: Outcome<C::Answer>) {
        let outcome = write_outcome(&outcome);
        // If it is not sent, the other node's wait ends with an unknown outcome.
        let _ = self.links().send(to, Frame::Outcome { number, outcome });
    }

    fn inquire(&mut self, to: NodeId, number: u64, epoch: Epoch) {
        // If it is not sent, the node asks again.
        let _ = self.links().send(to, Frame::Inquire { number, epoch });
    }

    fn absent(&mut self, to: NodeId, number: u64, upto: Position) {
        let _ = self.links().send(to, Frame::Absent { number, upto });
    }

    fn applied(&mut self, position: Position) {
        self.links().applied(position);
    }

    fn begin_copy(&mut self) {
        self.copies.begin();
    }

    fn copy(&mut self) -> CopyProgress<C> {
        self.copies.progress()
    }
}
