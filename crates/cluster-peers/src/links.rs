//! The ways out: a queue and a thread for each other node.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// The address, which may change while frames wait.
    address: Arc<Mutex<String>>,
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

    /// Opens the way to a node at `host:port`. A way that is there keeps its frames, and leads to
    /// this address from its next connection on.
    pub fn open(&mut self, node: NodeId, address: &str) {
        if let Some(link) = self.links.get(&node) {
            address.clone_into(&mut lock(&link.address));
            return;
        }
        let (queue, frames) = sync_channel(self.settings.queue_max);
        let is_open = Arc::new(AtomicBool::new(false));
        let address = Arc::new(Mutex::new(address.to_owned()));
        let writer = Writer {
            trust: self.trust.clone(),
            settings: self.settings,
            unsent: Arc::clone(&self.unsent),
            applied: Arc::clone(&self.applied),
            node,
            address: Arc::clone(&address),
            is_open: Arc::clone(&is_open),
        };
        std::thread::spawn(move || writer.run(&frames));
        let link = Link {
            queue,
            is_open,
            address,
        };
        self.links.insert(node, link);
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

    /// Returns true if there is a way to a node.
    #[must_use]
    pub fn leads_to(&self, node: NodeId) -> bool {
        self.links.contains_key(&node)
    }

    /// Returns the nodes that ways lead to.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.links.keys().copied()
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
    address: Arc<Mutex<String>>,
    is_open: Arc<AtomicBool>,
}

type Stream = StreamOwned<ClientConnection, Deadline>;

fn lock(address: &Mutex<String>) -> MutexGuard<'_, String> {
    address.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The other end of the queue is gone.
struct Dropped;

impl Writer {
    fn run(&self, frames: &Receiver<Frame>) {
        let mut outcomes = VecDeque::new();
        loop {
            if let Ok(stream) = self.connect() {
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

    fn connect(&self) -> io::Result<Stream> {
        let address = lock(&self.address).clone();
        connect(&self.trust, self.settings, self.node, &address)
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

/// Opens a connection to a node, and says who this is. Each address of a name has its turn.
pub(crate) fn connect(
    trust: &PeerTrust,
    settings: LinkSettings,
    node: NodeId,
    address: &str,
) -> io::Result<Stream> {
    let mut result = Err(io::ErrorKind::NotFound.into());
    for address in address.to_socket_addrs()? {
        result = connect_to(trust, settings, node, &address);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn connect_to(
    trust: &PeerTrust,
    settings: LinkSettings,
    node: NodeId,
    address: &SocketAddr,
) -> io::Result<Stream> {
    let socket = TcpStream::connect_timeout(address, settings.connect)?;
    socket.set_nodelay(true)?;
    let name = trust.name(node).map_err(io::Error::other)?;
    let tls = ClientConnection::new(Arc::clone(&trust.client), name);
    let tls = tls.map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(tls, Deadline::new(socket, settings.connect));
    let hello = Frame::hello(trust, node);
    stream.write_all(&hello.packed().map_err(io::Error::other)?)?;
    stream.flush()?;
    // The other node judges the certificate behind the handshake of TLS 1.3.
    let answer = read_frame(&mut stream, HELLO_BYTES_MAX)?;
    let expected = Frame::Hello {
        cluster: trust.cluster().to_owned(),
        node,
        to: trust.node(),
    };
    match answer == expected {
        true => Ok(stream),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}
