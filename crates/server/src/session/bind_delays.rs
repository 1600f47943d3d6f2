//! Delays of answers to binds, after failed ones of the same address or name.
//!
//! ```text
//!   end of a bind --(address, name, right or wrong, time)--> BindDelays --delay--> Operations
//!       holds the answer --Job::HoldBind--> the worker's timers --release_bind--> the answer
//! ```
//!
//! The delay is bounded, so nobody locks out others. The table has a fixed size. Names and
//! addresses are kept as hashes with a secret key, and the least guilty of a set makes room.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::statistics::lock;

/// The first delay. Each further failure doubles it.
const FIRST_DELAY: Duration = Duration::from_millis(250);

/// Sets of the table, and records of each. A record has 16 bytes.
const SETS: usize = 8192;
const WAYS: usize = 4;

/// Failures beyond the free ones that are counted, so that all are forgotten within minutes.
const COUNTED_MAX: u32 = 8;

/// The bounds of one kind of key.
#[derive(Clone, Copy)]
struct Allowance {
    /// Failures that cause no delay.
    free: u32,
    /// Seconds after which one failure is forgotten.
    forgets_s: u32,
}

const OF_NAME: Allowance = Allowance {
    free: 3,
    forgets_s: 60,
};

/// Many users may share an address.
const OF_ADDRESS: Allowance = Allowance {
    free: 20,
    forgets_s: 6,
};

/// The failed binds of addresses and names.
#[derive(Debug)]
pub struct BindDelays {
    /// False until the first failure, so that most servers take no lock.
    has_failures: AtomicBool,
    /// `None` until the first failure.
    table: Mutex<Option<Table>>,
    hashes: RandomState,
    /// The second of the last line in the log, plus one.
    logged_s: AtomicU32,
}

/// A bind that has ended.
pub(super) struct EndedBind<'a> {
    /// The client's address, if it counts.
    pub(super) address: Option<IpAddr>,
    /// The normal form of the claimed name.
    pub(super) name: Option<&'a str>,
    pub(super) end: BindEnd,
    /// The time in seconds.
    pub(super) now_s: u32,
}

/// The end of a bind, as far as it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindEnd {
    Right,
    Wrong,
    /// Neither proves nor refutes the password.
    Other,
}

#[derive(Debug)]
struct Table(Vec<[Failures; WAYS]>);

/// The failures of one key.
#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    key: u64,
    count: u32,
    /// The time from which on the next one is forgotten.
    since_s: u32,
}

/// Returns the address under which failures count; none for clients of this machine. A network of
/// IPv6 is one client.
pub(super) fn counted_address(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let network = address.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
    })
}

impl Default for BindDelays {
    fn default() -> Self {
        BindDelays {
            has_failures: AtomicBool::new(false),
            table: Mutex::new(None),
            hashes: RandomState::new(),
            logged_s: AtomicU32::new(0),
        }
    }
}

impl BindDelays {
    /// Counts a bind and returns the delay of its answer.
    pub(super) fn count(&self, bind: &EndedBind<'_>, longest: Duration) -> Duration {
        let is_wrong = bind.end == BindEnd::Wrong;
        if !is_wrong && !self.has_failures.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        self.has_failures.store(true, Ordering::Relaxed);
        let address = bind.address.map(|address| self.hashes.hash_one(address));
        let name = bind.name.map(|name| self.hashes.hash_one(name));
        let mut table = lock(&self.table);
        let table = table.get_or_insert_with(Table::new);
        let of_address = address.map_or(0, |key| table.count(key, OF_ADDRESS, bind.now_s));
        let of_name = name.map_or(0, |key| table.count(key, OF_NAME, bind.now_s));
        let delay = delay(of_address, OF_ADDRESS, longest).max(delay(of_name, OF_NAME, longest));
        for (key, count, allowance) in [(address, of_address, OF_ADDRESS), (name, of_name, OF_NAME)]
        {
            let Some(key) = key else { continue };
            match bind.end {
                BindEnd::Wrong => {
                    let count = (count + 1).min(allowance.free + COUNTED_MAX);
                    table.set(key, count, allowance, bind.now_s);
                }
                // The failures of the name were its user's, so its address is forgiven these alone.
                BindEnd::Right if Some(key) == name => table.set(key, 0, allowance, bind.now_s),
                BindEnd::Right if of_name > 0 => {
                    table.set(key, count.saturating_sub(of_name), allowance, bind.now_s);
                }
                BindEnd::Right | BindEnd::Other => {}
            }
        }
        if is_wrong {
            self.log(bind, of_address, of_name);
        }
        delay
    }

    /// Logs that further binds of an address or a name are slowed, one line a second at most.
    fn log(&self, bind: &EndedBind<'_>, of_address: u32, of_name: u32) {
        let begins = |count: u32, allowance: Allowance| count + 1 == allowance.free;
        let name = bind.name.filter(|_| begins(of_name, OF_NAME));
        let address = bind.address.filter(|_| begins(of_address, OF_ADDRESS));
        if name.is_none() && address.is_none() {
            return;
        }
        let second = bind.now_s.saturating_add(1);
        if self.logged_s.swap(second, Ordering::Relaxed) == second {
            return;
        }
        let from = bind
            .address
            .map(|address| format!(", the last from {address}"));
        let from = from.unwrap_or_default();
        if let Some(name) = name {
            tracing::warn!(
                "binds as {name:?} are answered late now: {} have failed{from}",
                OF_NAME.free
            );
        }
        if let Some(address) = address {
            tracing::warn!(
                "binds from {address} are answered late now: {} have failed",
                OF_ADDRESS.free
            );
        }
    }
}

/// Returns the delay after a number of failures.
fn delay(count: u32, allowance: Allowance, longest: Duration) -> Duration {
    match count.checked_sub(allowance.free) {
        Some(doublings) => FIRST_DELAY
            .saturating_mul(1 << doublings.min(COUNTED_MAX))
            .min(longest),
        None => Duration::ZERO,
    }
}

impl Table {
    fn new() -> Table {
        Table(vec![[Failures::default(); WAYS]; SETS])
    }

    fn records(&mut self, key: u64) -> &mut [Failures] {
        let set = usize::try_from(key % SETS as u64).unwrap_or(0);
        self.0
            .get_mut(set)
            .map_or(&mut [], |set| set.as_mut_slice())
    }

    /// Returns the failures of a key that are not forgotten.
    fn count(&mut self, key: u64, allowance: Allowance, now_s: u32) -> u32 {
        let record = self.records(key).iter_mut().find(|one| one.key == key);
        record.map_or(0, |record| record.forget(allowance, now_s))
    }

    /// Sets the failures of a key. A new key takes the place of the record with the fewest.
    fn set(&mut self, key: u64, count: u32, allowance: Allowance, now_s: u32) {
        let records = self.records(key);
        let at = records.iter().position(|one| one.key == key);
        if at.is_none() && count == 0 {
            return;
        }
        let least = || {
            let each = records.iter().enumerate();
            each.min_by_key(|(_, one)| (one.count, one.since_s))
                .map(|(at, _)| at)
        };
        let Some(record) = at.or_else(least).and_then(|at| records.get_mut(at)) else {
            return;
        };
        if record.key != key || record.count == 0 {
            record.since_s = now_s;
        }
        record.key = key;
        record.count = count;
        debug_assert!(
            count <= allowance.free + COUNTED_MAX,
            "more than are counted"
        );
    }
}

impl Failures {
    /// Forgets the failures that are old enough, and returns the number of the others.
    fn forget(&mut self, allowance: Allowance, now_s: u32) -> u32 {
        let forgotten = now_s.saturating_sub(self.since_s) / allowance.forgets_s;
        self.count = self.count.saturating_sub(forgotten);
        self.since_s += forgotten * allowance.forgets_s;
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(4);

    fn bind<'a>(address: &str, name: &'a str, end: BindEnd, now_s: u32) -> EndedBind<'a> {
        EndedBind {
            address: counted_address(address.parse().unwrap()),
            name: Some(name),
            end,
            now_s,
        }
    }

    fn wrong(delays: &BindDelays, address: &str, name: &str, now_s: u32) -> u128 {
        let bind = bind(address, name, BindEnd::Wrong, now_s);
        delays.count(&bind, LONGEST).as_millis()
    }

    fn right(delays: &BindDelays, address: &str, name: &str, now_s: u32) -> u128 {
        let bind = bind(address, name, BindEnd::Right, now_s);
        delays.count(&bind, LONGEST).as_millis()
    }

    #[test]
    fn failures_of_a_name_double_the_delay_up_to_the_bound() {
        let delays = BindDelays::default();
        let each: Vec<u128> = (0..9)
            .map(|_| wrong(&delays, "127.0.0.1", "uid=a", 0))
            .collect();
        assert_eq!(each, [0, 0, 0, 250, 500, 1000, 2000, 4000, 4000]);
        assert_eq!(wrong(&delays, "127.0.0.1", "uid=b", 0), 0);
        // The right password waits as well, so its answer tells nothing early. Then all is well.
        assert_eq!(right(&delays, "127.0.0.1", "uid=a", 0), 4000);
        assert_eq!(right(&delays, "127.0.0.1", "uid=a", 0), 0);
        assert_eq!(wrong(&delays, "127.0.0.1", "uid=a", 0), 0);
    }

    #[test]
    fn failures_are_forgotten_within_minutes() {
        let delays = BindDelays::default();
        for _ in 0..1000 {
            wrong(&delays, "192.0.2.1", "uid=a", 100);
        }
        assert_eq!(right(&delays, "192.0.2.1", "uid=b", 100), 4000);
        assert_eq!(right(&delays, "192.0.2.1", "uid=b", 100 + 9 * 6), 0);
        let other = |now_s| bind("192.0.2.9", "uid=a", BindEnd::Other, now_s);
        assert_eq!(delays.count(&other(100 + 8 * 60), LONGEST).as_millis(), 250);
        assert_eq!(delays.count(&other(100 + 9 * 60), LONGEST).as_millis(), 0);
    }

    #[test]
    fn an_address_has_more_failures_free_and_a_network_is_one_client() {
        let delays = BindDelays::default();
        for number in 0..20 {
            let address = format!("2001:db8::{number:x}");
            assert_eq!(wrong(&delays, &address, &format!("uid={number}"), 0), 0);
        }
        assert_eq!(right(&delays, "2001:db8::ff", "uid=x", 0), 250);
        assert_eq!(right(&delays, "2001:db8:1::ff", "uid=x", 0), 0);
        for number in 0..100 {
            assert_eq!(wrong(&delays, "::1", &format!("uid={number}x"), 0), 0);
            assert_eq!(
                wrong(&delays, "::ffff:127.0.0.1", &format!("uid={number}y"), 0),
                0
            );
        }
    }

    #[test]
    fn a_login_forgives_an_address_only_the_failures_of_its_name() {
        let delays = BindDelays::default();
        for number in 0..18 {
            wrong(&delays, "192.0.2.1", &format!("uid={number}"), 0);
        }
        for _ in 0..2 {
            wrong(&delays, "192.0.2.1", "uid=own", 0);
        }
        assert_eq!(right(&delays, "192.0.2.1", "uid=own", 0), 250);
        // 18 failures are left. Further logins of the own account change nothing.
        for _ in 0..10 {
            assert_eq!(right(&delays, "192.0.2.1", "uid=own", 0), 0);
        }
        assert_eq!(wrong(&delays, "192.0.2.1", "uid=y", 0), 0);
        assert_eq!(wrong(&delays, "192.0.2.1", "uid=z", 0), 0);
        assert_eq!(wrong(&delays, "192.0.2.1", "uid=w", 0), 250);
    }

    #[test]
    fn many_names_take_a_bounded_table_and_do_not_drive_out_the_guilty() {
        let delays = BindDelays::default();
        for _ in 0..8 {
            wrong(&delays, "127.0.0.1", "uid=victim", 0);
        }
        for number in 0..300_000 {
            wrong(&delays, "127.0.0.1", &number.to_string(), 0);
        }
        assert_eq!(right(&delays, "127.0.0.1", "uid=victim", 0), 4000);
        let table = lock(&delays.table);
        let bytes = size_of_val(table.as_ref().unwrap().0.as_slice());
        assert_eq!(bytes, 512 * 1024);
    }
}
