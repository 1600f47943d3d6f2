//! The forwarders of all copies, and the answers that their clients get.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fulgurite_directory::{Database, ForwardedUpdate, Forwarding};
use fulgurite_replica::Vector;
use rustc_hash::FxHashMap;

use super::connection::Connection;
use crate::statistics::lock;

/// Updates that one connection carries at once.
const TOGETHER_MAX: usize = 64;
/// Bytes of these updates. They fit into the buffers of a socket, so that neither side waits for
/// the other to read.
const TOGETHER_BYTES_MAX: usize = 64 << 10;
/// The time that an answer waits for the copy to have the change.
const COPY_WAIT: Duration = Duration::from_secs(2);
/// The time between looks at the state of the copy.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The forwarders of all copies, by the folders of their stores.
#[derive(Default)]
pub(crate) struct Forwarders(Mutex<FxHashMap<PathBuf, Arc<Mutex<Forwarder>>>>);

/// The connection of one copy.
#[derive(Default)]
struct Forwarder(Option<Connection>);

impl Forwarders {
    /// Lets another server make updates of one copy, and returns their responses in their order.
    ///
    /// It waits for the other server, and for the copy to have the changes.
    pub(crate) fn forward(&self, copy: &Database, updates: &[&ForwardedUpdate]) -> Vec<Vec<u8>> {
        let Some(forwarding) = copy.forwarding() else {
            return updates.iter().map(|update| update.referred()).collect();
        };
        let forwarder = self.of(copy.store().path());
        let mut forwarder = lock(&forwarder);
        let mut responses = Vec::with_capacity(updates.len());
        let mut rest = updates;
        while !rest.is_empty() {
            let (together, behind) = rest.split_at(together(rest));
            let (answered, is_served) = forwarder.forward(copy, forwarding, together);
            responses.extend(answered);
            rest = behind;
            if !is_served {
                // The clients behind would only wait for the same server in turn.
                let unsent = rest.iter().map(|update| unreached(forwarding, update));
                responses.extend(unsent);
                break;
            }
        }
        responses
    }

    fn of(&self, store: &Path) -> Arc<Mutex<Forwarder>> {
        let mut forwarders = lock(&self.0);
        Arc::clone(forwarders.entry(store.to_owned()).or_default())
    }
}

/// Returns the number of updates to send together. A large one goes alone, because its size may
/// make the other server hang up.
fn together(updates: &[&ForwardedUpdate]) -> usize {
    let mut bytes = 0;
    let fitting = updates.iter().take(TOGETHER_MAX).take_while(|update| {
        bytes += update.bytes();
        bytes <= TOGETHER_BYTES_MAX
    });
    fitting.count().max(1)
}

/// Returns the response to an update that has not been sent.
fn unreached(forwarding: &Forwarding, update: &ForwardedUpdate) -> Vec<u8> {
    match forwarding.return_error {
        true => update.failed(),
        false => update.referred(),
    }
}

impl Forwarder {
    /// Forwards updates together. The second value is false if no server serves them.
    fn forward(
        &mut self,
        copy: &Database,
        forwarding: &Forwarding,
        updates: &[&ForwardedUpdate],
    ) -> (Vec<Vec<u8>>, bool) {
        let Some(mut connection) = self.connection(forwarding) else {
            let unsent = updates.iter().map(|update| unreached(forwarding, update));
            return (unsent.collect(), false);
        };
        let (answers, is_whole) = connection.ask(updates);
        let mut answered = answers.iter().zip(updates);
        let has_changed = answered.any(|(answer, update)| {
            let is_success = answer.as_ref().is_some_and(|answer| answer.is_success);
            is_success && update.bound_name().is_none()
        });
        let is_usable = match has_changed && is_whole {
            true => wait_for_copy(copy, &mut connection),
            false => is_whole,
        };
        if is_usable {
            self.0 = Some(connection);
        }
        let answered = answers.into_iter().zip(updates);
        let responses = answered
            .map(|(answer, update)| match answer {
                Some(answer) if answer.is_success || forwarding.return_error => answer.bytes,
                Some(_) => update.referred(),
                // The other server may have made it. A referral would make a client repeat it.
                None => update.failed(),
            })
            .collect();
        (responses, is_whole)
    }

    /// Takes the connection, or opens a new one to the first server that can be reached.
    fn connection(&mut self, forwarding: &Forwarding) -> Option<Connection> {
        let held = self.0.take();
        if let Some(held) = held.filter(|held| held.serves(&forwarding.links)) {
            return Some(held);
        }
        forwarding.links.iter().find_map(|link| {
            let opened = Connection::open(link);
            opened
                .inspect_err(|reason| tracing::warn!("chain: {}: {reason}", link.url))
                .ok()
        })
    }
}

/// Waits until the copy has what the provider has now, or for [`COPY_WAIT`]. So a client that has
/// changed an entry through the copy finds it changed there. Returns false if the connection is of
/// no more use.
fn wait_for_copy(copy: &Database, connection: &mut Connection) -> bool {
    let mut consumers = copy.consumers().iter();
    let Some(consumer) = consumers.find(|consumer| consumer.persist) else {
        return true;
    };
    let deadline = Instant::now() + COPY_WAIT;
    let Some(wanted) = connection.state(&consumer.search_base, deadline) else {
        return false;
    };
    while Instant::now() < deadline {
        let held = copy.content_state().map(Vector::of).unwrap_or_default();
        if wanted.csns().all(|csn| held.covers(csn)) {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    true
}
