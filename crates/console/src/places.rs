//! Places for connections: a bound for all, and one for each address.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tokio::task::AbortHandle;

use crate::sessions::lock;

/// Connections at the same time.
pub(crate) const CONNECTIONS_MAX: usize = 128;

/// Connections of one address at the same time, so that no stranger takes all. Addresses of this
/// machine have no such bound, because proxies and tunnels have them.
const OF_ADDRESS_MAX: usize = 32;

/// The places of a console.
///
/// A connection that waits for a request may lose its place to a new one. Otherwise clients that
/// send their heads slowly could keep everybody out.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    taken: HashMap<IpAddr, usize>,
    /// The places of connections that wait for a request, the longest wait first.
    waiting: VecDeque<Arc<Seat>>,
}

#[derive(Debug)]
struct Seat {
    network: IpAddr,
    /// True if another connection has the place now.
    is_lost: AtomicBool,
    /// The task that serves the connection.
    task: OnceLock<AbortHandle>,
}

/// A taken place. It is free again when the last of its copies is dropped.
#[derive(Debug)]
pub(crate) struct TakenPlace {
    places: Arc<Places>,
    seat: Arc<Seat>,
}

impl Places {
    /// Takes a place for a connection of an address. If there are too many, the one that has waited
    /// longest for a request ends; `None` if none waits.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Arc<TakenPlace>> {
        let network = network(address);
        let mut table = lock(&self.0);
        let own = table.taken.get(&network).copied().unwrap_or(0);
        let is_local = address.to_canonical().is_loopback();
        let is_own_bound = own >= OF_ADDRESS_MAX && !is_local;
        if is_own_bound || table.taken.values().sum::<usize>() >= CONNECTIONS_MAX {
            table.end_longest_wait(|seat| !is_own_bound || seat.network == network)?;
        }
        *table.taken.entry(network).or_default() += 1;
        let seat = Arc::new(Seat {
            network,
            is_lost: AtomicBool::new(false),
            task: OnceLock::new(),
        });
        table.waiting.push_back(Arc::clone(&seat));
        Some(Arc::new(TakenPlace {
            places: Arc::clone(self),
            seat,
        }))
    }
}

impl Table {
    /// Ends the connection that has waited longest among some; `None` if none waits.
    fn end_longest_wait(&mut self, may_end: impl Fn(&Seat) -> bool) -> Option<()> {
        let at = self.waiting.iter().position(|seat| may_end(seat))?;
        let seat = self.waiting.remove(at)?;
        seat.is_lost.store(true, Ordering::Relaxed);
        self.free(seat.network);
        if let Some(task) = seat.task.get() {
            task.abort();
        }
        Some(())
    }

    fn free(&mut self, network: IpAddr) {
        if let Some(own) = self.taken.get_mut(&network) {
            *own -= 1;
            if *own == 0 {
                self.taken.remove(&network);
            }
        }
    }

    fn forget(&mut self, seat: &Arc<Seat>) {
        self.waiting.retain(|other| !Arc::ptr_eq(other, seat));
    }
}

impl TakenPlace {
    /// Names the task that ends if the place is lost.
    pub(crate) fn is_served_by(&self, task: AbortHandle) {
        let _ = self.seat.task.set(task);
    }

    /// A request has come: the place cannot be lost.
    pub(crate) fn begin_request(&self) {
        lock(&self.places.0).forget(&self.seat);
    }

    /// The request is answered, and the connection waits for another.
    pub(crate) fn end_request(&self) {
        let mut table = lock(&self.places.0);
        if !self.seat.is_lost.load(Ordering::Relaxed) {
            table.waiting.push_back(Arc::clone(&self.seat));
        }
    }
}

#[cfg(test)]
impl Places {
    /// Returns the number of taken places.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.0).taken.values().sum()
    }
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        let mut table = lock(&self.places.0);
        table.forget(&self.seat);
        if !self.seat.is_lost.load(Ordering::Relaxed) {
            table.free(self.seat.network);
        }
    }
}

/// Returns the address that counts. An IPv6 client owns a network of 2^64 addresses, so only the
/// network counts.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = u128::from(v6) >> 64 << 64;
            IpAddr::V6(network.into())
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Takes a place for a connection that has sent a request.
    fn busy(places: &Arc<Places>, address: &str) -> Option<Arc<TakenPlace>> {
        let place = places.take(address.parse().unwrap())?;
        place.begin_request();
        Some(place)
    }

    #[test]
    fn one_address_leaves_places_to_others() {
        let places = Arc::new(Places::default());
        let take = |address: &str| busy(&places, address);
        let mut taken: Vec<_> = (0..OF_ADDRESS_MAX)
            .map(|host| take(&format!("2001:db8::{host}")).unwrap())
            .collect();
        assert!(take("2001:db8::ffff:1").is_none());
        let other = take("192.0.2.1").unwrap();
        taken.pop();
        taken.push(take("2001:db8::1").unwrap());
        let local = CONNECTIONS_MAX - OF_ADDRESS_MAX - 1;
        for _ in 0..local {
            taken.push(take("127.0.0.1").unwrap());
        }
        assert!(take("127.0.0.1").is_none() && take("192.0.2.2").is_none());
        drop(other);
        let copy = Arc::clone(&taken[0]);
        drop(taken);
        assert_eq!(lock(&places.0).taken.len(), 1);
        drop(copy);
        assert!(lock(&places.0).taken.is_empty());
    }

    #[test]
    fn connections_that_wait_lose_their_places_to_new_ones() {
        let places = Arc::new(Places::default());
        let local = IpAddr::from(Ipv4Addr::LOCALHOST);
        let silent: Vec<_> = (0..CONNECTIONS_MAX)
            .map(|_| places.take(local).unwrap())
            .collect();
        silent[0].begin_request();
        silent[2].begin_request();
        silent[2].end_request();
        let has_lost = |at: usize| silent[at].seat.is_lost.load(Ordering::Relaxed);
        let first = busy(&places, "192.0.2.1").unwrap();
        assert!(!has_lost(0) && has_lost(1) && !has_lost(2));
        let second = busy(&places, "127.0.0.1").unwrap();
        assert!(has_lost(3) && !has_lost(2), "it has just been answered");
        assert_eq!(places.taken(), CONNECTIONS_MAX);
        drop((silent, first, second));
        assert_eq!(places.taken(), 0);
        assert!(lock(&places.0).waiting.is_empty());
    }

    #[test]
    fn an_address_with_too_many_loses_its_own() {
        let places = Arc::new(Places::default());
        let stranger = places.take("192.0.2.9".parse().unwrap()).unwrap();
        let own: IpAddr = "192.0.2.1".parse().unwrap();
        let held: Vec<_> = (0..=OF_ADDRESS_MAX)
            .map(|_| places.take(own).unwrap())
            .collect();
        assert!(held[0].seat.is_lost.load(Ordering::Relaxed));
        assert!(!stranger.seat.is_lost.load(Ordering::Relaxed));
        assert_eq!(places.taken(), OF_ADDRESS_MAX + 1);
    }
}
