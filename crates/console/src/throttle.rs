//! Bounds of failed logins, by address and by name.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::sessions::lock;

/// The time after which failures are forgotten.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Failures of one address, and of one name, within that time.
const OF_ADDRESS_MAX: u32 = 20;
const OF_NAME_MAX: u32 = 5;

/// Addresses and names that are remembered at most.
const REMEMBERED_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Source {
    Address(IpAddr),
    Name(String),
}

/// Attempts of logins. A success forgets those of its name.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<HashMap<Source, (u32, Instant)>>);

impl Throttle {
    /// Counts an attempt before its password is tried. Returns false if there were too many.
    ///
    /// Attempts at the same time count, too, because each counts before it knows its end.
    pub(crate) fn admits(&self, address: IpAddr, name: &str, now: Instant) -> bool {
        let mut attempts = lock(&self.0);
        if attempts.len() >= REMEMBERED_MAX {
            attempts.retain(|_, (_, since)| now.saturating_duration_since(*since) < WINDOW);
        }
        if attempts.len() >= REMEMBERED_MAX {
            return false;
        }
        let sources = sources(address, name);
        let counts = sources.each_ref().map(|(source, max)| {
            let count = match attempts.get(source) {
                Some((count, since)) if now.saturating_duration_since(*since) < WINDOW => *count,
                _ => 0,
            };
            (count, *max)
        });
        if counts.iter().any(|(count, max)| count >= max) {
            return false;
        }
        for ((source, _), (count, _)) in sources.into_iter().zip(counts) {
            let entry = attempts.entry(source).or_insert((0, now));
            if count == 0 {
                *entry = (0, now);
            }
            entry.0 = count + 1;
        }
        true
    }

    /// Takes an attempt back, because it succeeded.
    pub(crate) fn succeeded(&self, address: IpAddr, name: &str) {
        let mut attempts = lock(&self.0);
        let [(address, _), (name, _)] = sources(address, name);
        attempts.remove(&name);
        if let Some((count, _)) = attempts.get_mut(&address) {
            *count = count.saturating_sub(1);
        }
    }
}

/// Returns address and name of an attempt with their bounds. An IPv6 client owns a network of 2^64
/// addresses, so only the network counts.
fn sources(address: IpAddr, name: &str) -> [(Source, u32); 2] {
    let address = match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = u128::from(v6) >> 64 << 64;
            IpAddr::V6(network.into())
        }
        v4 @ IpAddr::V4(_) => v4,
    };
    let name = name.trim().to_lowercase();
    [
        (Source::Address(address), OF_ADDRESS_MAX),
        (Source::Name(name), OF_NAME_MAX),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_has_few_attempts_from_everywhere() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for host in 0..OF_NAME_MAX {
            let from = address(&format!("10.0.0.{host}"));
            assert!(throttle.admits(from, "Ada", start));
        }
        assert!(!throttle.admits(address("10.0.1.1"), " ada ", start));
        assert!(throttle.admits(address("10.0.1.1"), "bjorn", start));
        assert!(throttle.admits(address("10.0.1.1"), "ada", start + WINDOW));
    }

    #[test]
    fn an_address_has_more_attempts_and_successes_do_not_count() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for name in 0..OF_ADDRESS_MAX {
            let from = address(&format!("2001:db8::{name}"));
            assert!(throttle.admits(from, &name.to_string(), now));
        }
        assert!(!throttle.admits(address("2001:db8::ffff:1"), "x", now));
        assert!(throttle.admits(address("2001:db8:0:1::1"), "x", now));
        throttle.succeeded(address("2001:db8::1"), "0");
        assert!(throttle.admits(address("2001:db8::1"), "0", now));
        let (throttle, from) = (Throttle::default(), address("10.0.0.1"));
        for _ in 0..100 {
            assert!(throttle.admits(from, "ada", now));
            throttle.succeeded(from, "ada");
        }
    }
}
