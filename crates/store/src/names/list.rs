//! The value of a name list: children of one parent whose RDNs share a hash.

use crate::bytes::{take, u32_at, u64_at};
use crate::error::Damage;
use crate::ids::EntryId;

/// Iterator over one list.
pub(crate) struct NameList<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for NameList<'a> {
    type Item = Result<(EntryId, &'a [u8]), Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let item = self.read();
        if item.is_none() {
            self.0 = &[];
        }
        Some(item.ok_or(Damage::Names))
    }
}

impl<'a> NameList<'a> {
    fn read(&mut self) -> Option<(EntryId, &'a [u8])> {
        let head = take(&mut self.0, 12)?;
        let rdn = take(&mut self.0, u32_at(head, 8)? as usize)?;
        Some((EntryId(u64_at(head, 0)?), rdn))
    }
}

/// Returns the child of this RDN.
pub(crate) fn find(list: &[u8], rdn_normal: &[u8]) -> Result<Option<EntryId>, Damage> {
    for item in NameList(list) {
        let (id, rdn) = item?;
        if rdn == rdn_normal {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Returns the list with one more child.
pub(crate) fn with(list: &[u8], id: EntryId, rdn_normal: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(list.len() + 12 + rdn_normal.len());
    out.extend_from_slice(list);
    out.extend_from_slice(&id.0.to_le_bytes());
    out.extend_from_slice(
        &u32::try_from(rdn_normal.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes(),
    );
    out.extend_from_slice(rdn_normal);
    out
}

/// Returns the list without a child; it is empty if the child was the only one.
pub(crate) fn without(list: &[u8], id: EntryId) -> Result<Vec<u8>, Damage> {
    let mut out = Vec::new();
    for item in NameList(list) {
        let (other, rdn) = item?;
        if other != id {
            out = with(&out, other, rdn);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn children_are_added_and_removed() {
        let long = vec![b'x'; 100_000];
        let list = with(&with(&[], EntryId(5), b"uid=a"), EntryId(9), &long);
        assert_eq!(find(&list, b"uid=a"), Ok(Some(EntryId(5))));
        assert_eq!(find(&list, &long), Ok(Some(EntryId(9))));
        assert_eq!(find(&list, b"uid=b"), Ok(None));
        let list = without(&list, EntryId(5)).unwrap();
        assert_eq!(find(&list, b"uid=a"), Ok(None));
        assert_eq!(find(&list, &long), Ok(Some(EntryId(9))));
        assert!(without(&list, EntryId(9)).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn damage_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let items: Result<Vec<_>, _> = NameList(&bytes).collect();
            if let Ok(items) = items {
                let mut again = Vec::new();
                for (id, rdn) in items {
                    again = with(&again, id, rdn);
                }
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
