//! Case-insensitive names to numbers, looked up without allocation.
//!
//! The hash reads both ends of a name as words. Most look-ups use the defined spelling, which one
//! comparison shows. A general hash table would do more work.

/// Names and OIDs of one kind of definition.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<(Box<[u8]>, u32)>,
    /// Places in `names`, plus one, by hash; a power of two, at least twice as many as there are
    /// names.
    slots: Vec<u32>,
}

impl NameTable {
    /// Adds a name. Returns its previous number, if it had one.
    pub(crate) fn insert(&mut self, name: &str, number: u32) -> Option<u32> {
        let name = name.as_bytes();
        if let Some(at) = self.find(name) {
            return Some(std::mem::replace(&mut self.names.get_mut(at)?.1, number));
        }
        self.names.push((name.into(), number));
        if self.names.len() * 2 > self.slots.len() {
            self.slots = vec![0; (self.names.len() * 4).next_power_of_two()];
            (0..self.names.len()).for_each(|at| self.enter(at));
        } else {
            self.enter(self.names.len() - 1);
        }
        None
    }

    /// Returns the number of a name, in any case.
    pub(crate) fn get(&self, name: &[u8]) -> Option<u32> {
        let (_, number) = self.names.get(self.find(name)?)?;
        Some(*number)
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        let mut slot = hash(name);
        // There are always free slots.
        loop {
            let entered = *self.slots.get(slot & self.slots.len().wrapping_sub(1))?;
            let at = (entered as usize).checked_sub(1)?;
            let (known, _) = self.names.get(at)?;
            if **known == *name || known.eq_ignore_ascii_case(name) {
                return Some(at);
            }
            slot += 1;
        }
    }

    fn enter(&mut self, at: usize) {
        let Some((name, _)) = self.names.get(at) else {
            return;
        };
        let (mut slot, mask) = (hash(name), self.slots.len().wrapping_sub(1));
        while let Some(entered) = self.slots.get_mut(slot & mask) {
            if *entered == 0 {
                *entered = u32::try_from(at + 1).unwrap_or(0);
                return;
            }
            slot += 1;
        }
    }
}

/// Returns the same for names that differ in case only. Length, first and last bytes distinguish
/// names.
fn hash(name: &[u8]) -> usize {
    // The bit by which letters of either case differ.
    const CASE: u64 = 0x2020_2020_2020_2020;
    let (first, last) = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => {
            let word = |sum, byte: &u8| sum << 8 | u64::from(*byte);
            (name.iter().fold(0, word), 0)
        }
    };
    let mixed = (first | CASE)
        .wrapping_mul(0xf135_7aea_2e62_a9c5)
        .rotate_left(26)
        ^ (last | CASE)
        ^ name.len() as u64;
    let mixed = mixed.wrapping_mul(0xf135_7aea_2e62_a9c5);
    (mixed >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::NameTable;

    #[test]
    fn any_case_any_length() {
        let mut names = NameTable::default();
        assert_eq!(names.get(b"cn"), None);
        let long = "x".repeat(100);
        assert_eq!(names.insert("commonName", 7), None);
        assert_eq!(names.insert(&long, 8), None);
        assert_eq!(names.get(b"COMMONNAME"), Some(7));
        assert_eq!(names.get(long.to_uppercase().as_bytes()), Some(8));
        assert_eq!(names.get(b"commonNam"), None);
        assert_eq!(names.insert("CommonName", 9), Some(7));
        assert_eq!(names.get(b"commonname"), Some(9));
    }

    #[test]
    fn many_names_get_their_own_numbers() {
        let mut names = NameTable::default();
        for number in 0..2000 {
            assert_eq!(names.insert(&format!("1.3.6.1.4.{number}"), number), None);
            assert_eq!(names.insert(&format!("n{number}"), number + 5000), None);
        }
        for number in 0..2000 {
            let oid = format!("1.3.6.1.4.{number}");
            assert_eq!(names.get(oid.as_bytes()), Some(number));
            let name = format!("N{number}");
            assert_eq!(names.get(name.as_bytes()), Some(number + 5000));
        }
        assert_eq!(names.get(b"1.3.6.1.4.2000"), None);
        assert_eq!(names.get(b""), None);
    }
}
