//! Places for connections: a bound for all, and one for each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use crate::sessions::lock;

/// Connections at the same time.
pub(crate) const CONNECTIONS_MAX: usize = 128;

/// Connections of one address at the same time, so that no stranger takes all. Addresses of this
/// machine have no such bound, because proxies and tunnels have them.
const OF_ADDRESS_MAX: usize = 32;

/// The places of a console.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<HashMap<IpAddr, usize>>);

/// A taken place. It is free again when the last of its copies is dropped.
#[derive(Debug)]
pub(crate) struct TakenPlace {
    places: Arc<Places>,
    network: IpAddr,
}

impl Places {
    /// Takes a place for a connection of an address; `None` if there are too many.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Arc<TakenPlace>> {
        let network = network(address);
        let mut taken = lock(&self.0);
        let own = taken.get(&network).copied().unwrap_or(0);
        let is_local = address.to_canonical().is_loopback();
        if taken.values().sum::<usize>() >= CONNECTIONS_MAX || (own >= OF_ADDRESS_MAX && !is_local)
        {
            return None;
        }
        taken.insert(network, own + 1);
        Some(Arc::new(TakenPlace {
            places: Arc::clone(self),
            network,
        }))
    }
}

#[cfg(test)]
impl Places {
    /// Returns the number of taken places.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.0).values().sum()
    }
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        let mut taken = lock(&self.places.0);
        if let Some(own) = taken.get_mut(&self.network) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.network);
            }
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

    #[test]
    fn one_address_leaves_places_to_others() {
        let places = Arc::new(Places::default());
        let take = |address: &str| places.take(address.parse().unwrap());
        let mut taken: Vec<_> = (0..OF_ADDRESS_MAX)
            .map(|host| take(&format!("2001:db8::{host}")).unwrap())
            .collect();
        assert!(take("2001:db8::ffff:1").is_none());
        let other = take("192.0.2.1").unwrap();
        taken.pop();
        taken.push(take("2001:db8::1").unwrap());
        let local = CONNECTIONS_MAX - OF_ADDRESS_MAX - 1;
        for _ in 0..local {
            taken.push(places.take(Ipv4Addr::LOCALHOST.into()).unwrap());
        }
        assert!(take("127.0.0.1").is_none() && take("192.0.2.2").is_none());
        drop(other);
        let copy = Arc::clone(&taken[0]);
        drop(taken);
        assert_eq!(lock(&places.0).len(), 1);
        drop(copy);
        assert!(lock(&places.0).is_empty());
    }
}
