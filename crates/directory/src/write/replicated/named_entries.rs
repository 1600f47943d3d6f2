//! The entries that a refresh has named, as a bitmap: 12 KiB for 100,000 entries.

use fulgurite_store::EntryId;

/// A set of entry ids.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedEntries(Vec<u64>);

impl NamedEntries {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn insert(&mut self, id: EntryId) {
        let (word, bit) = place(id);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn contains(&self, id: EntryId) -> bool {
        let (word, bit) = place(id);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

fn place(id: EntryId) -> (usize, u64) {
    let word = usize::try_from(id.0 / 64).unwrap_or(usize::MAX >> 1);
    (word, 1 << (id.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_named_until_the_next_refresh() {
        let mut named = NamedEntries::default();
        for id in [0, 63, 64, 100_000] {
            named.insert(EntryId(id));
        }
        assert!(
            [0, 63, 64, 100_000]
                .iter()
                .all(|id| named.contains(EntryId(*id)))
        );
        assert!(
            ![1, 65, 99_999, 1 << 40]
                .iter()
                .any(|id| named.contains(EntryId(*id)))
        );
        named.clear();
        assert!(!named.contains(EntryId(63)));
    }
}
