//! A vector of change sequence numbers: the greatest of each server.

use super::csn::PackedCsn;

/// The greatest change sequence number of each server, ascending by server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsnVector(Vec<PackedCsn>);

impl CsnVector {
    /// Returns the number of a server.
    #[must_use]
    pub fn of(&self, server: u16) -> Option<PackedCsn> {
        let place = self.place(server).ok()?;
        self.0.get(place).copied()
    }

    /// Raises the number of a server to `csn`. Returns true if it was smaller or missing.
    pub fn raise(&mut self, csn: PackedCsn) -> bool {
        match self.place(csn.server()) {
            Ok(place) => match self.0.get_mut(place) {
                Some(held) if *held < csn => {
                    *held = csn;
                    true
                }
                _ => false,
            },
            Err(place) => {
                self.0.insert(place, csn);
                true
            }
        }
    }

    /// Raises each number to the one of another vector.
    pub fn raise_all(&mut self, other: &CsnVector) {
        for csn in other.iter() {
            self.raise(csn);
        }
    }

    /// Returns true if the vector has reached `csn`.
    #[must_use]
    pub fn covers(&self, csn: PackedCsn) -> bool {
        self.of(csn.server()).is_some_and(|held| held >= csn)
    }

    /// Returns true if the vector has reached each number of another.
    #[must_use]
    pub fn covers_all(&self, other: &CsnVector) -> bool {
        other.iter().all(|csn| self.covers(csn))
    }

    /// Returns the numbers, ascending by server.
    pub fn iter(&self) -> impl Iterator<Item = PackedCsn> {
        self.0.iter().copied()
    }

    /// Returns the number of servers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true without any number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, server: u16) -> Result<usize, usize> {
        self.0.binary_search_by_key(&server, PackedCsn::server)
    }

    /// Appends the stored form: the length, and the numbers.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let len = u16::try_from(self.0.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&len.to_le_bytes());
        let stored = self.0.iter().take(usize::from(len));
        stored.for_each(|csn| out.extend_from_slice(csn.as_bytes()));
    }

    /// Takes the stored form off the front of `bytes`.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Option<CsnVector> {
        let len = crate::bytes::u16_at(crate::bytes::take(bytes, 2)?, 0)?;
        let mut vector = CsnVector::default();
        for _ in 0..len {
            let csn = PackedCsn::from_bytes(crate::bytes::take(bytes, PackedCsn::LEN)?)?;
            vector.raise(csn);
        }
        Some(vector)
    }
}

impl FromIterator<PackedCsn> for CsnVector {
    fn from_iter<I: IntoIterator<Item = PackedCsn>>(numbers: I) -> CsnVector {
        let mut vector = CsnVector::default();
        for csn in numbers {
            vector.raise(csn);
        }
        vector
    }
}
