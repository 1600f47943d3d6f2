//! Requests of several threads that one of them serves together.
//!
//! ```text
//!   first thread    serves its own request
//!   other threads   wait meanwhile; one of them serves all that wait then, for the others too
//! ```

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue of requests `T` with replies `R`.
pub(crate) struct GroupQueue<T, R> {
    state: Mutex<QueueState<T, R>>,
    served: Condvar,
}

struct QueueState<T, R> {
    waiting: Vec<(u64, T)>,
    replies: BTreeMap<u64, R>,
    /// The number of the next request.
    next: u64,
    /// True while a thread serves requests.
    is_busy: bool,
}

/// Ends the service of a thread, also if it panics.
struct Service<'q, T, R>(&'q GroupQueue<T, R>);

impl<T, R> Drop for Service<'_, T, R> {
    fn drop(&mut self) {
        self.0.lock().is_busy = false;
        self.0.served.notify_all();
    }
}

impl<T, R> Default for GroupQueue<T, R> {
    fn default() -> GroupQueue<T, R> {
        GroupQueue {
            state: Mutex::new(QueueState {
                waiting: Vec::new(),
                replies: BTreeMap::new(),
                next: 0,
                is_busy: false,
            }),
            served: Condvar::new(),
        }
    }
}

impl<T, R> GroupQueue<T, R> {
    /// Returns the reply to a request. `serve` gets requests of several threads, and returns their
    /// replies in the same order. `None` if it returns too few.
    pub(crate) fn ask(&self, request: T, serve: impl FnOnce(Vec<T>) -> Vec<R>) -> Option<R> {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push((number, request));
        while state.is_busy {
            state = self
                .served
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(reply) = state.replies.remove(&number) {
                return Some(reply);
            }
        }
        state.is_busy = true;
        let (numbers, requests): (Vec<u64>, Vec<T>) = state.waiting.drain(..).unzip();
        drop(state);
        let service = Service(self);
        let replies = serve(requests);
        let mut state = self.lock();
        state.replies.extend(numbers.into_iter().zip(replies));
        let reply = state.replies.remove(&number);
        drop(state);
        drop(service);
        reply
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn requests_that_come_meanwhile_are_served_together() {
        let queue = GroupQueue::<u32, u32>::default();
        let batches = Mutex::new(Vec::new());
        let serve = |requests: Vec<u32>| {
            let replies = requests.iter().map(|request| request * 10).collect();
            batches.lock().expect("no panic").push(requests.len());
            replies
        };
        let (begun, has_begun) = mpsc::channel();
        thread::scope(|scope| {
            let queue = &queue;
            let first = scope.spawn(move || {
                queue.ask(1, |requests| {
                    begun.send(()).expect("the test waits");
                    while queue.lock().waiting.len() < 3 {
                        thread::yield_now();
                    }
                    serve(requests)
                })
            });
            has_begun.recv().expect("the first thread serves");
            let others = [2, 3, 4].map(|number| scope.spawn(move || queue.ask(number, serve)));
            assert_eq!(first.join().expect("no panic"), Some(10));
            let replies = others.map(|other| other.join().expect("no panic"));
            assert_eq!(replies, [Some(20), Some(30), Some(40)]);
        });
        assert_eq!(*batches.lock().expect("no panic"), [1, 3]);
        assert_eq!(queue.ask(5, |_| Vec::new()), None);
    }
}
