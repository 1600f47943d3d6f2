//! The threads of a running server: starts them, runs the acceptor, ends them.

use std::sync::Arc;
use std::thread;

use crossbeam_channel::RecvTimeoutError;
use signal_hook_mio::v1_0::Signals;

use super::acceptor::Acceptor;
use super::context::ServerContext;
use super::error::ServerError;
use super::inbox::{Inbox, WorkerHandle};
use super::listener::Listener;
use super::stop::StopHandle;
use super::writers::Writers;
use super::{hashing, worker, writer};
use crate::session::handler::Handler;

/// Serves until a stop request, then ends all threads.
pub(crate) fn run<H: Handler>(
    shared: ServerContext<'_, H>,
    poll: mio::Poll,
    signals: Option<Signals>,
    listeners: Vec<Listener>,
    stop: &StopHandle,
) -> Result<(), ServerError> {
    let workers = (0..shared.settings.workers.max(1))
        .map(|_| Inbox::new())
        .collect::<Result<Vec<_>, _>>()?;
    let handles: Vec<WorkerHandle<H>> = workers.iter().map(Inbox::handle).collect();
    let mut acceptor = Acceptor::new(poll, signals, listeners, handles.clone(), shared)?;
    thread::scope(|scope| {
        let guard = move |name| stop.on_panic(name);
        let writer_handles = handles.clone();
        let writers = Writers::new(Box::new(move |number| {
            let (handle, queue) = writer::queue();
            shared.statistics.queue(handle.outstanding());
            let (workers, guard) = (writer_handles.clone(), guard("writer"));
            spawn(scope, format!("writer-{number}"), move || {
                let _guard = guard;
                writer::run(shared.handler, &queue, &workers);
                Ok(())
            })?;
            Ok(handle)
        }))?;
        let writers = Arc::new(writers);
        let (to_hashing, checks) = crossbeam_channel::bounded(hashing::QUEUE_MAX);
        for (index, mailbox) in workers.into_iter().enumerate() {
            let (writers, to_hashing) = (Arc::clone(&writers), to_hashing.clone());
            let guard = guard("worker");
            spawn(scope, format!("worker-{index}"), move || {
                let _guard = guard;
                worker::Worker::new(index, shared, mailbox, writers, to_hashing).run()
            })?;
        }
        // The pool ends when the last worker drops its senders, and the writers end with it.
        drop(to_hashing);
        for index in 0..shared.settings.hashing_threads.max(1) {
            let (checks, handles, guard) = (checks.clone(), handles.clone(), guard("hashing"));
            let (writers, statistics) = (Arc::clone(&writers), shared.statistics.hashing_thread());
            spawn(scope, format!("hashing-{index}"), move || {
                let _guard = guard;
                hashing::run(shared.handler, &checks, &handles, &writers, &statistics);
                Ok(())
            })?;
        }
        drop(writers);
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

/// Address space of a thread's stack in bytes. Recursive functions walk filters of the greatest
/// depth (`fulgurite_ldap::FILTER_DEPTH_CEILING`). Unused address space takes no memory.
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
