//! Damage that no accident makes. Branches of trees meet again, lead back, or never end, and free
//! lists name pages in use.
//!
//! ```text
//!      [ B1 B1 B1 ]       a hundred pages can spell a tree of more leaves than there are atoms:
//!        \ | /            whoever walks it has to notice that it has more leaves than the file has pages
//!      [ B2 B2 B2 ]
//!        \ | /
//!        [leaf]
//! ```

use fulgurite_testkit::Random;

use super::bases::Base;
use super::fields::{Field, Kind, number};
use super::mutation::Edit;

const RECORD_LEN: usize = 48;

/// A tree with shared or circular branches, hung up at a root somewhere.
pub(super) fn trees(random: &mut Random, _: &[Base], base: &Base) -> Vec<Edit> {
    let last = base.pages() - 1;
    let page = |random: &mut Random| 2 + random.below(last - 1);
    let leaves: Vec<usize> = (2..=last)
        .filter(|page| number(&base.bytes, page * base.page_size + 10, 2) & 0x42 == 2)
        .collect();
    let leaf = if leaves.is_empty() {
        page(random)
    } else {
        *random.pick(&leaves)
    };
    let levels = random.between(1, 31.min(last.saturating_sub(3)).max(1));
    let mut branches: Vec<usize> = (0..levels).map(|_| page(random)).collect();
    branches.retain(|branch| *branch != leaf);
    branches.sort_unstable();
    branches.dedup();
    if random.chance(10) {
        // Down to themselves.
        branches = vec![*branches.first().unwrap_or(&leaf); levels];
    }
    let mut edits = Vec::new();
    let mut below = leaf;
    for branch in branches.iter().rev() {
        let other = if random.chance(70) {
            below
        } else {
            page(random)
        };
        edits.push(branch_page(random, base, *branch, below, other));
        below = *branch;
    }
    let depth = branches.len() + usize::from(!random.chance(5));
    edits.extend(root(random, base, below, depth as u16));
    edits
}

/// A whole branch page, most of its children one page.
fn branch_page(random: &mut Random, base: &Base, page: usize, child: usize, other: usize) -> Edit {
    let size = base.page_size;
    let entries = match random.below(3) {
        0 => 2,
        1 => random.between(2, 12),
        _ => (size - 16) / 14,
    };
    let mut octets = vec![0; size];
    octets[..8].copy_from_slice(&(page as u64).to_le_bytes());
    octets[10] = 1;
    octets[12..14].copy_from_slice(&(16 + 2 * entries as u16).to_le_bytes());
    let mut upper = size;
    for entry in 0..entries {
        let key: &[u8] = match entry {
            0 => &[],
            _ => &(entry as u32 * 0x0001_0101).to_be_bytes(),
        };
        upper -= 8 + key.len();
        let child = if entry % 5 == 4 { other } else { child } as u64;
        octets[upper..upper + 6].copy_from_slice(&child.to_le_bytes()[..6]);
        octets[upper + 6..upper + 8].copy_from_slice(&(key.len() as u16).to_le_bytes());
        octets[upper + 8..upper + 8 + key.len()].copy_from_slice(key);
        octets[16 + 2 * entry..18 + 2 * entry].copy_from_slice(&(upper as u16).to_le_bytes());
    }
    octets[14..16].copy_from_slice(&(upper as u16).to_le_bytes());
    Edit::Set {
        at: page * size,
        octets,
        kind: None,
    }
}

/// Moves the root of one or more trees to a page. The tree may be the main database, the free list,
/// a named database or a tree of values.
fn root(random: &mut Random, base: &Base, page: usize, depth: u16) -> Vec<Edit> {
    let at_once = if random.chance(20) { 8 } else { 1 };
    let mut edits = Vec::new();
    for _ in 0..at_once {
        let record = match random.below(6) {
            0 => 40,
            1 | 2 => 88,
            _ => {
                let depths: Vec<&Field> = base
                    .fields
                    .iter()
                    .filter(|f| f.kind == Kind::Depth)
                    .collect();
                random.pick(&depths).at - 6
            }
        };
        let metas = if record < 2 * base.page_size {
            vec![record, record + base.page_size]
        } else {
            vec![record]
        };
        for record in metas {
            edits.push(Edit::Set {
                at: record + 6,
                octets: depth.to_le_bytes().to_vec(),
                kind: Some(Kind::Depth),
            });
            edits.push(Edit::Set {
                at: record + RECORD_LEN - 8,
                octets: (page as u64).to_le_bytes().to_vec(),
                kind: Some(Kind::Pointer),
            });
        }
        if random.chance(20) {
            edits.extend(huge_last(base));
        }
    }
    edits
}

/// Both meta pages say that there are more pages than any file has.
fn huge_last(base: &Base) -> Vec<Edit> {
    [136, base.page_size + 136]
        .map(|at| Edit::Set {
            at,
            octets: (1_u64 << 34).to_le_bytes().to_vec(),
            kind: Some(Kind::Pointer),
        })
        .to_vec()
}

/// Lists that lie: pages in use, twice, out of order, or more of them than there are.
pub(super) fn free_lists(random: &mut Random, _: &[Base], base: &Base) -> Vec<Edit> {
    let entries: Vec<Field> = base
        .fields
        .iter()
        .filter(|field| field.kind == Kind::Free)
        .copied()
        .collect();
    if entries.is_empty() {
        return huge_last(base);
    }
    let last = base.pages() as u64 - 1;
    let begin = random.below(entries.len());
    let some = &entries[begin..(begin + random.between(1, 12)).min(entries.len())];
    let mut edits = Vec::new();
    let mut next = last;
    let way = random.below(5);
    for field in some {
        let value = match way {
            // In order, and in use.
            0 | 1 => {
                next = next.saturating_sub(random.between(0, 3) as u64);
                next.max(2)
            }
            2 => number(&base.bytes, random.pick(&entries).at, 8),
            3 => random.below(last as usize + 3) as u64,
            _ => *random.pick(&[0, 1, last, last + 1, u64::MAX, 1 << 48]),
        };
        next = next.saturating_sub(1);
        edits.push(Edit::Set {
            at: field.at,
            octets: value.to_le_bytes().to_vec(),
            kind: Some(Kind::Free),
        });
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crafted_branches_are_branches() {
        use fulgurite_format::{Page, PageKind, Pgno};
        let bases = super::super::bases::all();
        let base = &bases[0];
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let edit = branch_page(&mut random, base, 5, 7, 9);
            let Edit::Set { octets, .. } = edit else {
                panic!("it is written whole");
            };
            let page = Page::parse(&octets, Pgno(5), PageKind::Branch).unwrap();
            page.check_nodes().unwrap();
            assert_eq!(page.child(0).unwrap(), Pgno(7));
        }
    }
}
