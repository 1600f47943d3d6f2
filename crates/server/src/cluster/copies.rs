//! Copies of the database, for other nodes and from them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fulgurite_cluster::NodeId;
use fulgurite_cluster_peers::{
    CopyHeader, CopyReceiver, CopyServer, LinkSettings, NodeList, PeerTrust, ServedCopy, fetch,
};
use fulgurite_directory::{Entropy as _, SystemEntropy};
use fulgurite_store::Store;
use sha2::{Digest as _, Sha256};

use crate::statistics::lock;

/// The time for which a copy is kept, so that a node can fetch the rest of it.
const KEPT: Duration = Duration::from_secs(600);
/// The age up to which another node gets the same copy.
const FRESH: Duration = Duration::from_secs(60);
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;
/// The file of a copy for other nodes, in the folder of the database.
const COPY_FILE: &str = "copy-for-nodes.mdb";
/// The file of a copy that is not complete.
const PART_FILE: &str = "data.mdb.part";
/// The file that says which copy it is.
const HEADER_FILE: &str = "data.mdb.copy";

/// The copies that a node gives to others.
pub(super) struct NodeCopies {
    store: Arc<Store>,
    nodes: NodeList,
    kept: Mutex<Option<KeptCopy>>,
}

/// A copy for other nodes.
struct KeptCopy {
    header: CopyHeader,
    made: Instant,
    used: Instant,
}

impl NodeCopies {
    pub(super) fn new(store: Arc<Store>, nodes: NodeList) -> NodeCopies {
        let copies = NodeCopies {
            store,
            nodes,
            kept: Mutex::default(),
        };
        // An earlier run may have left one.
        let _ = fs::remove_file(copies.file());
        copies
    }

    fn file(&self) -> PathBuf {
        self.store.path().join(COPY_FILE)
    }

    /// Removes a copy that nobody has wanted for a while.
    pub(super) fn drop_old(&self) {
        let Ok(mut kept) = self.kept.try_lock() else {
            return;
        };
        if kept.as_ref().is_some_and(|copy| copy.used.elapsed() > KEPT) {
            *kept = None;
            // The next start removes it otherwise.
            let _ = fs::remove_file(self.file());
        }
    }

    fn make(&self) -> io::Result<KeptCopy> {
        let path = self.file();
        let _ = fs::remove_file(&path);
        let environment = self.store.environment();
        let copied = environment.copy_to_file(&path, true, &mut |_| Ok(()));
        copied.map_err(io::Error::other)?;
        let (bytes, digest) = digest_of(&path)?;
        Ok(KeptCopy {
            header: CopyHeader {
                name: SystemEntropy.random(),
                bytes,
                digest,
            },
            made: Instant::now(),
            used: Instant::now(),
        })
    }
}

impl Drop for NodeCopies {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.file());
    }
}

impl CopyServer for NodeCopies {
    fn copy(&self, to: NodeId, name: [u8; 16]) -> io::Result<ServedCopy> {
        if !self.nodes.has(to) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut kept = lock(&self.kept);
        let is_useful = |copy: &KeptCopy| copy.header.name == name || copy.made.elapsed() < FRESH;
        if !kept.as_ref().is_some_and(is_useful) {
            tracing::info!("cluster: node {to} gets a copy of the database");
            *kept = Some(self.make()?);
        }
        let copy = kept.as_mut().ok_or(io::ErrorKind::NotFound)?;
        copy.used = Instant::now();
        // A copy that is removed meanwhile stays in the open file.
        Ok(ServedCopy {
            name: copy.header.name,
            file: File::open(self.file())?,
            bytes: copy.header.bytes,
            digest: copy.header.digest,
        })
    }
}

/// The reason why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// No other node belongs to the cluster.
    #[error("there is no other node to copy the database from")]
    NoNode,
    /// There is a database.
    #[error("{} has a database: move it away first", .0.display())]
    Present(PathBuf),
    /// No node gives one.
    #[error("no copy from node {node} at {address}: {source}")]
    Node {
        /// The last node that was asked.
        node: NodeId,
        /// Its address.
        address: String,
        /// The reason.
        source: io::Error,
    },
    /// The disk refuses it.
    #[error("cannot write the copy to {}: {source}", path.display())]
    Disk {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Fetches a copy of the database from one of several nodes, each at `host:port`. A part that is in
/// the folder from before is not fetched again. With `replaces`, the copy takes the place of the
/// database that is there.
///
/// # Errors
/// [`CopyError`]. The part that has come stays.
pub fn fetch_copy(
    trust: &PeerTrust,
    nodes: &[(NodeId, String)],
    folder: &Path,
    replaces: bool,
) -> Result<(), CopyError> {
    if Store::exists(folder) && !replaces {
        return Err(CopyError::Present(folder.to_owned()));
    }
    let disk = |source| CopyError::Disk {
        path: folder.to_owned(),
        source,
    };
    fs::create_dir_all(folder).map_err(disk)?;
    let mut result = Err(CopyError::NoNode);
    for (node, address) in nodes {
        let fetched = fetch_from(trust, (*node, address), folder);
        result = fetched.map_err(|source| CopyError::Node {
            node: *node,
            address: address.clone(),
            source,
        });
        if result.is_ok() {
            break;
        }
    }
    result?;
    install(folder).map_err(disk)
}

fn fetch_from(trust: &PeerTrust, (node, address): (NodeId, &str), folder: &Path) -> io::Result<()> {
    let mut parts = Parts::open(folder)?;
    fetch(trust, LinkSettings::default(), (node, address), &mut parts)?;
    parts.file.sync_all()?;
    let (bytes, digest) = digest_of(&folder.join(PART_FILE))?;
    if (bytes, digest) == (parts.header.bytes, parts.header.digest) {
        return Ok(());
    }
    fs::remove_file(folder.join(PART_FILE))?;
    let text = "the copy has another SHA-256 than its node says";
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}

/// Puts the copy in the place of the database.
fn install(folder: &Path) -> io::Result<()> {
    let _ = fs::remove_file(folder.join("lock.mdb"));
    fs::rename(folder.join(PART_FILE), folder.join("data.mdb"))?;
    // It described the database before.
    let _ = fs::remove_file(folder.join("checkpoint.mdb"));
    let _ = fs::remove_file(folder.join(HEADER_FILE));
    File::open(folder)?.sync_all()
}

fn digest_of(path: &Path) -> io::Result<(u64, [u8; 32])> {
    let mut file = File::open(path)?;
    let (mut digest, mut chunk, mut bytes) = (Sha256::new(), vec![0; CHUNK_BYTES], 0);
    loop {
        let read = io::Read::read(&mut file, &mut chunk)?;
        if read == 0 {
            return Ok((bytes, digest.finalize().into()));
        }
        digest.update(chunk.get(..read).unwrap_or_default());
        bytes += read as u64;
    }
}

/// The parts of a copy that are here.
struct Parts {
    folder: PathBuf,
    file: File,
    header: CopyHeader,
    here: u64,
}

impl Parts {
    fn open(folder: &Path) -> io::Result<Parts> {
        let mut options = OpenOptions::new();
        options.create(true).append(true).read(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(folder.join(PART_FILE))?;
        let header = fs::read(folder.join(HEADER_FILE));
        let header = header.ok().and_then(|bytes| read_header(&bytes));
        Ok(Parts {
            folder: folder.to_owned(),
            here: file.metadata()?.len(),
            header: header.unwrap_or_default(),
            file,
        })
    }
}

fn read_header(bytes: &[u8]) -> Option<CopyHeader> {
    let (name, rest) = bytes.split_first_chunk::<16>()?;
    let (length, digest) = rest.split_first_chunk::<8>()?;
    Some(CopyHeader {
        name: *name,
        bytes: u64::from_be_bytes(*length),
        digest: digest.try_into().ok()?,
    })
}

impl CopyReceiver for Parts {
    fn present(&self) -> (CopyHeader, u64) {
        (self.header, self.here)
    }

    fn begin(&mut self, header: CopyHeader, from: u64) -> io::Result<()> {
        self.header = header;
        let mut bytes = header.name.to_vec();
        bytes.extend(header.bytes.to_be_bytes());
        bytes.extend(header.digest);
        fs::write(self.folder.join(HEADER_FILE), bytes)?;
        // The file is open for appending.
        self.file.set_len(from)
    }

    fn part(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }
}
