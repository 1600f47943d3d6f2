//! The driver under the sessions: an event loop per core over mio.
//!
//! ```text
//!              accept                     hand over, least connections first
//!   clients ----------> acceptor (caller's thread, signals) -----+---------+
//!                                                                v         v
//!                                                            worker 0   worker 1  ...   each: its own Poll,
//!                                                              |  ^       |  ^                connections, ready queue
//!                                     updates, slow passwords  v  |       v  |  responses + wake
//!                                             writer (one thread)   hashing pool (few threads)
//! ```
//!
//! Workers share nothing they write to: no lock lies on the way of a read. One acceptor hands
//! connections out, rather than SO_REUSEPORT, which places them by a hash and so puts the four
//! connections of a small installation on one core as likely as not.
//!
//! What a round of turns brings of updates is a batch. A worker applies it itself where that takes no longer than as many
//! searches (`updates`): no disk, no other writer to wait for. All others meet in one channel. The writer takes all that
//! have queued up while it was busy and applies them as one batch, so that one sync to disk serves them all. One more
//! thread does what the handler has to do beside requests, in small portions.

mod acceptor;
mod connection;
mod hashing;
mod mail;
mod turns;
mod updates;
mod worker;
mod writer;

use std::thread;

use acceptor::Acceptor;
pub(crate) use acceptor::catch_signals;
use crossbeam_channel::RecvTimeoutError;
use mail::{Mailbox, WorkerHandle};
use signal_hook_mio::v1_0::Signals;

use crate::handler::Handler;
use crate::listen::Listener;
use crate::session::Identities;
use crate::statistics::Statistics;
use crate::stop::StopHandle;
use crate::tls::Tls;
use crate::{OperationLog, ServerError, ServerSettings};

/// Everything the threads of a running server borrow.
pub(crate) struct Shared<'h, H> {
    pub(crate) handler: &'h H,
    pub(crate) settings: &'h ServerSettings,
    pub(crate) log: Option<&'h dyn OperationLog>,
    pub(crate) statistics: &'h Statistics,
    pub(crate) identities: &'h Identities,
    pub(crate) tls: Option<&'h Tls>,
}

impl<H> Clone for Shared<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Shared<'_, H> {}

/// Serves until told to stop; then ends all threads.
pub(crate) fn run<H: Handler>(
    shared: Shared<'_, H>,
    poll: mio::Poll,
    signals: Option<Signals>,
    listeners: Vec<Listener>,
    stop: &StopHandle,
) -> Result<(), ServerError> {
    let workers = (0..shared.settings.workers.max(1))
        .map(|_| Mailbox::new())
        .collect::<Result<Vec<_>, _>>()?;
    let handles: Vec<WorkerHandle<H>> = workers.iter().map(Mailbox::handle).collect();
    let mut acceptor = Acceptor::new(poll, signals, listeners, handles.clone(), shared)?;
    thread::scope(|scope| {
        let guard = |name| stop.on_panic(name);
        let (to_writer, updates) = writer::queue();
        let (to_hashing, checks) = crossbeam_channel::bounded(hashing::QUEUE_MAX);
        for (index, mailbox) in workers.into_iter().enumerate() {
            let (to_writer, to_hashing) = (to_writer.clone(), to_hashing.clone());
            let guard = guard("worker");
            spawn(scope, format!("worker-{index}"), move || {
                let _guard = guard;
                worker::Worker::new(index, shared, mailbox, to_writer, to_hashing).run()
            })?;
        }
        // The pools end when the last worker has dropped its sender.
        drop((to_writer, to_hashing));
        for index in 0..shared.settings.hashing_threads.max(1) {
            let (checks, handles, guard) = (checks.clone(), handles.clone(), guard("hashing"));
            spawn(scope, format!("hashing-{index}"), move || {
                let _guard = guard;
                hashing::run(shared.handler, &checks, &handles);
                Ok(())
            })?;
        }
        let (writer_handles, writer_guard) = (handles.clone(), guard("writer"));
        spawn(scope, "writer".to_owned(), move || {
            let _guard = writer_guard;
            writer::run(shared.handler, &updates, &writer_handles);
            Ok(())
        })?;
        let (ends, ended) = crossbeam_channel::bounded::<()>(0);
        let background_guard = guard("background");
        spawn(scope, "background".to_owned(), move || {
            let _guard = background_guard;
            let pause = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            shared.handler.background(&pause);
            Ok(())
        })?;
        let result = acceptor.run(stop);
        drop(ends);
        acceptor.stop_workers(stop);
        result
    })
}

/// Address space of a thread's stack: filters of the greatest depth (`fulgurite_ldap::FILTER_DEPTH_CEILING`) are walked by
/// functions that call themselves. What is not used takes no memory.
const STACK_BYTES: usize = 32 << 20;

fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: String,
    body: impl FnOnce() -> Result<(), ServerError> + Send + 'scope,
) -> Result<(), ServerError> {
    thread::Builder::new()
        .name(name)
        .stack_size(STACK_BYTES)
        .spawn_scoped(scope, move || {
            if let Err(error) = body() {
                tracing::error!("{error}");
            }
        })
        .map(|_| ())
        .map_err(ServerError::system("start a thread"))
}
