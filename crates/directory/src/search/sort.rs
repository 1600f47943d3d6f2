//! Server-side sorting (RFC 2891): sort keys, and sorting in small steps.
//!
//! ```text
//!   entry -> sort key: one component for each key of the request, bytes that compare as the entries do
//!         -> a run; full runs are sorted and stored -> merged while entries are written
//! ```
//!
//! A component is `01 value 00 00`, or `ff` for an entry without a value: missing is largest (RFC
//! 2891, section 2.2). Reverse order inverts every byte. A value that the rule cannot normalize
//! counts as missing, and of several values the smallest counts. Entries with equal keys keep the
//! order in which the search found them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fulgurite_ldap::control::SortKey;
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeDescription, Entry, MatchingRule, Schema};
use fulgurite_store::{EntryId, EntryView, StoreError, View};

use crate::core::result::refuse;
use crate::rights::requester_rights::RequesterRights;

/// One resolved key of a request.
#[derive(Clone, Debug)]
pub(crate) struct OrderingKey {
    description: AttributeDescription,
    rule: &'static MatchingRule,
    reverse: bool,
}

/// The reason why a search cannot be sorted, for the sort response control.
#[derive(Clone, Debug)]
pub(crate) struct SortRefusal {
    pub(crate) result: LdapResult,
    /// The attribute that causes it.
    pub(crate) attribute: Option<Vec<u8>>,
}

/// The position at which a search found an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryPosition {
    /// The number of the part.
    pub(crate) part: u16,
    /// The region of the part.
    pub(crate) region: u32,
    pub(crate) id: EntryId,
}

/// An entry to sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortItem {
    pub(crate) key: Box<[u8]>,
    pub(crate) at: EntryPosition,
}

/// The bytes of an item besides its key, with the overhead of the allocator.
const ITEM_BYTES: usize = size_of::<SortItem>() + 16;
/// The number of items in a run; sorting them takes about a millisecond.
const RUN_LEN: usize = 4096;

impl OrderingKey {
    /// Resolves the keys of a request.
    pub(crate) fn resolve_all(
        schema: &Schema,
        keys: &[SortKey<'_>],
        keys_max: usize,
    ) -> Result<Vec<OrderingKey>, SortRefusal> {
        if keys.len() > keys_max {
            let result = refuse(ResultCode::UnwillingToPerform, "Too many sort keys");
            return Err(SortRefusal {
                result,
                attribute: None,
            });
        }
        keys.iter()
            .map(|key| OrderingKey::resolve(schema, key))
            .collect()
    }

    fn resolve(schema: &Schema, key: &SortKey<'_>) -> Result<OrderingKey, SortRefusal> {
        let refusal = |code, text: &str| SortRefusal {
            result: refuse(code, format!("serverSort control: {text}")),
            attribute: Some(key.attribute.to_vec()),
        };
        let description = schema.describe(key.attribute).map_err(|_| {
            refusal(
                ResultCode::NoSuchAttribute,
                "Unrecognized attribute type in sort key",
            )
        })?;
        let kind = schema.attribute_at(description.attribute);
        let no_rule = || refusal(ResultCode::InappropriateMatching, "No ordering rule");
        let rule = match key.rule {
            None => kind.ordering,
            Some(name) => std::str::from_utf8(name)
                .ok()
                .and_then(MatchingRule::find)
                .filter(|rule| rule.orders()),
        };
        Ok(OrderingKey {
            description,
            rule: rule.ok_or_else(no_rule)?,
            reverse: key.reverse,
        })
    }

    /// Returns the component of a value that the client asserts. The empty value is less than all
    /// others.
    pub(crate) fn component_of(&self, schema: &Schema, value: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        if value.is_empty() {
            self.push(&mut out, Some(&[]));
            return Some(out);
        }
        let normal = self.rule.normalise_assertion(schema, value).ok()?;
        self.push(&mut out, Some(&normal));
        Some(out)
    }

    fn push(&self, out: &mut Vec<u8>, normal: Option<&[u8]>) {
        let start = out.len();
        match normal {
            None => out.push(0xff),
            Some(normal) => {
                out.push(1);
                for &byte in normal {
                    out.push(byte);
                    if byte == 0 {
                        out.push(0xff);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
        }
        if self.reverse {
            let component = out.get_mut(start..).unwrap_or_default();
            component.iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

/// Returns the sort key of an entry. Only `readable` values count, so that the order does not
/// reveal others.
pub(crate) fn key_of(
    keys: &[OrderingKey],
    requester: RequesterRights<'_>,
    view: &View<'_>,
    entry: &EntryView<'_>,
    readable: impl Fn(&AttributeDescription, &[u8]) -> bool,
) -> Result<Box<[u8]>, StoreError> {
    let schema = view.schema();
    let mut out = Vec::new();
    for key in keys {
        let computed = match requester.computed(&key.description) {
            Some(computed) => Some(computed.values(requester, view, entry.id())?),
            None => None,
        };
        let stored = entry.values(&key.description);
        let stored = stored.filter(|_| computed.is_none());
        let values = stored.iter().flat_map(|values| values.iter());
        let computed = computed.iter().flat_map(|values| values.as_slice());
        let smallest = values
            .chain(computed.map(Vec::as_slice))
            .filter(|value| readable(&key.description, value))
            .filter_map(|value| key.rule.normalise(schema, value).ok())
            .min();
        key.push(&mut out, smallest.as_deref());
    }
    Ok(out.into())
}

/// Returns the sort key of an entry that no store holds.
pub(crate) fn key_of_unstored(
    keys: &[OrderingKey],
    schema: &Schema,
    entry: &Entry,
    readable: impl Fn(&AttributeDescription, &[u8]) -> bool,
) -> Box<[u8]> {
    let mut out = Vec::new();
    for key in keys {
        let attributes = entry.attributes.iter();
        let covered = attributes.filter(|held| key.description.covers(schema, &held.description));
        let values = covered.flat_map(|held| {
            let projection = |value: &&Vec<u8>| readable(&held.description, value);
            held.values.iter().filter(projection)
        });
        let normal = values.filter_map(|value| key.rule.normalise(schema, value).ok());
        key.push(&mut out, normal.min().as_deref());
    }
    out.into()
}

/// Collects the entries to sort.
#[derive(Debug)]
pub(crate) struct Sorter {
    run: Vec<SortItem>,
    runs: Vec<Vec<SortItem>>,
    bytes_left: usize,
    len: usize,
}

impl Sorter {
    /// Makes a sorter; `bytes_max` bounds the memory of all items.
    pub(crate) fn new(bytes_max: usize) -> Sorter {
        Sorter {
            run: Vec::new(),
            runs: Vec::new(),
            bytes_left: bytes_max,
            len: 0,
        }
    }

    /// Adds an entry. Returns false if there is no room for it.
    pub(crate) fn push(&mut self, item: SortItem) -> bool {
        let bytes = item.key.len() + ITEM_BYTES;
        let Some(left) = self.bytes_left.checked_sub(bytes) else {
            return false;
        };
        self.bytes_left = left;
        self.len += 1;
        debug_assert!(self.run.len() < RUN_LEN, "a full run is closed");
        self.run.push(item);
        if self.run.len() >= RUN_LEN {
            self.close_run();
        }
        true
    }

    /// Returns the number of entries.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Begins to merge the runs.
    pub(crate) fn merge(mut self) -> Merge {
        self.close_run();
        let mut heap = BinaryHeap::with_capacity(self.runs.len());
        let mut runs: Vec<std::vec::IntoIter<SortItem>> =
            self.runs.into_iter().map(Vec::into_iter).collect();
        for (number, run) in runs.iter_mut().enumerate() {
            heap.extend(run.next().map(|item| Reverse((item, number))));
        }
        Merge {
            runs,
            heap,
            len: self.len,
        }
    }

    fn close_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        run.sort_unstable();
        if !run.is_empty() {
            self.runs.push(run);
        }
    }
}

/// The entries in their order.
#[derive(Debug)]
pub(crate) struct Merge {
    runs: Vec<std::vec::IntoIter<SortItem>>,
    heap: BinaryHeap<Reverse<(SortItem, usize)>>,
    len: usize,
}

impl Merge {
    /// Returns the number of all entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of remaining entries with a smaller key, by one binary search in each
    /// run.
    pub(crate) fn count_below(&self, key: &[u8]) -> usize {
        let waiting = self.runs.iter().map(|run| {
            run.as_slice()
                .partition_point(|item| item.key.as_ref() < key)
        });
        let heads = self.heap.iter();
        waiting.sum::<usize>()
            + heads
                .filter(|Reverse((item, _))| item.key.as_ref() < key)
                .count()
    }

    /// Returns the number of remaining entries up to and including `last`.
    pub(crate) fn count_through(&self, last: &SortItem) -> usize {
        let waiting = self
            .runs
            .iter()
            .map(|run| run.as_slice().partition_point(|item| item <= last));
        let heads = self.heap.iter();
        waiting.sum::<usize>() + heads.filter(|Reverse((item, _))| item <= last).count()
    }
}

impl Iterator for Merge {
    type Item = SortItem;

    fn next(&mut self) -> Option<SortItem> {
        let Reverse((item, number)) = self.heap.pop()?;
        if let Some(next) = self.runs.get_mut(number).and_then(Iterator::next) {
            self.heap.push(Reverse((next, number)));
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(key: &[u8], id: u64) -> SortItem {
        SortItem {
            key: key.into(),
            at: EntryPosition {
                id: EntryId(id),
                ..EntryPosition::default()
            },
        }
    }

    fn key(name: &str, reverse: bool) -> OrderingKey {
        let schema = Schema::standard();
        let asked = SortKey {
            attribute: name.as_bytes(),
            rule: Some(b"caseIgnoreOrderingMatch"),
            reverse,
        };
        OrderingKey::resolve(&schema, &asked).expect(name)
    }

    proptest! {
        #[test]
        fn components_compare_as_values_do(
            a in prop::option::of(prop::collection::vec(0_u8..3, 0..4)),
            b in prop::option::of(prop::collection::vec(0_u8..3, 0..4)),
            next in any::<bool>(),
        ) {
            let component = |key: &OrderingKey, value: &Option<Vec<u8>>, next: u8| {
                let mut out = Vec::new();
                key.push(&mut out, value.as_deref());
                out.push(next);
                out
            };
            // A missing value is the largest, but `None` is the smallest in Rust.
            let expected = match (&a, &b) {
                (Some(a), Some(b)) => a.cmp(b),
                (a, b) => b.is_some().cmp(&a.is_some()),
            };
            let (first, second) = (u8::from(next), u8::from(!next));
            for (key, expected) in [(key("sn", false), expected), (key("sn", true), expected.reverse())] {
                let order = component(&key, &a, first).cmp(&component(&key, &b, second));
                prop_assert_eq!(order, expected.then(first.cmp(&second)));
            }
        }

        #[test]
        fn merging_runs_sorts(keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3), 0..300)) {
            let mut sorter = Sorter::new(usize::MAX);
            let items: Vec<SortItem> = keys.iter().zip(1..).map(|(key, id)| item(key, id)).collect();
            for (number, one) in items.iter().enumerate() {
                prop_assert!(sorter.push(one.clone()));
                if number % 7 == 6 {
                    sorter.close_run();
                }
            }
            let mut sorted = items.clone();
            sorted.sort();
            let mut merge = sorter.merge();
            prop_assert_eq!(merge.len(), items.len());
            let middle = items.len() / 3;
            let first: Vec<SortItem> = merge.by_ref().take(middle).collect();
            for probe in &items {
                let below = sorted.iter().skip(middle).filter(|item| item.key < probe.key).count();
                prop_assert_eq!(merge.count_below(&probe.key), below);
                let through = sorted.iter().skip(middle).filter(|item| *item <= probe).count();
                prop_assert_eq!(merge.count_through(probe), through);
            }
            prop_assert_eq!(first.into_iter().chain(merge).collect::<Vec<_>>(), sorted);
        }
    }

    #[test]
    fn a_sorter_has_room_up_to_its_limit() {
        let mut sorter = Sorter::new(2 * (ITEM_BYTES + 3));
        assert!(sorter.push(item(b"abc", 1)) && sorter.push(item(b"abd", 2)));
        assert!(!sorter.push(item(b"", 3)));
        assert_eq!(sorter.merge().len(), 2);
    }

    #[test]
    fn invalid_sort_keys_are_refused() {
        let schema = Schema::standard();
        let code = |attribute: &str, rule: Option<&str>| {
            let asked = SortKey {
                attribute: attribute.as_bytes(),
                rule: rule.map(str::as_bytes),
                reverse: false,
            };
            let resolved = OrderingKey::resolve_all(&schema, &[asked], 1);
            resolved.map(drop).map_err(|refusal| refusal.result.code)
        };
        assert_eq!(code("createTimestamp", None), Ok(()));
        assert_eq!(code("sn", Some("2.5.13.3")), Ok(()));
        assert_eq!(code("sn", Some("caseExactOrderingMatch")), Ok(()));
        assert_eq!(code("sn", Some("caseIgnoreMatch")), Ok(()));
        let none = Err(ResultCode::InappropriateMatching);
        assert_eq!(code("jpegPhoto", None), none);
        assert_eq!(code("sn", Some("caseIgnoreSubstringsMatch")), none);
        assert_eq!(code("sn", Some("nope")), none);
        assert_eq!(code("nope", None), Err(ResultCode::NoSuchAttribute));
        let twice = [SortKey {
            attribute: b"sn",
            rule: None,
            reverse: false,
        }; 2];
        let many = OrderingKey::resolve_all(&schema, &twice, 1).expect_err("one key is allowed");
        assert_eq!(many.result.code, ResultCode::UnwillingToPerform);
    }
}
