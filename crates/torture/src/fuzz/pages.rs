//! Single structures of a data file.

use fulgurite_format::{
    FreeRecord, LexicalKey, META_PAGES, Meta, NodeFlags, NodeValue, OverflowHeader, Page, PageKind,
    PageMut, Pgno, TREE_RECORD_LEN, TreeRecord, new_sub_page, sub_page_with, sub_page_without,
};

use super::Bytes;

const PGNO: Pgno = Pgno(7);

/// Any bytes as a tree page: everything that can be asked of it, then changes.
pub fn page_views(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let kind = match input.below(4) {
        0 => PageKind::Branch,
        1 => PageKind::Packed(8 + u16::from(input.octet())),
        _ => PageKind::Leaf,
    };
    let page_size = [256, 512, 1024, 4096][input.below(4)];
    let changes = input.take(24);
    let mut page = input.0.to_vec();
    page.resize(page_size, 0);
    if let Ok(view) = Page::parse_sub(&page) {
        look(&view);
        rebuild(&view);
    }
    if let Ok(view) = Page::parse(&page, PGNO, kind) {
        look(&view);
        change(&mut page, kind, changes);
    }
}

fn look(page: &Page<'_>) {
    let _ = (page.free_space(), page.used_space());
    let all_sound = page.check_nodes().is_ok();
    for index in 0..page.len() + 2 {
        let key = page.key(index);
        if all_sound && index < page.len() {
            key.as_ref().expect("a node that was checked");
        }
        if let Some(entry) = page.from_entry(index) {
            let _ = Page::entry_key(entry);
        }
        let leaf = page.leaf(index);
        if let Ok(leaf) = &leaf {
            assert_eq!(key, Ok(leaf.key));
            let _ = leaf.overflow();
            if let Ok(sub) = Page::parse_sub(leaf.data) {
                let _ = sub.check_nodes();
            }
        }
        if let Some((key, value)) = page.plain_record(index) {
            let leaf = leaf.expect("a record without a node");
            assert_eq!((key, value), (leaf.key, leaf.data));
        }
        let _ = (page.child(index), page.node_flags(index));
        if let Ok(octets) = page.node_bytes(index) {
            assert_eq!(page.node_len(index), Ok(octets.len()));
        }
    }
    let _ = page.packed_items();
    for wanted in [&b""[..], b"\x80", &[0xff; 60]] {
        let found = page.search(0, |key| key.cmp(wanted));
        if let Ok(found) = found {
            let _ = format!("{found:?}");
        }
        let sought = LexicalKey::of(wanted);
        let place = page.position_of(0, &sought);
        assert!(place.is_none_or(|(index, _)| index <= page.len()));
        let child = page.branch_for(&sought);
        let _ = child.map(|index| page.child_if_sound(index));
        if let Some(mut among) = page.among(0) {
            while page.halve(&mut among, &sought) {}
            assert_eq!(page.narrow(0, &sought), Some(page.narrowed(among)));
        }
    }
}

/// A sub-page grows and shrinks into another; a sound one into a sound one.
fn rebuild(page: &Page<'_>) {
    let is_sound = page.check_nodes().is_ok();
    let Ok(item) = page.key(0) else { return };
    let item = item.to_vec();
    let _ = new_sub_page(PGNO, page.kind(), &[&item, &item]);
    for octets in [
        sub_page_with(PGNO, page, page.len() / 2, &item),
        sub_page_without(PGNO, page, page.len() / 2),
    ]
    .into_iter()
    .flatten()
    {
        let again = Page::parse_sub(&octets).expect("a sub-page of our own");
        if is_sound {
            again.check_nodes().expect("nodes of our own");
        }
        assert_eq!(page.len().abs_diff(again.len()), 1);
    }
}

fn change(octets: &mut [u8], kind: PageKind, changes: &[u8]) {
    let Ok(mut page) = PageMut::parse(octets, PGNO, kind) else {
        return;
    };
    for step in changes.chunks_exact(3) {
        let index = usize::from(step[1]);
        let len = usize::from(step[2]);
        let key = vec![step[0]; len % 80];
        let value = vec![step[1]; len * 3];
        let before = page.view().len();
        let node = page.view().node_bytes(0).map(<[u8]>::to_vec);
        let _ = match (step[0] % 4, kind) {
            (0, _) | (2, PageKind::Leaf | PageKind::Packed(_)) => {
                let value = match kind {
                    PageKind::Branch => NodeValue::Child(Pgno(u64::from(step[2]))),
                    _ => NodeValue::Data(&value, NodeFlags(0)),
                };
                page.insert(index, &key, value).map(|stored| {
                    let len = page.view().len();
                    assert_eq!(len, before + usize::from(stored));
                })
            }
            (1, _) => page.remove(index).map(|()| {
                assert_eq!(page.view().len(), before - 1);
            }),
            (2, PageKind::Branch) => page.set_child(index, Pgno(u64::from(step[2]) << 40)),
            _ => match node {
                Ok(node) => page.insert_node(index, &node).map(|_| ()),
                Err(_) => Ok(()),
            },
        };
        look(&page.view());
    }
}

/// Any bytes as a meta page, and as the record of a tree.
pub fn meta(bytes: &[u8]) {
    if let Ok(meta) = Meta::read(bytes) {
        let _ = (meta.check(), meta.page_size_is_valid());
        if meta.page_size_is_valid() {
            let pgno = Pgno(meta.txnid.0 % META_PAGES);
            let again = Meta::read(&meta.to_page(pgno)).expect("a page of our own");
            assert_eq!(again, meta);
        }
    }
    if let Some(record) = TreeRecord::read(bytes) {
        assert_eq!(TreeRecord::read(&record.to_bytes()), Some(record));
        if record.check(Pgno(1000)).is_ok() {
            assert!(record.root.is_none() || record.root.0 <= 1000);
        }
    } else {
        assert_ne!(bytes.len(), TREE_RECORD_LEN);
    }
}

/// Any bytes as a record of the free list, and as the start of an overflow run.
pub fn free_record(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let last = Pgno(u64::from(input.octet()) << (input.octet() % 56));
    if let Ok(record) = FreeRecord::parse(input.0, last) {
        let numbers: Vec<Pgno> = record.iter().collect();
        assert_eq!(numbers.len(), record.len());
        assert!(numbers.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(
            numbers
                .iter()
                .all(|number| number.0 >= 2 && *number <= last)
        );
        let mut again = vec![0; FreeRecord::value_len(numbers.len())];
        FreeRecord::write(&mut again, &numbers).expect("there is room");
        assert!(input.0.starts_with(&again));
    }
    let len = usize::from(input.octet()) * 1000;
    if let Ok(run) = OverflowHeader::parse(input.0, PGNO, 4096, len, last) {
        assert!(run.pages > 0 && PGNO.0 + run.pages - 1 <= last.0);
        assert!(run.pages * 4096 >= len as u64);
    }
}
