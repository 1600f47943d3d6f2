//! The ways out: a queue and a thread for each other node.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_cluster::{NodeId, Position};
use rustls::{ClientConnection, StreamOwned};

use crate::deadline::Deadline;
use crate::frame::{Frame, HELLO_BYTES_MAX};
use crate::reading::read_frame;
use crate::settings::LinkSettings;
use crate::trust::PeerTrust;

/// Called with each frame that was not sent, for certain.
type Unsent = Arc<dyn Fn(NodeId, Frame) + Send + Sync>;

/// One way out.
struct Link {
    queue: SyncSender<Frame>,
    is_open: Arc<AtomicBool>,
}

/// The ways to the other nodes. Their threads end when this is dropped.
pub struct Links {
    trust: PeerTrust,
    settings: LinkSettings,
    unsent: Unsent,
    applied: Arc<Mutex<Position>>,
    links: BTreeMap<NodeId, Link>,
}

impl fmt::Debug for Links {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<_> = self.links.keys().collect();
        out.debug_struct("Links")
            .field("nodes", &nodes)
            .finish_non_exhaustive()
    }
}

impl Links {
    /// Returns no ways. `unsent` takes the frames that were not sent, for certain.
    #[must_use]
    pub fn new(
        trust: PeerTrust,
        settings: LinkSettings,
        unsent: impl Fn(NodeId, Frame) + Send + Sync + 'static,
    ) -> Links {
        Links {
            trust,
            settings,
            unsent: Arc::new(unsent),
            applied: Arc::default(),
            links: BTreeMap::new(),
        }
    }

    /// Opens the way to a node at `host:port`, in place of an earlier one.
    pub fn open(&mut self, node: NodeId, address: &str) {
        let (queue, frames) = sync_channel(self.settings.queue_max);
        let is_open = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            trust: self.trust.clone(),
            settings: self.settings,
            unsent: Arc::clone(&self.unsent),
            applied: Arc::clone(&self.applied),
            node,
            address: address.to_owned(),
            is_open: Arc::clone(&is_open),
        };
        std::thread::spawn(move || writer.run(&frames));
        self.links.insert(node, Link { queue, is_open });
    }

    /// Closes the way to a node.
    pub fn close(&mut self, node: NodeId) {
        self.links.remove(&node);
    }

    /// Sends a frame. Returns false if it was not sent, for certain: there is no connection, or
    /// there is no room. An outcome waits for the next connection.
    #[must_use]
    pub fn send(&self, node: NodeId, frame: Frame) -> bool {
        let waits = matches!(frame, Frame::Outcome { .. });
        let link = self.links.get(&node);
        let link = link.filter(|link| waits || link.is_open.load(Ordering::SeqCst));
        link.is_some_and(|link| link.queue.try_send(frame).is_ok())
    }

    /// Returns true if a node is connected.
    #[must_use]
    pub fn is_open(&self, node: NodeId) -> bool {
        let link = self.links.get(&node);
        link.is_some_and(|link| link.is_open.load(Ordering::SeqCst))
    }

    /// Tells the position that signs of life have.
    pub fn applied(&self, position: Position) {
        *self.applied.lock().unwrap_or_else(PoisonError::into_inner) = position;
    }
}

/// The thread of one way.
struct Writer {
    trust: PeerTrust,
    settings: LinkSettings,
    unsent: Unsent,
    applied: Arc<Mutex<Position>>,
    node: NodeId,
    address: String,
    is_open: Arc<AtomicBool>,
}

type Stream = StreamOwned<ClientConnection, Deadline>;

/// The other end of the queue is gone.
struct Dropped;

impl Writer {
    fn run(&self, frames: &Receiver<Frame>) {
        let mut outcomes = VecDeque::new();
        loop {
            if let Some(stream) = self.connect() {
                self.is_open.store(true, Ordering::SeqCst);
                let end = self.write_all(stream, frames, &mut outcomes);
                self.is_open.store(false, Ordering::SeqCst);
                if end.is_err() {
                    return;
                }
            }
            // Frames came while the connection ended. None of them was begun.
            loop {
                match frames.recv_timeout(self.settings.pause) {
                    Ok(frame) => self.keep(frame, &mut outcomes),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }

    /// Opens a connection, and says who this is.
    fn connect(&self) -> Option<Stream> {
        let mut addresses = self.address.to_socket_addrs().ok()?;
        let address = addresses.next()?;
        let socket = TcpStream::connect_timeout(&address, self.settings.connect).ok()?;
        socket.set_nodelay(true).ok()?;
        let name = self.trust.name(self.node).ok()?;
        let tls = ClientConnection::new(Arc::clone(&self.trust.client), name).ok()?;
        let mut stream = StreamOwned::new(tls, Deadline::new(socket, self.settings.connect));
        let hello = Frame::hello(&self.trust, self.node);
        stream.write_all(&hello.packed().ok()?).ok()?;
        stream.flush().ok()?;
        // The other node judges the certificate behind the handshake of TLS 1.3.
        let answer = read_frame(&mut stream, HELLO_BYTES_MAX).ok()?;
        let expected = Frame::Hello {
            cluster: self.trust.cluster().to_owned(),
            node: self.node,
            to: self.trust.node(),
        };
        (answer == expected).then_some(stream)
    }

    /// Keeps an outcome for the next connection, where it does no harm twice. Tells about any other
    /// frame that it was not sent.
    fn keep(&self, frame: Frame, outcomes: &mut VecDeque<Frame>) {
        let is_outcome = matches!(frame, Frame::Outcome { .. });
        if is_outcome && outcomes.len() < self.settings.queue_max {
            outcomes.push_back(frame);
        } else {
            (self.unsent)(self.node, frame);
        }
    }

    /// Writes frames until the connection ends.
    fn write_all(
        &self,
        mut stream: Stream,
        frames: &Receiver<Frame>,
        outcomes: &mut VecDeque<Frame>,
    ) -> Result<(), Dropped> {
        loop {
            let next = match outcomes.pop_front() {
                Some(outcome) => Ok(outcome),
                None => frames.recv_timeout(self.settings.alive),
            };
            let frame = match next {
                Ok(frame) => frame,
                Err(RecvTimeoutError::Timeout) => {
                    let applied = self.applied.lock();
                    Frame::Alive(*applied.unwrap_or_else(PoisonError::into_inner))
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Dropped),
            };
            if stream.sock.is_closed() {
                self.keep(frame, outcomes);
                return Ok(());
            }
            let Ok(bytes) = frame.packed() else {
                // One that is too long is for nobody.
                (self.unsent)(self.node, frame);
                continue;
            };
            stream.sock.extend(self.settings.write);
            // Part of the frame may arrive, or all of it: its outcome is unknown.
            let written = stream.write_all(&bytes).and_then(|()| stream.flush());
            if written.is_err() {
                if matches!(frame, Frame::Outcome { .. }) {
                    self.keep(frame, outcomes);
                }
                return Ok(());
            }
        }
    }
}
