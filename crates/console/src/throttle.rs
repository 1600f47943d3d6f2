//! Bounds of failed logins, by address and by account.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fulgurite_ldap::dn::{self, Ava};
use unicode_normalization::UnicodeNormalization as _;

use crate::sessions::lock;

/// The time after which failures are forgotten.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Failures of one address, and of one account, within that time.
const OF_ADDRESS_MAX: u32 = 20;
const OF_ACCOUNT_MAX: u32 = 5;

/// Addresses and accounts that are remembered at most.
const REMEMBERED_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Source {
    Address(IpAddr),
    /// The key of its DN.
    Account(String),
}

/// Attempts of logins. A success forgets those of its account.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<HashMap<Source, (u32, Instant)>>);

impl Throttle {
    /// Counts an attempt of an address. Returns false if there were too many.
    pub(crate) fn admits_address(&self, address: IpAddr, now: Instant) -> bool {
        self.admits(Source::Address(network(address)), OF_ADDRESS_MAX, now)
    }

    /// Counts an attempt at an account before its password is tried. Returns false if there were
    /// too many.
    ///
    /// Attempts at the same time count, too, because each counts before it knows its end.
    pub(crate) fn admits_account(&self, dn: &str, now: Instant) -> bool {
        self.admits(Source::Account(account_key(dn)), OF_ACCOUNT_MAX, now)
    }

    fn admits(&self, source: Source, max: u32, now: Instant) -> bool {
        let is_fresh = |since: Instant| now.saturating_duration_since(since) < WINDOW;
        let mut attempts = lock(&self.0);
        if attempts.len() >= REMEMBERED_MAX {
            attempts.retain(|_, (_, since)| is_fresh(*since));
        }
        if attempts.len() >= REMEMBERED_MAX && !attempts.contains_key(&source) {
            return false;
        }
        let (count, since) = attempts.entry(source).or_insert((0, now));
        if !is_fresh(*since) {
            (*count, *since) = (0, now);
        }
        if *count >= max {
            return false;
        }
        *count += 1;
        true
    }

    /// Takes an attempt back, because it succeeded.
    pub(crate) fn succeeded(&self, address: IpAddr, dn: &str) {
        let mut attempts = lock(&self.0);
        attempts.remove(&Source::Account(account_key(dn)));
        if let Some((count, _)) = attempts.get_mut(&Source::Address(network(address))) {
            *count = count.saturating_sub(1);
        }
    }
}

/// Returns the address that counts. An IPv6 client owns a network of 2^64 addresses, so only the
/// network counts.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = u128::from(v6) >> 64 << 64;
            IpAddr::V6(network.into())
        }
        v4 @ IpAddr::V4(_) => v4,
    }
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
    fn a_full_table_still_knows_those_in_it() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        assert!(throttle.admits_account(ADA, now));
        for number in 0..REMEMBERED_MAX {
            throttle.admits_account(&format!("uid={number}"), now);
        }
        assert!(throttle.admits_account(ADA, now));
        assert!(!throttle.admits_account("uid=new", now));
        assert!(throttle.admits_account("uid=new", now + WINDOW));
        assert!(lock(&throttle.0).len() <= REMEMBERED_MAX);
    }
}
