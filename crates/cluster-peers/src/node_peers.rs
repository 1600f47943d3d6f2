//! The peers of a driver: its updates and outcomes as frames.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fulgurite_cluster::{Content, Forwarded, NodeId, Outcome, Position};
use fulgurite_cluster_driver::{CopyProgress, Handle, Peers};

use crate::error::FrameError;
use crate::frame::{Frame, WireOutcome};
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
            if let Frame::Forward { number, .. } = frame {
                handle.replied(number, Outcome::Busy);
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

    /// Begins to listen for the driver.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn listen<U, A>(&self, socket: TcpListener, handle: &Handle<U, A>) -> io::Result<Listener>
    where
        U: Wire + Send + 'static,
        A: Wire + Send + 'static,
    {
        let (handle, links) = (handle.clone(), Arc::clone(&self.links));
        let sequencer = handle.clone();
        let take = move |number, update: &[u8], from| {
            let update = U::from_bytes(update);
            update.is_ok_and(|update| {
                sequencer.forwarded(Forwarded {
                    number,
                    update,
                    from,
                })
            })
        };
        let (trust, positions) = (self.trust.clone(), self.positions());
        Listener::start(
            socket,
            trust,
            self.settings,
            move |from, frame| match frame {
                Frame::Forward { number, update } => {
                    // Without room, or in another form, the update is not done.
                    if !take(number, &update, from) {
                        let outcome = Outcome::Busy;
                        let _ = lock(&links).send(from, Frame::Outcome { number, outcome });
                    }
                }
                Frame::Outcome { number, outcome } => {
                    handle.replied(number, read_outcome(outcome));
                }
                Frame::Alive(position) => positions.told(from, position),
                Frame::Hello { .. } => {}
            },
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
        Outcome::Unknown => Outcome::Unknown,
    }
}

fn write_outcome<A: Wire>(outcome: &Outcome<A>) -> WireOutcome {
    match outcome {
        Outcome::Settled(position, answer) => Outcome::Settled(*position, answer.to_bytes()),
        Outcome::Busy => Outcome::Busy,
        Outcome::TooLong => Outcome::TooLong,
        Outcome::Unknown => Outcome::Unknown,
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
            update: update.update.to_bytes(),
        };
        self.links().send(to, frame)
    }

    fn reply(&mut self, to: NodeId, number: u64, outcome: Outcome<C::Answer>) {
        let outcome = write_outcome(&outcome);
        // If it is not sent, the other node's wait ends with an unknown outcome.
        let _ = self.links().send(to, Frame::Outcome { number, outcome });
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
