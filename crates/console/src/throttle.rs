//! Bounds of failed logins, by address and by account.
//!
//! Each has a table of bounded size, so strangers can fill it with other names and addresses. Then
//! the one with the fewest attempts leaves, and its number stays as the least of all newcomers. So
//! an account never has more attempts than its bound, and those in the table are not touched.
//!
//! A table holds all addresses that the console can refuse within the time. The reason is that each
//! refusal keeps one of its connections for a second.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fulgurite_ldap::dn::{self, Ava};
use unicode_normalization::UnicodeNormalization as _;

use crate::places::{CONNECTIONS_MAX, network};
use crate::secrets::digest;
use crate::sessions::lock;

/// The time after which failures are forgotten.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Failures of one address, and of one account, within that time.
const OF_ADDRESS_MAX: u32 = 20;
const OF_ACCOUNT_MAX: u32 = 5;

/// Addresses, and accounts, that are remembered at most.
const REMEMBERED_MAX: usize = CONNECTIONS_MAX * WINDOW.as_secs() as usize;

/// Attempts of logins. A success forgets those of its account.
#[derive(Debug)]
pub(crate) struct Throttle {
    addresses: Mutex<Attempts<IpAddr>>,
    /// By the digests of the keys of their DNs, because a stranger chooses how long those are.
    accounts: Mutex<Attempts<[u8; 32]>>,
}

impl Default for Throttle {
    fn default() -> Self {
        Throttle {
            addresses: Mutex::new(Attempts::new(OF_ADDRESS_MAX, REMEMBERED_MAX)),
            accounts: Mutex::new(Attempts::new(OF_ACCOUNT_MAX, REMEMBERED_MAX)),
        }
    }
}

impl Throttle {
    /// Counts an attempt of an address. Returns false if there were too many.
    pub(crate) fn admits_address(&self, address: IpAddr, now: Instant) -> bool {
        lock(&self.addresses).admits(network(address), now)
    }

    /// Counts an attempt at an account before its password is tried. Returns false if there were
    /// too many.
    ///
    /// Attempts at the same time count, too, because each counts before it knows its end.
    pub(crate) fn admits_account(&self, dn: &str, now: Instant) -> bool {
        lock(&self.accounts).admits(digest(&account_key(dn)), now)
    }

    /// Takes an attempt back, because it succeeded.
    pub(crate) fn succeeded(&self, address: IpAddr, dn: &str) {
        lock(&self.accounts)
            .counted
            .remove(&digest(&account_key(dn)));
        lock(&self.addresses).take_back(&network(address));
    }
}

/// A number of attempts, and the time of the first.
type Counted = (u32, Instant);

/// The attempts of addresses, or those at accounts.
#[derive(Debug)]
struct Attempts<K> {
    attempts_max: u32,
    remembered_max: usize,
    counted: HashMap<K, Counted>,
    /// The most attempts of those that have left for lack of room, and the latest of their times.
    left: Option<Counted>,
}

impl<K: Copy + Eq + Hash> Attempts<K> {
    fn new(attempts_max: u32, remembered_max: usize) -> Attempts<K> {
        Attempts {
            attempts_max,
            remembered_max,
            counted: HashMap::new(),
            left: None,
        }
    }

    /// Counts an attempt. Returns false if there were too many.
    fn admits(&mut self, key: K, now: Instant) -> bool {
        let count = match self.counted.get(&key) {
            Some((count, since)) if is_fresh(*since, now) => *count,
            _ => self.begin(key, now),
        };
        if count >= self.attempts_max {
            return false;
        }
        if let Some((count, _)) = self.counted.get_mut(&key) {
            *count += 1;
        }
        true
    }

    /// Makes room for a newcomer, and returns the attempts that it may have had before.
    fn begin(&mut self, key: K, now: Instant) -> u32 {
        self.counted.remove(&key);
        if self.counted.len() >= self.remembered_max {
            self.counted.retain(|_, (_, since)| is_fresh(*since, now));
        }
        if self.counted.len() >= self.remembered_max {
            let all = self.counted.iter();
            if let Some((least, counted)) = all.min_by_key(|(_, counted)| **counted) {
                let (least, (count, since)) = (*least, *counted);
                self.counted.remove(&least);
                let before = self.left.unwrap_or((0, since));
                self.left = Some((before.0.max(count), before.1.max(since)));
            }
        }
        self.left = self.left.filter(|(_, since)| is_fresh(*since, now));
        let count = self.left.map_or(0, |(count, _)| count);
        self.counted.insert(key, (count, now));
        count
    }

    fn take_back(&mut self, key: &K) {
        let left = self.counted.get_mut(key).map(|(count, _)| {
            *count = count.saturating_sub(1);
            *count
        });
        if left == Some(0) {
            self.counted.remove(key);
        }
    }
}

/// Returns true if attempts of a time still count.
fn is_fresh(since: Instant, now: Instant) -> bool {
    now.saturating_duration_since(since) < WINDOW
}

/// Returns one text for all spellings of a DN.
///
/// Only the schema knows them all, and strangers may not read it. So the text has less than a
/// matching rule compares: letters and digits of the values, in lower case. Blanks, signs and the
/// names of attributes do not count. Accounts that have the same text share their attempts.
fn account_key(dn: &str) -> String {
    let Ok(rdns) = dn::parse(dn) else {
        return skeleton(dn.as_bytes());
    };
    let of_rdn = |rdn: &Vec<Ava<'_>>| {
        let mut values: Vec<String> = rdn.iter().map(|ava| skeleton(&ava.value)).collect();
        values.sort_unstable();
        values.join("+")
    };
    rdns.iter().map(of_rdn).collect::<Vec<_>>().join(",")
}

/// Returns letters and digits, or the bytes of a value without any.
fn skeleton(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    // Upper case first, because it has one form of letters such as the German sharp s.
    let upper = text.nfkc().flat_map(char::to_uppercase);
    let lower: String = upper.flat_map(char::to_lowercase).collect();
    let letters: String = lower.nfkc().filter(|sign| sign.is_alphanumeric()).collect();
    match letters.is_empty() {
        true => hex::encode(value),
        false => letters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "uid=ada,ou=people,dc=x";

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_account_has_few_attempts_however_it_is_spelled() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let spellings = [
            "UID = Ada , OU=people,dc=x",
            "0.9.2342.19200300.100.1.1=ada,ou=people,dc=x",
            "userid=\\61d\\61,ou=p\\65ople,dc=x",
            "uid=#0403616461,ou=people,dc=x",
            "uid=\u{ff41}d\u{aa},ou=peo\\E2\\80\\8Bple,dc=x",
        ];
        assert_eq!(spellings.len() as u32, OF_ACCOUNT_MAX);
        for spelling in spellings {
            assert!(throttle.admits_account(spelling, start), "{spelling}");
        }
        assert!(!throttle.admits_account(ADA, start));
        assert!(throttle.admits_account("uid=bjorn,ou=people,dc=x", start));
        assert!(throttle.admits_account(ADA, start + WINDOW));
        assert_eq!(account_key("cn=a+uid=b"), account_key("uid=B+cn=A"));
        assert_eq!(account_key("cn=STRASSE"), account_key("cn=Stra\u{df}e"));
        assert_ne!(account_key("cn=\\2B,dc=x"), account_key("cn=\\2A,dc=x"));
    }

    #[test]
    fn an_address_has_more_attempts_and_successes_do_not_count() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for host in 0..OF_ADDRESS_MAX {
            let from = address(&format!("2001:db8::{host}"));
            assert!(throttle.admits_address(from, now));
        }
        assert!(!throttle.admits_address(address("2001:db8::ffff:1"), now));
        assert!(throttle.admits_address(address("2001:db8:0:1::1"), now));
        throttle.succeeded(address("2001:db8::1"), ADA);
        assert!(throttle.admits_address(address("2001:db8::1"), now));
        let (throttle, from) = (Throttle::default(), address("10.0.0.1"));
        for _ in 0..100 {
            assert!(throttle.admits_address(from, now) && throttle.admits_account(ADA, now));
            throttle.succeeded(from, ADA);
        }
    }

    #[test]
    fn strangers_who_fill_a_table_change_nothing_for_others() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let victim = address("192.0.2.1");
        for _ in 1..OF_ACCOUNT_MAX {
            assert!(throttle.admits_account(ADA, now) && throttle.admits_address(victim, now));
        }
        let later = now + Duration::from_secs(1);
        for number in 0..=REMEMBERED_MAX as u32 {
            assert!(throttle.admits_account(&format!("uid={number}"), later));
            let network = IpAddr::V6((u128::from(number + 1) << 64).into());
            assert!(throttle.admits_address(network, later));
        }
        // A newcomer has attempts left, and those who were there have as many as before.
        assert!(throttle.admits_account("uid=new", later));
        assert!(throttle.admits_address(address("192.0.2.2"), later));
        assert!(throttle.admits_address(victim, later));
        assert!(throttle.admits_account(ADA, later));
        assert!(!throttle.admits_account(ADA, later));
        assert_eq!(lock(&throttle.accounts).counted.len(), REMEMBERED_MAX);
        assert_eq!(lock(&throttle.addresses).counted.len(), REMEMBERED_MAX);
    }

    #[test]
    fn no_account_gets_more_attempts_by_pushing_it_out() {
        let mut attempts = Attempts::new(OF_ACCOUNT_MAX, 8);
        let (start, mut admitted) = (Instant::now(), 0);
        for round in 0..200 {
            let now = start + Duration::from_secs(round);
            admitted += u32::from(attempts.admits(0, now));
            // Strangers make all others busier than the victim.
            for other in 1..=8 {
                for _ in 0..2 + round % 3 {
                    attempts.admits(other + 8 * round, now);
                }
            }
        }
        assert!(admitted <= OF_ACCOUNT_MAX, "{admitted}");
        assert!(attempts.counted.len() <= 8);
        // All is forgotten after the time.
        assert!(attempts.admits(0, start + 2 * WINDOW));
    }
}
