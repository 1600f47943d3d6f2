use super::position::CHUNK_IDS;
use super::*;
use crate::ids::EntryId;
use proptest::prelude::*;
use std::collections::BTreeSet;

const IDS: u16 = CHUNK_IDS as u16;

/// Makes sparse positions, runs and dense noise, so that all three kinds of chunk occur.
fn positions() -> impl Strategy<Value = BTreeSet<u16>> {
    prop_oneof![
        prop::collection::btree_set(0..IDS, 0..40),
        prop::collection::vec((0..IDS, 0_u16..900), 1..5).prop_map(|runs| runs
            .iter()
            .flat_map(|(a, n)| *a..(*a + *n).min(IDS))
            .collect()),
        any::<u64>().prop_map(|seed| (0..IDS)
            .filter(|p| (u64::from(*p) + 1)
                .wrapping_mul(seed | 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                >> 63
                == 0)
            .collect()),
    ]
}

fn bits(set: &BTreeSet<u16>) -> Bitmap {
    let mut bits = Bitmap::new();
    for low in set {
        assert!(bits.insert(*low));
    }
    bits
}

fn set(bits: &Bitmap) -> BTreeSet<u16> {
    bits.iter().collect()
}

proptest! {
    #[test]
    fn members_are_the_positions_of_the_chunk(a in positions(), asked in positions()) {
        prop_assume!(!a.is_empty());
        let mut bytes = Vec::new();
        encode(&bits(&a), &mut bytes);
        let mut members = Chunk::parse(&bytes).unwrap().members();
        for low in &asked | &a {
            prop_assert_eq!(members.contains(low), a.contains(&low), "{}", low);
        }
        let mut members = Chunk::parse(&bytes).unwrap().members();
        for low in &asked {
            prop_assert_eq!(members.contains(*low), a.contains(low), "{}", low);
        }
    }

    #[test]
    fn positions_of_two_chunks_meet_as_sets(a in positions(), b in positions()) {
        prop_assume!(!a.is_empty() && !b.is_empty());
        let (mut a_bytes, mut b_bytes) = (Vec::new(), Vec::new());
        encode(&bits(&a), &mut a_bytes);
        encode(&bits(&b), &mut b_bytes);
        let mut met = Vec::new();
        Chunk::parse(&a_bytes).unwrap().positions(&mut met).unwrap();
        prop_assert_eq!(&met, &a.iter().copied().collect::<Vec<_>>());
        Chunk::parse(&b_bytes).unwrap().retain(&mut met);
        prop_assert_eq!(met, a.intersection(&b).copied().collect::<Vec<_>>());
    }

    #[test]
    fn bitmaps_combine_as_sets(a in positions(), b in positions()) {
        let with = |f: fn(&mut Bitmap, &Bitmap)| {
            let mut left = bits(&a);
            f(&mut left, &bits(&b));
            set(&left)
        };
        prop_assert_eq!(with(Bitmap::and), a.intersection(&b).copied().collect::<BTreeSet<_>>());
        prop_assert_eq!(with(Bitmap::or), a.union(&b).copied().collect::<BTreeSet<_>>());
        prop_assert_eq!(with(Bitmap::and_not), a.difference(&b).copied().collect::<BTreeSet<_>>());
        let left = bits(&a);
        prop_assert_eq!(left.len(), a.len());
        prop_assert_eq!(left.is_empty(), a.is_empty());
        prop_assert_eq!(left.runs(), a.iter().filter(|p| **p == 0 || !a.contains(&(**p - 1))).count());
        for from in [0, 1, 63, 64, 65, 4000, CHUNK_IDS - 1, CHUNK_IDS] {
            prop_assert_eq!(left.next(from), a.range(from as u16..).next().copied());
            prop_assert_eq!(left.next_gap(from), (from..CHUNK_IDS).find(|p| !a.contains(&(*p as u16))).unwrap_or(CHUNK_IDS));
        }
    }

    #[test]
    fn chunks_keep_their_ids_in_the_shortest_form(a in positions(), b in positions()) {
        let mut bytes = Vec::new();
        encode(&bits(&a), &mut bytes);
        if a.is_empty() {
            prop_assert!(bytes.is_empty());
            return Ok(());
        }
        let chunk = Chunk::parse(&bytes).unwrap();
        prop_assert_eq!(chunk.len(), a.len());
        let mut read = bits(&b);
        chunk.or_into(&mut read).unwrap();
        prop_assert_eq!(set(&read), a.union(&b).copied().collect::<BTreeSet<_>>());
        let mut visited = Vec::new();
        chunk.for_each(|low| visited.push(low)).unwrap();
        prop_assert_eq!(visited, a.iter().copied().collect::<Vec<_>>());
        let with_head = 3 + (bits(&a).runs() * 4).min(CHUNK_IDS / 8);
        prop_assert_eq!(bytes.len(), with_head.min(a.len() * 2));
        let mut sorted = Vec::new();
        encode_sorted(&a.iter().copied().collect::<Vec<_>>(), &mut sorted);
        prop_assert_eq!(sorted, bytes);
    }

    #[test]
    fn damaged_chunks_never_panic(a in positions(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let mut bytes = Vec::new();
        encode(&bits(&a), &mut bytes);
        prop_assume!(!bytes.is_empty());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            if let Ok(chunk) = Chunk::parse(bytes) {
                let mut bits = Bitmap::new();
                let mut visited = Vec::new();
                let read = chunk.for_each(|low| visited.push(low));
                // A bitmap accepts an array out of order; nothing else differs.
                if chunk.or_into(&mut bits).is_err() {
                    prop_assert!(read.is_err());
                } else if read.is_ok() {
                    prop_assert_eq!(visited, bits.iter().collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn edited_chunks_are_those_of_the_edited_set(a in positions(), edits in prop::collection::vec((0..IDS, any::<bool>()), 0..90), near: bool) {
        let (mut before, mut edited) = (Vec::new(), Vec::new());
        encode(&bits(&a), &mut before);
        // Half of the edits are next to stored positions, so that runs grow, split and join.
        let edits: Vec<(u16, bool)> = edits.into_iter().map(|(low, present)| match a.range(low..).next() {
            Some(there) if near => (there.saturating_sub(low % 3), present),
            _ => (low, present),
        }).collect();
        let mut expected = a;
        for (low, present) in &edits {
            if *present { expected.insert(*low); } else { expected.remove(low); }
        }
        edit(Some(&before[..]).filter(|before| !before.is_empty()), &edits, &mut edited).unwrap();
        if expected.is_empty() {
            prop_assert_eq!(edited, Vec::<u8>::new());
        } else {
            let mut found = Bitmap::new();
            let chunk = Chunk::parse(&edited).unwrap();
            chunk.or_into(&mut found).unwrap();
            prop_assert_eq!(chunk.len(), expected.len());
            let mut shortest = Vec::new();
            encode(&bits(&expected), &mut shortest);
            prop_assert!(edited == shortest || edited.len() == 3 + CHUNK_IDS / 8);
            prop_assert_eq!(set(&found), expected);
        }
    }

    #[test]
    fn damaged_chunks_are_not_edited_with_panic(a in positions(), at: prop::sample::Index, byte: u8, low in 0..IDS, present: bool) {
        let mut bytes = Vec::new();
        encode(&bits(&a), &mut bytes);
        prop_assume!(!bytes.is_empty());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let mut edited = Vec::new();
        if edit(Some(&bytes), &[(low, present)], &mut edited).is_ok() && !edited.is_empty() {
            prop_assert!(Chunk::parse(&edited).is_ok());
        }
    }

    #[test]
    fn id_sets_are_sets(ids in prop::collection::btree_set(0_u64..100_000, 0..200)) {
        let mut owned = IdSet::default();
        ids.iter().for_each(|id| owned.insert(EntryId(*id)));
        prop_assert_eq!(owned.len(), ids.len() as u64);
        prop_assert_eq!(owned.next_chunk(0), ids.first().map(|id| split(EntryId(*id)).0));
        prop_assert_eq!(owned.iter().map(|id| id.0).collect::<BTreeSet<_>>(), ids);
    }
}

#[test]
fn headers_count_for_the_shortest_form() {
    // (positions, bytes): runs have a header of three bytes, the array has none.
    for (positions, len) in [(&[5, 6, 7][..], 6), (&[5, 6, 7, 8], 7)] {
        let (mut by_bits, mut sorted, mut edited) = (Vec::new(), Vec::new(), Vec::new());
        encode(&bits(&positions.iter().copied().collect()), &mut by_bits);
        encode_sorted(positions, &mut sorted);
        for (at, low) in positions.iter().enumerate() {
            let mut before = Vec::new();
            encode_sorted(&positions[..at], &mut before);
            let before = Some(&before[..]).filter(|before| !before.is_empty());
            edit(before, &[(*low, true)], &mut edited).unwrap();
        }
        assert_eq!(by_bits.len(), len);
        assert_eq!((&sorted, &edited), (&by_bits, &by_bits));
    }
}

#[test]
fn ids_split_and_join() {
    for id in [0, 1, 8191, 8192, 8193, 1 << 40] {
        let (chunk, low) = split(EntryId(id));
        assert_eq!(join(chunk, low), EntryId(id));
    }
}
