//! The node: its threads, from the start of the server to its end.

use std::fs;
use std::net::{TcpListener, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, Scope};
use std::time::Duration;

use fulgurite_cluster::NodeId;
use fulgurite_cluster_driver::{CopyProgress, Driver, DriverSettings, Handle};
use fulgurite_cluster_peers::{CopySource, LinkSettings, NodePeers, PeerTrust, TrustFiles};
use fulgurite_config::{ClusterSettings, Settings};
use fulgurite_directory::{
    CheckpointRule, Directory, Entropy as _, StoreContent, SystemEntropy, Unsuitable, UpdateOrder,
};
use fulgurite_etcd::{EtcdLog, EtcdSettings, Member, SettingsParts, TlsFiles};

use super::certificates::Certificates;
use super::comparison::Comparison;
use super::content::LiveContent;
use super::copies::NodeCopies;
use super::error::ClusterError;
use super::lookout::Lookout;
use super::order::ClusterOrder;
use super::read_settings::ReadSettings;
use super::settings_parts::settings_parts;
use super::space_keeper::SpaceKeeper;
use super::state::ClusterState;
use super::update::{ClusterAnswer, ClusterUpdate};
use crate::driver::stop::StopHandle;
use crate::replication::directory_source::DirectorySource;
use crate::statistics::lock;

/// The number of the database in a cluster. It has one.
const DATABASE: u32 = 1;
/// The time between two looks at the addresses of the nodes.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A node that does not run yet.
pub(crate) struct ClusterNode {
    settings: ClusterSettings,
    etcd: EtcdSettings,
    trust: PeerTrust,
    socket: TcpListener,
    folder: PathBuf,
    driver: Driver<ClusterUpdate, ClusterAnswer>,
    handle: Handle<ClusterUpdate, ClusterAnswer>,
    state: Arc<ClusterState>,
    parts: SettingsParts,
}

/// A node that runs.
pub(crate) struct RunningNode {
    handle: Handle<ClusterUpdate, ClusterAnswer>,
    is_over: Arc<AtomicBool>,
}

impl RunningNode {
    /// Lets the node settle its batch and hand its leadership over.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.handle.stop();
    }
}

/// Returns the settings of a client of etcd.
///
/// # Errors
/// [`ClusterError`] for a password that cannot be read.
pub fn etcd_settings(settings: &ClusterSettings) -> Result<EtcdSettings, ClusterError> {
    let mut etcd = EtcdSettings::new(settings.etcd.clone(), &settings.name);
    etcd.database = DATABASE;
    etcd.tls = settings.etcd_ca.clone().map(|authorities| TlsFiles {
        authorities,
        certificate: settings.etcd_pair.clone(),
    });
    if let Some((user, file)) = &settings.etcd_user {
        let password = fs::read_to_string(file).map_err(|source| ClusterError::File {
            path: file.clone(),
            source,
        })?;
        let password = password.trim_end_matches(['\r', '\n']).to_owned();
        etcd.user = Some((user.clone(), password));
    }
    Ok(etcd)
}

/// Returns the trust of a node.
///
/// # Errors
/// [`ClusterError::Trust`].
pub fn peer_trust(settings: &ClusterSettings) -> Result<PeerTrust, ClusterError> {
    let files = TrustFiles {
        authorities: settings.ca.clone(),
        certificate: settings.pair.0.clone(),
        key: settings.pair.1.clone(),
    };
    let node = NodeId(settings.node);
    Ok(PeerTrust::read(&settings.name, node, &files)?)
}

impl ClusterNode {
    /// Prepares the node that the settings describe, and opens its socket; `None` for a server that
    /// is alone.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub(crate) fn prepare(settings: &Settings) -> Result<Option<ClusterNode>, ClusterError> {
        let Some(cluster) = settings.cluster()? else {
            return Ok(None);
        };
        let etcd = etcd_settings(&cluster)?;
        // Wrong settings end the start.
        EtcdLog::new(&etcd)?;
        let trust = peer_trust(&cluster)?;
        let socket = listen(&cluster)?;
        let random = u128::from_be_bytes(SystemEntropy.random());
        let life = u64::try_from(random >> 64).unwrap_or_default();
        let driver_settings = DriverSettings::new(NodeId(cluster.node), life.to_le_bytes());
        let (driver, handle) = Driver::new(driver_settings);
        let node = cluster.node;
        let reads = ReadSettings {
            cluster: cluster.name.clone(),
            reads: cluster.reads,
            stale_after: cluster
                .stale_after_s
                .map(u64::from)
                .map(Duration::from_secs),
        };
        Ok(Some(ClusterNode {
            folder: settings.cluster_folder()?.to_owned(),
            settings: cluster,
            etcd,
            trust,
            socket,
            driver,
            parts: SettingsParts::new(),
            state: Arc::new(ClusterState::new(handle.clone(), node, reads)),
            handle,
        }))
    }

    /// Returns the state of the node.
    pub(crate) fn state(&self) -> Arc<ClusterState> {
        Arc::clone(&self.state)
    }

    /// Lets the node order the updates of its database.
    ///
    /// # Errors
    /// [`ClusterError::Database`] if the database is not that of a node.
    pub(crate) fn attach(
        &mut self,
        directory: &mut Directory,
        settings: &Settings,
    ) -> Result<(), ClusterError> {
        self.parts = settings_parts(settings, directory.schema())?;
        let database = directory.database_at(&self.folder);
        let database = database.ok_or(Unsuitable::NoMember)?;
        StoreContent::open(directory, database)?;
        let order: Arc<dyn UpdateOrder> =
            Arc::new(ClusterOrder::new(self.handle.clone(), &self.settings.name));
        directory.order_updates(&self.folder, order);
        Ok(())
    }

    /// Starts the threads of the node. If one of them ends, the server ends.
    pub(crate) fn start<'scope, S>(
        self,
        scope: &'scope Scope<'scope, '_>,
        source: &'scope S,
        stop: &StopHandle,
    ) -> RunningNode
    where
        S: DirectorySource,
    {
        let is_over = Arc::new(AtomicBool::new(false));
        let running = RunningNode {
            handle: self.handle.clone(),
            is_over: Arc::clone(&is_over),
        };
        let (stop, guard) = (stop.clone(), stop.on_panic("cluster"));
        let body = move || {
            let _guard = guard;
            let end = self.run(source, &stop, &is_over);
            if let Err(error) = &end {
                tracing::error!("{error}");
            }
            if !is_over.load(Ordering::Relaxed) {
                stop.stop();
            }
        };
        let thread = thread::Builder::new().name("cluster".to_owned());
        if let Err(error) = thread.spawn_scoped(scope, body) {
            tracing::error!("the node of the cluster has no thread: {error}");
        }
        running
    }

    /// Runs until it is stopped.
    fn run<S: DirectorySource>(
        self,
        source: &S,
        stop: &StopHandle,
        is_over: &Arc<AtomicBool>,
    ) -> Result<(), ClusterError> {
        let mut rule = CheckpointRule::default();
        if let Some(every_s) = self.settings.checkpoint_every_s {
            rule.interval_ms = u64::from(every_s) * 1000;
        }
        let content = LiveContent::open(source, self.folder.clone(), rule)?;
        let wish = CopyWish {
            state: Arc::clone(&self.state),
            stop: stop.clone(),
        };
        let settings = LinkSettings::default();
        let mut peers = NodePeers::new(&self.handle, self.trust.clone(), settings, wish);
        let nodes = peers.nodes();
        let database = source.newest().database_at(&self.folder);
        let store = database.ok_or(Unsuitable::NoMember)?.shared_store();
        let copies = Arc::new(NodeCopies::new(store, nodes.clone()));
        let address = self.settings.listen.clone();
        let listener = peers.listen(self.socket, &self.handle, Some(copies.clone()));
        let _listener = listener.map_err(|source| ClusterError::Listen { address, source })?;
        let own = Member {
            node: NodeId(self.settings.node),
            address: self.settings.address.to_string(),
        };
        let (log, handle, state) = (EtcdLog::new(&self.etcd)?, self.handle, self.state);
        let mut space = SpaceKeeper::new(self.settings.etcd.clone());
        let mut certificates = Certificates::new(&self.settings);
        let mut comparison = Comparison::new(own.node, self.parts);
        let ended = Arc::<(Mutex<bool>, Condvar)>::default();
        thread::scope(|scope| {
            let pause = Arc::clone(&ended);
            let is_over = Arc::clone(is_over);
            scope.spawn(move || {
                let mut lookout = Lookout {
                    log,
                    handle,
                    state,
                    own,
                    nodes,
                    trouble: None,
                };
                loop {
                    lookout.look();
                    comparison.look(&lookout.log);
                    space.look(&lookout.log, &lookout.state);
                    certificates.look(&lookout.state);
                    copies.drop_old();
                    let (is_ended, signal) = &*pause;
                    let held = lock(is_ended);
                    let waited = signal.wait_timeout_while(held, LOOK_EVERY, |ended| !*ended);
                    let is_ended = waited.is_ok_and(|(ended, _)| *ended);
                    if is_ended || is_over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
            // Also if the driver panics.
            let _end = LookoutEnd(&ended);
            let done = self
                .driver
                .run(content, &mut peers, || EtcdLog::new(&self.etcd));
            done.map(drop)
        })?;
        Ok(())
    }
}

/// Ends the look at the other nodes, when it is dropped.
struct LookoutEnd<'e>(&'e (Mutex<bool>, Condvar));

impl Drop for LookoutEnd<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }
}

/// Opens the socket for the other nodes.
fn listen(settings: &ClusterSettings) -> Result<TcpListener, ClusterError> {
    let address = &settings.listen;
    let error = |source| ClusterError::Listen {
        address: address.clone(),
        source,
    };
    let host = match address.host.as_str() {
        "" => "::",
        host => host,
    };
    let addresses = (host, address.port).to_socket_addrs().map_err(error)?;
    let addresses: Vec<_> = addresses.collect();
    let bound = TcpListener::bind(addresses.as_slice());
    let bound = bound.or_else(|refused| match address.host.is_empty() {
        // A machine without IPv6.
        true => TcpListener::bind(("0.0.0.0", address.port)),
        false => Err(refused),
    });
    bound.map_err(error)
}

/// The wish for a copy of another node. The files of the database are replaced between two runs of
/// the server.
struct CopyWish {
    state: Arc<ClusterState>,
    stop: StopHandle,
}

impl<C> CopySource<C> for CopyWish {
    fn begin(&mut self) {
        tracing::warn!(
            "cluster: the log does not reach back to this node: it fetches a copy of another one"
        );
        self.state.needs_copy();
        self.stop.stop();
    }

    fn progress(&mut self) -> CopyProgress<C> {
        CopyProgress::Waiting
    }
}
