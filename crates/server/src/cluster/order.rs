//! The updates of a directory on their way to the driver, and their replies.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fulgurite_cluster::{Outcome, Position};
use fulgurite_cluster_driver::Handle;
use fulgurite_directory::{
    OrderedDirectory, OrderedReply, Unsettled, UpdateOrder, WriteReply, WriteRequest,
};

use super::reads::add_position;
use super::update::{ClusterAnswer, ClusterUpdate};

/// Updates that wait for the sequencer at once. It takes 1024 of all nodes.
const TOGETHER_MAX: usize = 256;

/// The wait for the driver. Its own waits end before.
const WAIT: Duration = Duration::from_secs(14);

/// The order of a cluster.
#[derive(Debug)]
pub(crate) struct ClusterOrder {
    handle: Handle<ClusterUpdate, ClusterAnswer>,
    /// The name of the cluster.
    cluster: Box<str>,
}

impl ClusterOrder {
    pub(super) fn new(handle: Handle<ClusterUpdate, ClusterAnswer>, cluster: &str) -> ClusterOrder {
        let cluster = cluster.into();
        ClusterOrder { handle, cluster }
    }

    /// Orders some updates, and waits for all of them.
    fn order_some(
        &self,
        directory: &dyn OrderedDirectory,
        requests: &[WriteRequest],
    ) -> Vec<WriteReply> {
        let (sender, outcomes) = channel();
        for (at, request) in requests.iter().enumerate() {
            let schema = Arc::clone(directory.schema());
            let update = ClusterUpdate::Own(Box::new(request.clone()), schema);
            let sender = sender.clone();
            // This thread may have stopped waiting.
            let then = move |outcome| drop(sender.send((at, outcome)));
            self.handle.submit(update, then);
        }
        drop(sender);
        let deadline = Instant::now() + WAIT;
        let mut replies: Vec<Option<WriteReply>> = vec![None; requests.len()];
        let left = || deadline.saturating_duration_since(Instant::now());
        while let Ok((at, outcome)) = outcomes.recv_timeout(left()) {
            if let Some((request, reply)) = requests.get(at).zip(replies.get_mut(at)) {
                *reply = Some(self.reply_to(directory, request, outcome));
            }
        }
        let replies = replies.into_iter().zip(requests);
        let unknown = |request| directory.unsettled(request, Unsettled::Unknown);
        replies
            .map(|(reply, request)| reply.unwrap_or_else(|| unknown(request)))
            .collect()
    }
}

impl ClusterOrder {
    /// Returns the reply to a client of this node.
    fn reply_to(
        &self,
        directory: &dyn OrderedDirectory,
        request: &WriteRequest,
        outcome: Outcome<ClusterAnswer>,
    ) -> WriteReply {
        let unsettled = match outcome {
            Outcome::Recorded(position, code) => {
                let mut reply = directory.unsettled(request, Unsettled::Recorded(code));
                self.tell_position(request, position, &mut reply);
                return reply;
            }
            Outcome::Settled(position, ClusterAnswer::Reply(reply)) => {
                let mut reply = OrderedReply::for_client(*reply, request);
                self.tell_position(request, position, &mut reply);
                return reply;
            }
            Outcome::Settled(_, ClusterAnswer::Unread) => Unsettled::Unread,
            Outcome::Busy => Unsettled::Busy,
            Outcome::TooLong => Unsettled::TooLong,
            Outcome::Unknown => Unsettled::Unknown,
        };
        directory.unsettled(request, unsettled)
    }

    /// Adds the position of an update to its reply, if its client has asked for it.
    fn tell_position(&self, request: &WriteRequest, position: Position, reply: &mut WriteReply) {
        if request.wants_position() {
            add_position(&self.cluster, position, &mut reply.bytes, 0);
        }
    }
}

impl UpdateOrder for ClusterOrder {
    fn order(
        &self,
        directory: &dyn OrderedDirectory,
        requests: &[WriteRequest],
    ) -> Vec<WriteReply> {
        let some = requests.chunks(TOGETHER_MAX);
        some.flat_map(|some| self.order_some(directory, some))
            .collect()
    }
}
