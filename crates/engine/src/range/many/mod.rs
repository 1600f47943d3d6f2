//! Lookups of many keys at once, so that their cache misses overlap.
//!
//! ```text
//!            one by one                       in step
//!   key 1    probe wait probe wait ...        probe . . probe . . probe
//!   key 2                                       probe . . probe . . probe        "." is a wait that
//!   key 3                                         probe . . probe . . probe      other probes fill
//! ```
//! A search in an uncached page waits for memory at nearly every probe. So a group of searches
//! descends the tree level by level and probe by probe. Each prefetches its next probe before the
//! others take their turn.
//!
//! There are two searches. The first is for the byte order: it compares keys as words and returns
//! `None` for every failure. The second is for all orders and reports errors.

mod limits;
mod search;
mod word_search;

use alloc::vec::Vec;
use limits::GROUP;
use search::{Integer, Lexical, Reverse, get_group};
use word_search::get_group_by_words;

use crate::KeyOrder;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Tree;

/// Adds the value of each key to `values`, the first if it has several, in the order of the keys.
pub(crate) fn get_many<'t, K: AsRef<[u8]>>(
    pages: PageView<'t>,
    tree: &Tree,
    keys: &[K],
    values: &mut Vec<Option<&'t [u8]>>,
) -> Result<(), BoxedError> {
    values.reserve(keys.len());
    if tree.record.root.is_none() {
        values.extend(keys.iter().map(|_| None));
        return Ok(());
    }
    for group in keys.chunks(GROUP) {
        let mut group_keys: [&[u8]; GROUP] = [&[]; GROUP];
        for (to, key) in group_keys.iter_mut().zip(group) {
            *to = key.as_ref();
        }
        let group_keys = group_keys.get(..group.len()).unwrap_or_default();
        // Each order has its own copy of the search, with the comparison inlined.
        match tree.order {
            KeyOrder::Lexical => {
                let before = values.len();
                if get_group_by_words(pages, tree, group_keys, values).is_some() {
                    continue;
                }
                // A page is damaged or missing in the file: the other search finds the error.
                values.truncate(before);
                get_group(pages, tree, group_keys, values, Lexical)
            }
            KeyOrder::Reverse => get_group(pages, tree, group_keys, values, Reverse),
            KeyOrder::Integer | KeyOrder::PackedInteger => {
                get_group(pages, tree, group_keys, values, Integer)
            }
            KeyOrder::Custom(order) => get_group(pages, tree, group_keys, values, order),
        }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Durability, Environment, KeyOrder, Snapshot};

    /// Branches are searched in step if they exceed the caches. In tests every size does.
    #[test]
    fn branches_in_step_lead_where_one_search_leads() {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::options()
            .durability(Durability::NoSync)
            .open(directory.path())
            .unwrap();
        for (name, order) in [
            ("from the first byte", KeyOrder::Lexical),
            ("from the last", KeyOrder::Reverse),
        ] {
            let mut txn = environment.write().unwrap();
            let db = txn.create_database(name, order).unwrap();
            let key = |number: u32| number.wrapping_mul(0x9e37_79b9).to_be_bytes();
            for number in (0..40_000).step_by(2) {
                txn.put(db, &key(number), &[7; 40]).unwrap();
            }
            assert!(txn.stat(db).unwrap().depth > 2);
            let keys: Vec<[u8; 4]> = (0..5_000).map(key).chain([[0; 4], [255; 4]]).collect();
            let mut values = Vec::new();
            txn.get_many(db, &keys, &mut values).unwrap();
            for (key, value) in keys.iter().zip(&values) {
                assert_eq!(*value, txn.get(db, key).unwrap());
            }
            assert_eq!(values.iter().flatten().count(), 2_500 + 1);
        }
    }
}
