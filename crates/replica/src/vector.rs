//! The state of a copy: for each server the greatest change sequence number.

use std::collections::BTreeMap;

/// A state. Numbers of different servers are never compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vector(BTreeMap<u16, String>);

impl Vector {
    /// Makes the state of some numbers. A text that is none is left out.
    pub fn of<S: AsRef<str>>(csns: impl IntoIterator<Item = S>) -> Vector {
        let mut vector = Vector::default();
        for csn in csns {
            vector.advance(csn.as_ref());
        }
        vector
    }

    /// Takes a number in if it is the greatest of its server.
    pub fn advance(&mut self, csn: &str) {
        let Some(csn) = long_form(csn) else { return };
        let Some(server) = server_of(&csn) else {
            return;
        };
        match self.0.get(&server) {
            Some(held) if *held >= csn => {}
            _ => {
                self.0.insert(server, csn);
            }
        }
    }

    /// Takes another state in.
    pub fn merge(&mut self, other: &Vector) {
        other.0.values().for_each(|csn| self.advance(csn));
    }

    /// Takes the numbers of another state in place of those of the same servers.
    pub fn replace(&mut self, other: &Vector) {
        let numbers = other.0.iter();
        self.0
            .extend(numbers.map(|(server, csn)| (*server, csn.clone())));
    }

    /// Returns true if the state has a change: its number is not above that of its server.
    #[must_use]
    pub fn covers(&self, csn: &str) -> bool {
        let held = server_of(csn).and_then(|server| self.0.get(&server));
        held.is_some_and(|held| held.as_str() >= csn)
    }

    /// Returns the numbers, ascending by server.
    pub fn csns(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }

    /// Returns true if nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the server of a number.
fn server_of(csn: &str) -> Option<u16> {
    let server = csn.split('#').nth(2)?;
    u16::from_str_radix(server, 16)
        .ok()
        .filter(|server| *server <= 0xfff)
}

/// Returns a number in the form of today. Data of OpenLDAP 2.3 has neither fractions nor three
/// digits for the server.
fn long_form(csn: &str) -> Option<String> {
    let mut parts = csn.split('#');
    let (time, count, server, change) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let time = time.strip_suffix('Z')?;
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, "000000"));
    let is_digits = |text: &str, len| text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    let is_hex = |text: &str, max| {
        !text.is_empty() && text.len() <= max && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let known = parts.next().is_none()
        && is_digits(seconds, 14)
        && is_digits(fraction, 6)
        && is_hex(count, 6)
        && is_hex(server, 3)
        && is_hex(change, 6);
    known.then(|| {
        let text = format!("{seconds}.{fraction}Z#{count:0>6}#{server:0>3}#{change:0>6}");
        text.to_ascii_lowercase().replace('z', "Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A1: &str = "20260131235959.000001Z#000000#001#000000";
    const A2: &str = "20260131235959.000002Z#000000#001#000000";
    const B1: &str = "20260131235959.000009Z#000000#002#000000";

    #[test]
    fn a_state_has_the_greatest_number_of_each_server() {
        let mut vector = Vector::of([B1, A2, A1]);
        assert_eq!(vector.csns().collect::<Vec<_>>(), [A2, B1]);
        assert!(vector.covers(A1) && vector.covers(A2));
        assert!(!Vector::of([A1]).covers(A2) && !Vector::of([B1]).covers(A1));
        vector.replace(&Vector::of([A1]));
        assert_eq!(vector, Vector::of([A1, B1]));
    }

    #[test]
    fn old_forms_become_the_long_one() {
        let vector = Vector::of(["20060131235959Z#00000a#00#000000", "junk", "x#y#z#0"]);
        let numbers: Vec<_> = vector.csns().collect();
        assert_eq!(numbers, ["20060131235959.000000Z#00000a#000#000000"]);
    }
}
