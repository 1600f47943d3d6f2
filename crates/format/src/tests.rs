//! Views over bytes that are right, cut short, and plain noise.

use crate::{
    DatabaseFlags, FreeRecord, Malformed, Meta, MetaError, NodeFlags, NodeValue, OverflowHeader,
    Page, PageKind, PageMut, Pgno, TreeRecord, Txnid, copy_without_gap, layout, new_sub_page,
    overflow_pages, sub_page_with, sub_page_without, wipe_gap,
};

const PAGE: usize = 512;

fn leaf_page(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0xee; PAGE];
    let mut page = PageMut::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
    for (index, (key, value)) in entries.iter().enumerate() {
        assert!(
            page.insert(index, key, NodeValue::Data(value, NodeFlags(0)))
                .unwrap()
        );
    }
    bytes
}

fn view(bytes: &[u8]) -> Result<Page<'_>, Malformed> {
    Page::parse(bytes, Pgno(7), PageKind::Leaf)
}

#[test]
fn sizes_are_those_of_the_format() {
    let table = [
        (256, 118),
        (512, 246),
        (1024, 502),
        (2048, 1014),
        (4096, 2038),
        (8192, 4086),
        (16384, 8182),
        (32768, 16374),
    ];
    for (page_size, node_max) in table {
        assert_eq!(layout::node_max(page_size), node_max);
    }
    assert_eq!(layout::key_max(4096), 511);
    assert_eq!(overflow_pages(4080, 4096), 1);
    assert_eq!(overflow_pages(4081, 4096), 2);
}

#[test]
fn entries_come_back_in_order() {
    let bytes = leaf_page(&[(b"a", b"one"), (b"bb", b""), (b"ccc", b"three")]);
    let page = view(&bytes).unwrap();
    assert_eq!(page.len(), 3);
    let all: Vec<_> = (0..3)
        .map(|index| page.leaf(index).unwrap())
        .map(|node| (node.key, node.data))
        .collect();
    assert_eq!(
        all,
        [(&b"a"[..], &b"one"[..]), (b"bb", b""), (b"ccc", b"three")]
    );
    assert_eq!(page.used_space(), 3 * 2 + 12 + 10 + 16);
    page.check_nodes().unwrap();
}

#[test]
fn a_page_is_laid_out_byte_by_byte_as_the_format_says() {
    let bytes = leaf_page(&[(b"key", b"value")]);
    assert_eq!(
        bytes[..16],
        [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 18, 0, 240, 1]
    );
    assert_eq!(bytes[16..18], [240, 1]);
    assert_eq!(bytes[496..], *b"\x05\0\0\0\0\0\x03\0keyvalue");
}

#[test]
fn removing_closes_the_gap() {
    let mut bytes = leaf_page(&[(b"a", b"one"), (b"b", b"second"), (b"c", b"three")]);
    let before = view(&bytes).unwrap().free_space();
    let mut page = PageMut::parse(&mut bytes, Pgno(7), PageKind::Leaf).unwrap();
    page.remove(1).unwrap();
    assert_eq!(page.remove(2), Err(Malformed::Node(2)));
    let page = view(&bytes).unwrap();
    page.check_nodes().unwrap();
    assert_eq!(page.free_space(), before + 2 + 16);
    assert_eq!(page.leaf(1).unwrap().data, b"three");
}

#[test]
fn a_full_page_refuses_and_stays_as_it_is() {
    let mut bytes = leaf_page(&[(b"a", &[1; 200]), (b"b", &[2; 200])]);
    let before = bytes.clone();
    let mut page = PageMut::parse(&mut bytes, Pgno(7), PageKind::Leaf).unwrap();
    assert!(
        !page
            .insert(1, b"c", NodeValue::Data(&[3; 100], NodeFlags(0)))
            .unwrap()
    );
    assert_eq!(
        page.insert(3, b"c", NodeValue::Reserved(1)),
        Err(Malformed::Node(3))
    );
    assert_eq!(bytes, before);
}

#[test]
fn contradictory_headers_are_refused() {
    let good = leaf_page(&[(b"a", b"one")]);
    let with = |at: usize, value: [u8; 2]| {
        let mut bytes = good.clone();
        bytes[at..at + 2].copy_from_slice(&value);
        view(&bytes).err()
    };
    assert_eq!(with(0, [8, 0]), Some(Malformed::Number(Pgno(8))));
    assert!(matches!(
        with(10, [1, 0]),
        Some(Malformed::Kind { found: 1, .. })
    ));
    assert!(matches!(with(10, [0x22, 0]), Some(Malformed::Kind { .. })));
    assert_eq!(
        with(10, [0x12, 0]),
        None,
        "the memory-only dirty mark is ignored"
    );
    for lower in [0, 15, 17, 600, 65534_u16] {
        assert!(
            matches!(
                with(12, lower.to_le_bytes()),
                Some(Malformed::Bounds { .. })
            ),
            "lower {lower}"
        );
    }
    assert!(matches!(
        with(14, 513_u16.to_le_bytes()),
        Some(Malformed::Bounds { .. })
    ));
    for len in 0..16 {
        assert_eq!(view(&good[..len]).err(), Some(Malformed::Truncated));
    }
}

#[test]
fn contradictory_nodes_are_refused() {
    let good = leaf_page(&[(b"a", b"one"), (b"b", b"two")]);
    let with = |at: usize, value: [u8; 2]| {
        let mut bytes = good.clone();
        bytes[at..at + 2].copy_from_slice(&value);
        let page = view(&bytes).unwrap();
        (0..page.len()).find_map(|index| page.leaf(index).err())
    };
    assert_eq!(
        with(16, 511_u16.to_le_bytes()),
        Some(Malformed::Node(0)),
        "odd"
    );
    assert_eq!(
        with(16, 2_u16.to_le_bytes()),
        Some(Malformed::Node(0)),
        "in the header"
    );
    assert_eq!(
        with(16, 510_u16.to_le_bytes()),
        Some(Malformed::Node(0)),
        "header leaves the page"
    );
    let node = PAGE - 12;
    assert_eq!(
        with(node, [0xff, 0xff]),
        Some(Malformed::Node(0)),
        "data leaves the page"
    );
    assert!(matches!(
        with(node + 4, [0xf8, 0xff]),
        Some(Malformed::NodeFlags { .. })
    ));
    assert!(matches!(
        with(node + 6, [0, 0]),
        Some(Malformed::KeyLength { len: 0, .. })
    ));
    assert!(matches!(
        with(node + 6, [0xff, 0xff]),
        Some(Malformed::KeyLength { .. })
    ));
}

#[test]
fn tree_records_and_meta_pages_round_trip() {
    let record = TreeRecord {
        pad: 4096,
        flags: DatabaseFlags(8),
        depth: 3,
        branch_pages: 1,
        leaf_pages: 2,
        overflow_pages: 3,
        entries: 4,
        root: Pgno(5),
    };
    assert_eq!(TreeRecord::read(&record.to_bytes()), Some(record));
    assert_eq!(TreeRecord::read(&record.to_bytes()[..47]), None);
    let meta = Meta {
        map_address: 0,
        map_size: 1 << 20,
        free: record,
        main: TreeRecord::empty(DatabaseFlags(0)),
        last: Pgno(9),
        txnid: Txnid(12),
    };
    let page = meta.to_page(Pgno(1));
    assert_eq!(page.len(), 4096);
    assert_eq!(Meta::read(&page), Ok(meta));
    assert_eq!(page[16..20], [0xde, 0xc0, 0xef, 0xbe]);
    assert_eq!(page[Meta::COMMIT_AT..Meta::LEN], meta.to_commit_bytes());
    meta.check().unwrap();
    for len in 0..Meta::LEN {
        assert_eq!(Meta::read(&page[..len]), Err(MetaError::Foreign));
    }
    let mut other = page.clone();
    other[20] = 2;
    assert_eq!(Meta::read(&other), Err(MetaError::Version(2)));
}

#[test]
fn metas_that_contradict_themselves_are_refused() {
    let mut free = TreeRecord::empty(DatabaseFlags(8));
    free.pad = 4096;
    let good = Meta {
        map_address: 0,
        map_size: 1 << 20,
        free,
        main: TreeRecord::empty(DatabaseFlags(0)),
        last: Pgno(1),
        txnid: Txnid(0),
    };
    good.check().unwrap();
    let root = |root, depth| TreeRecord {
        root: Pgno(root),
        depth,
        ..good.main
    };
    assert!(
        Meta {
            last: Pgno(0),
            ..good
        }
        .check()
        .is_err()
    );
    assert!(
        Meta {
            last: Pgno(1 << 60),
            ..good
        }
        .check()
        .is_err()
    );
    assert!(
        Meta {
            main: root(5, 1),
            ..good
        }
        .check()
        .is_err(),
        "root behind the last page"
    );
    assert!(
        Meta {
            main: root(1, 1),
            last: Pgno(9),
            ..good
        }
        .check()
        .is_err(),
        "root is a meta page"
    );
    assert!(
        Meta {
            main: root(5, 0),
            last: Pgno(9),
            ..good
        }
        .check()
        .is_err(),
        "root without depth"
    );
    assert!(
        Meta {
            main: root(5, 60_000),
            last: Pgno(9),
            ..good
        }
        .check()
        .is_err()
    );
    assert!(
        Meta {
            main: root(u64::MAX, 1),
            ..good
        }
        .check()
        .is_err(),
        "depth without root"
    );
}

#[test]
fn free_records_are_checked() {
    let mut value = [0xff; 64];
    FreeRecord::write(&mut value, &[Pgno(9), Pgno(5), Pgno(2)]).unwrap();
    let record = FreeRecord::parse(&value, Pgno(9)).unwrap();
    assert_eq!(
        record.iter().collect::<Vec<_>>(),
        [Pgno(9), Pgno(5), Pgno(2)]
    );
    assert_eq!(value[32..], [0; 32], "what was reserved too much is zero");
    assert!(
        FreeRecord::parse(&value, Pgno(8)).is_err(),
        "behind the last page"
    );
    assert!(
        FreeRecord::parse(&value[..31], Pgno(9)).is_err(),
        "cut short"
    );
    let list = |numbers: &[u64]| {
        let words = std::iter::once(numbers.len() as u64).chain(numbers.iter().copied());
        words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
    };
    for wrong in [&[5, 5][..], &[4, 5], &[5, 1], &[5, 0]] {
        assert!(
            FreeRecord::parse(&list(wrong), Pgno(9)).is_err(),
            "{wrong:?}"
        );
    }
    assert!(FreeRecord::parse(&u64::MAX.to_le_bytes(), Pgno(9)).is_err());
    assert!(FreeRecord::parse(&list(&[]), Pgno(9)).unwrap().is_empty());
}

#[test]
fn overflow_runs_are_checked() {
    let mut bytes = vec![0; PAGE];
    crate::write_overflow_header(&mut bytes, Pgno(4), 3);
    let parse = |len, last| OverflowHeader::parse(&bytes, Pgno(4), PAGE, len, Pgno(last));
    assert_eq!(parse(1520, 6), Ok(OverflowHeader { pages: 3 }));
    assert_eq!(
        parse(1521, 6),
        Err(Malformed::Overflow { pages: 3 }),
        "too short for the value"
    );
    assert_eq!(
        parse(100, 5),
        Err(Malformed::Overflow { pages: 3 }),
        "reaches behind the last page"
    );
    assert!(OverflowHeader::parse(&bytes, Pgno(5), PAGE, 1, Pgno(9)).is_err());
}

/// On any bytes, every function answers and none panics.
#[test]
fn noise_never_panics() {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let good = leaf_page(&[
        (b"alpha", b"one"),
        (b"beta", &[2; 100]),
        (b"gamma", &[3; 60]),
        (b"delta", b""),
    ]);
    let rounds = if cfg!(miri) { 60 } else { 60_000 };
    for _ in 0..rounds {
        let mut bytes = good.clone();
        for _ in 0..1 + random() % 6 {
            let at = random() as usize % if random() % 2 == 0 { 24 } else { PAGE };
            bytes[at] = random() as u8;
        }
        for kind in [PageKind::Leaf, PageKind::Branch] {
            bytes[10] = kind.flag() as u8;
            bytes[11] = 0;
            if let Ok(page) = Page::parse(&bytes, Pgno(7), kind) {
                let _ = page.check_nodes();
                for index in 0..page.len() + 1 {
                    let _ = (
                        page.leaf(index),
                        page.key(index),
                        page.child(index),
                        page.node_bytes(index),
                    );
                }
            }
            if let Ok(mut page) = PageMut::parse(&mut bytes, Pgno(7), kind) {
                let index = random() as usize % 5;
                let _ = page.remove(index);
                let _ = page.insert(index, b"new", NodeValue::Reserved(10));
                let _ = page.set_child(index, Pgno(3));
                let _ = page.into_data(index);
            }
        }
        let _ = Meta::read(&bytes).map(|meta| meta.check());
        let _ = FreeRecord::parse(&bytes, Pgno(9));
        let _ = OverflowHeader::parse(&bytes, Pgno(7), PAGE, random() as usize % 9999, Pgno(9));
    }
}

#[test]
fn lock_files_of_any_length_have_a_number_of_slots() {
    use crate::lockfile::{LEN_MIN, SLOT_LEN, len_for, slots_in};
    assert_eq!(slots_in(LEN_MIN), 1);
    assert_eq!(slots_in(LEN_MIN + SLOT_LEN as u64 - 1), 1);
    assert_eq!(slots_in(len_for(126) as u64), 126);
    assert_eq!(slots_in(len_for(u32::MAX) as u64), u32::MAX);
    assert_eq!(
        slots_in(len_for(u32::MAX) as u64 + SLOT_LEN as u64),
        u32::MAX
    );
    assert_eq!(slots_in(u64::MAX), u32::MAX);
}

#[test]
fn a_copy_without_the_gap_has_all_entries_and_the_gap_can_be_wiped() {
    let mut bytes = leaf_page(&[(b"a", b"one"), (b"bb", b""), (b"ccc", b"three")]);
    let (lower, upper) = (16 + 2 * 3, view(&bytes).unwrap().upper());
    // The remains of a deleted record.
    bytes[lower..upper].fill(0xaa);
    let mut copy = vec![0xbb; PAGE];
    copy_without_gap(&bytes, &mut copy);
    assert_eq!(copy[..lower], bytes[..lower]);
    assert_eq!(copy[upper..], bytes[upper..]);
    let gap = lower.next_multiple_of(8)..upper & !7;
    assert!(copy[gap.clone()].iter().all(|byte| *byte == 0xbb));
    wipe_gap(&mut copy);
    assert_eq!(copy[..lower], bytes[..lower]);
    assert_eq!(copy[upper..], bytes[upper..]);
    assert!(copy[gap].iter().all(|byte| *byte == 0));
    view(&copy).unwrap().check_nodes().unwrap();
    // Packed items precede the gap, and a page that makes no sense is copied whole.
    let mut packed = vec![0; PAGE];
    let kind = PageKind::Packed(5);
    let mut page = PageMut::initialise(&mut packed, Pgno(7), kind);
    for index in 0..3 {
        assert!(page.insert_node(index, b"items").unwrap());
    }
    copy_without_gap(&packed, &mut copy);
    assert_ne!(copy, packed);
    wipe_gap(&mut copy);
    assert_eq!(copy, packed);
    let noise: Vec<u8> = (0..PAGE).map(|at| at as u8 | 1).collect();
    copy_without_gap(&noise, &mut copy);
    assert_eq!(copy, noise);
    wipe_gap(&mut copy);
    assert_eq!(copy, noise);
}

#[test]
fn sub_pages_with_one_item_more_or_less_are_as_long_as_they_need() {
    let items: [&[u8]; 4] = [b"a", b"bbb", b"cc", b"ddddd"];
    let kind = PageKind::Leaf;
    let found = |bytes: &[u8]| {
        let page = Page::parse_sub(bytes).unwrap();
        page.check_nodes().unwrap();
        assert_eq!(page.free_space(), 0);
        let keys = (0..page.len()).map(|index| page.key(index).unwrap().to_vec());
        keys.collect::<Vec<_>>()
    };
    let whole = new_sub_page(Pgno(7), kind, &items).unwrap();
    // The original leaves room in some, and so did a deletion.
    let mut slack = whole.clone();
    PageMut::parse_sub(&mut slack).unwrap().remove(1).unwrap();
    for bytes in [whole, slack] {
        let all = found(&new_sub_page(Pgno(7), kind, &keys_of(&bytes)).unwrap());
        let page = Page::parse_sub(&bytes).unwrap();
        for index in 0..=all.len() {
            let more = sub_page_with(Pgno(9), &page, index, b"new item").unwrap();
            let mut wanted = all.clone();
            wanted.insert(index, b"new item".to_vec());
            assert_eq!(found(&more), wanted);
            assert_eq!(more[..8], 9u64.to_le_bytes());
        }
        for index in 0..all.len() {
            let less = sub_page_without(Pgno(9), &page, index).unwrap();
            let mut wanted = all.clone();
            wanted.remove(index);
            assert_eq!(found(&less), wanted);
        }
        assert!(sub_page_with(Pgno(9), &page, all.len() + 1, b"new").is_err());
        assert!(sub_page_without(Pgno(9), &page, all.len()).is_err());
    }
}

/// The items of a sub-page.
fn keys_of(bytes: &[u8]) -> Vec<&[u8]> {
    let page = Page::parse_sub(bytes).unwrap();
    (0..page.len())
        .map(|index| page.key(index).unwrap())
        .collect()
}
