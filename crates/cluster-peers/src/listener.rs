//! The way in: connections of other nodes, judged before they are heard.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fulgurite_cluster::NodeId;
use rustls::{ServerConnection, StreamOwned};

use crate::copies::{CopyServer, ServedStream, serve};
use crate::deadline::Deadline;
use crate::frame::{FRAME_BYTES_MAX, Frame, HELLO_BYTES_MAX};
use crate::reading::read_frame;
use crate::settings::LinkSettings;
use crate::trust::PeerTrust;

/// Called with each frame of another node, by one thread for each connection.
type Deliver = Arc<dyn Fn(NodeId, Frame) + Send + Sync>;

/// A socket for other nodes. Dropped, it takes no more connections, and present ones end within
/// the wait for a frame.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Begins to listen. `deliver` takes all frames behind the first, and must not wait. Without
    /// `copies`, other nodes get none.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn start(
        socket: TcpListener,
        trust: PeerTrust,
        settings: LinkSettings,
        deliver: impl Fn(NodeId, Frame) + Send + Sync + 'static,
        copies: Option<Arc<dyn CopyServer>>,
    ) -> io::Result<Listener> {
        let address = socket.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let hall = Hall {
            trust,
            settings,
            deliver: Arc::new(deliver),
            copies,
            is_over: Arc::clone(&is_over),
            strangers: Arc::default(),
            connections: Arc::default(),
        };
        let thread = std::thread::spawn(move || hall.accept(&socket));
        Ok(Listener {
            address,
            is_over,
            thread: Some(thread),
        })
    }

    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The thread sees it with the next connection.
        drop(TcpStream::connect_timeout(
            &self.address,
            Duration::from_secs(1),
        ));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The facts that all connections share.
#[derive(Clone)]
struct Hall {
    trust: PeerTrust,
    settings: LinkSettings,
    deliver: Deliver,
    copies: Option<Arc<dyn CopyServer>>,
    is_over: Arc<AtomicBool>,
    /// Connections that have not said who they are.
    strangers: Arc<AtomicUsize>,
    /// Connections of nodes.
    connections: Arc<AtomicUsize>,
}

/// A connection that counts.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    /// Counts a connection, unless there are `max` already.
    fn new(count: &Arc<AtomicUsize>, max: usize) -> Option<Counted> {
        let before = count.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(Arc::clone(count));
        (before < max).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Hall {
    fn accept(&self, socket: &TcpListener) {
        for connection in socket.incoming() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let Ok(connection) = connection else {
                // The process may be out of descriptors.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if let Some(stranger) = Counted::new(&self.strangers, self.settings.strangers_max) {
                let hall = self.clone();
                std::thread::spawn(move || {
                    // The reason is the peer's, which sees the end of the connection.
                    let _ = hall.hear(connection, stranger);
                });
            }
        }
    }

    /// Hears one node until it ends or breaks a rule.
    fn hear(&self, socket: TcpStream, stranger: Counted) -> io::Result<()> {
        let tls = ServerConnection::new(Arc::clone(&self.trust.server));
        let tls = tls.map_err(io::Error::other)?;
        // The handshake and the first frame have one wait together.
        let deadline = Deadline::new(socket, self.settings.connect);
        let mut stream = StreamOwned::new(tls, deadline);
        let first = read_frame(&mut stream, HELLO_BYTES_MAX)?;
        let node = self.judge(&stream, &first)?;
        let counted = Counted::new(&self.connections, self.settings.connections_max);
        let _counted = counted.ok_or(io::ErrorKind::ConnectionRefused)?;
        drop(stranger);
        let answer = Frame::hello(&self.trust, node);
        stream.write_all(&answer.packed().map_err(io::Error::other)?)?;
        stream.flush()?;
        while !self.is_over.load(Ordering::SeqCst) {
            stream.sock.extend(self.settings.read);
            match read_frame(&mut stream, FRAME_BYTES_MAX)? {
                Frame::Hello { .. } | Frame::Copy { .. } | Frame::Part(_) => {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                Frame::Fetch { copy, offset } => {
                    let copies = self.copies.as_ref();
                    let copies = copies.ok_or(io::ErrorKind::PermissionDenied)?;
                    let served = copies.copy(node, copy)?;
                    return serve(served, (copy, offset), &mut stream, self.settings.write);
                }
                frame => (self.deliver)(node, frame),
            }
        }
        Ok(())
    }

    /// Returns the node that speaks. It must be of this cluster, want this node, and have a
    /// certificate for its number.
    fn judge(&self, stream: &ServedStream, first: &Frame) -> io::Result<NodeId> {
        let chain = stream.conn.peer_certificates();
        match first {
            Frame::Hello { cluster, node, to }
                if cluster == self.trust.cluster()
                    && *to == self.trust.node()
                    && self.trust.is_of(chain, *node) =>
            {
                Ok(*node)
            }
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}
