//! The mutation for each number. Everything follows from a seed.

use fulgurite_testkit::Random;

use super::bases::Base;
use super::fields::{Field, Kind, number};
use super::mutation::{Edit, Mutation};
use super::{crafted, lock_file};

/// How mutations are made, and how often of a hundred.
const FAMILIES: [(&str, usize, Family); 9] = [
    ("octets", 22, octets),
    ("fields", 40, some_fields),
    ("pages", 10, pages),
    ("sectors", 4, sectors),
    ("length", 6, length),
    ("crafted trees", 9, crafted::trees),
    ("free lists", 5, crafted::free_lists),
    ("everything", 3, everything),
    ("noise", 1, noise),
];

type Family = fn(&mut Random, &[Base], &Base) -> Vec<Edit>;

/// Mutation number `number` of a seed.
///
/// # Panics
/// If there are no bases.
#[must_use]
pub fn draw(seed: u64, number: u64, bases: &[Base]) -> Mutation {
    let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.bits();
    let wants_small = random.chance(95);
    let chosen: Vec<usize> = (0..bases.len())
        .filter(|index| bases[*index].is_small == wants_small)
        .collect();
    let base = *random.pick(&chosen);
    let mut at = random.below(FAMILIES.iter().map(|(_, share, _)| share).sum());
    let (family, _, make) = FAMILIES
        .into_iter()
        .find(|(_, share, _)| {
            let found = at < *share;
            at = at.saturating_sub(*share);
            found
        })
        .expect("shares add up");
    let edits = make(&mut random, bases, &bases[base]);
    let lock_file = random.chance(4).then(|| lock_file::draw(&mut random));
    Mutation {
        base,
        family,
        edits,
        lock_file,
        walk_seed: random.bits(),
    }
}

fn set(at: usize, octets: Vec<u8>) -> Edit {
    Edit::Set {
        at,
        octets,
        kind: None,
    }
}

/// One to a few octets, anywhere.
fn octets(random: &mut Random, _: &[Base], base: &Base) -> Vec<Edit> {
    (0..random.between(1, 6))
        .map(|_| {
            let at = match random.below(4) {
                // Headers and what follows them.
                0 => random.below(base.pages()) * base.page_size + random.below(24),
                1 => random.below(base.pages()) * base.page_size + random.below(160),
                _ => random.below(base.bytes.len()),
            }
            .min(base.bytes.len() - 1);
            let old = base.bytes[at];
            let new = match random.below(4) {
                0 => old ^ (1 << random.below(8)),
                1 => *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
                2 => old.wrapping_add(*random.pick(&[1, 0xff])),
                _ => random.bits() as u8,
            };
            set(at, vec![new])
        })
        .collect()
}

/// Draws the kind of field first, then one to a few fields of it, because offsets outnumber roots.
fn some_fields(random: &mut Random, _: &[Base], base: &Base) -> Vec<Edit> {
    (0..[1, 1, 1, 2, 3, 5][random.below(6)])
        .filter_map(|_| {
            let kind = *random.pick(&Kind::ALL);
            let fields: Vec<&Field> = base.fields.iter().filter(|f| f.kind == kind).collect();
            if fields.is_empty() {
                return None;
            }
            // The first ones are those of the meta pages.
            let field = if random.chance(15) {
                fields[random.below(fields.len().min(12))]
            } else {
                *random.pick(&fields)
            };
            let value = value_for(random, base, field);
            Some(Edit::Set {
                at: field.at,
                octets: value.to_le_bytes()[..field.len].to_vec(),
                kind: Some(kind),
            })
        })
        .collect()
}

/// Something that could do harm in a field's place.
fn value_for(random: &mut Random, base: &Base, field: &Field) -> u64 {
    let old = number(&base.bytes, field.at, field.len);
    let last = base.pages() as u64 - 1;
    let own_page = (field.at / base.page_size) as u64;
    let size = base.page_size as u64;
    // The value of another field of the same kind fits better than an invented one.
    let same: Vec<&Field> = base
        .fields
        .iter()
        .filter(|f| f.kind == field.kind)
        .collect();
    let another = number(&base.bytes, random.pick(&same).at, field.len);
    let edges = [
        0,
        1,
        u64::MAX,
        u64::MAX - 1,
        u64::MAX / 2,
        1 << 47,
        1 << 32,
        1 << 31,
    ];
    let near = old.wrapping_add(*random.pick(&[1, u64::MAX, 2, u64::MAX - 1, 8, 4]));
    let own: &[u64] = match field.kind {
        Kind::OwnNumber | Kind::Pointer | Kind::Free => {
            let any = random.below(base.pages()) as u64;
            &[
                own_page,
                any,
                any,
                any,
                0,
                1,
                2,
                last,
                last + 1,
                last + 2,
                last + (1 << 20),
            ]
        }
        Kind::PageFlags => &[
            0, 1, 2, 4, 8, 3, 5, 6, 0x12, 0x11, 0x22, 0x32, 0x52, 0x72, 0x42, 0x4002, 0x8001,
        ],
        Kind::Offset => &[
            0,
            14,
            15,
            16,
            17,
            18,
            size,
            size - 1,
            size - 2,
            size - 8,
            size + 2,
            0xfffe,
            size / 2,
        ],
        Kind::Count => &[0, 1, 2, 3, last, last + 1, 1 << 20, 1 << 40],
        Kind::Length => &[
            0,
            1,
            2,
            4,
            8,
            48,
            511,
            512,
            513,
            size,
            size / 2,
            0xffff,
            0xffff_ffff,
            0x8000_0000,
        ],
        Kind::NodeFlags => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x20, 0x40, 0x80],
        Kind::DatabaseFlags => &[
            0, 2, 4, 8, 0x0c, 0x10, 0x14, 0x1c, 0x34, 0x3c, 0x44, 0x7e, 0x80, 0x8000,
        ],
        Kind::Depth => &[0, 1, 2, 3, 4, 31, 32, 33, 64, 0x7fff, 0xffff],
        Kind::Txnid => &[
            0,
            1,
            2,
            u64::MAX,
            u64::MAX - 1,
            u64::MAX - 2,
            1 << 63,
            old + 1,
            old + 2,
            old + 100,
        ],
        Kind::MapSize => &[
            0,
            1,
            4095,
            4096,
            1 << 20,
            1 << 30,
            1 << 40,
            1 << 47,
            1 << 62,
            i64::MAX as u64,
        ],
        Kind::PageSize => &[
            0,
            1,
            16,
            128,
            255,
            256,
            257,
            511,
            512,
            1024,
            2048,
            3000,
            4096,
            8192,
            16384,
            32768,
            65536,
            1 << 31,
        ],
        Kind::Magic => &[0, 1, 2, 3, 999],
    };
    match random.below(10) {
        0 => *random.pick(&edges),
        1 => near,
        2 => random.bits(),
        3 | 4 => another,
        5 => old ^ (1 << random.below(8 * field.len)),
        _ => *random.pick(own),
    }
}

/// Pages exchanged, doubled, wiped, or of another moment; with their own number set right or not.
fn pages(random: &mut Random, bases: &[Base], base: &Base) -> Vec<Edit> {
    let size = base.page_size;
    let mut edits = Vec::new();
    for _ in 0..random.between(1, 2) {
        let first = if random.chance(10) { 0 } else { 2 };
        let page = |random: &mut Random| (first + random.below(base.pages() - first)) * size;
        let (a, b) = (page(random), page(random));
        match random.below(6) {
            0 => edits.push(Edit::Swap { a, b, len: size }),
            1 => edits.push(set(a, vec![*random.pick(&[0, 0xff]); size])),
            2 => edits.push(set(a, random.bytes(size))),
            3 => {
                // A page of another file with pages of this size.
                let others: Vec<&Base> = bases.iter().filter(|b| b.page_size == size).collect();
                let other = random.pick(&others);
                let at = random.below(other.pages()) * size;
                edits.push(set(a, other.bytes[at..at + size].to_vec()));
            }
            _ => edits.push(Edit::Copy {
                from: a,
                to: b,
                len: size,
            }),
        }
        if random.chance(60) {
            for page in [a, b] {
                edits.push(set(page, (page / size).to_le_bytes().to_vec()));
            }
        }
    }
    edits
}

/// The faults of a disk that loses or mixes up sectors.
fn sectors(random: &mut Random, _: &[Base], base: &Base) -> Vec<Edit> {
    (0..random.between(1, 3))
        .map(|_| {
            let len = *random.pick(&[64, 512, 4096]);
            let sector = |random: &mut Random| random.below(base.bytes.len().div_ceil(len)) * len;
            let (a, b) = (sector(random), sector(random));
            match random.below(4) {
                0 => set(a, vec![0; len]),
                1 => set(a, random.bytes(len)),
                2 => Edit::Copy {
                    from: a,
                    to: b,
                    len,
                },
                _ => Edit::Swap { a, b, len },
            }
        })
        .collect()
}

/// Files that end early, or go on with something else.
fn length(random: &mut Random, bases: &[Base], base: &Base) -> Vec<Edit> {
    match random.below(6) {
        0 => vec![Edit::Truncate(random.below(base.bytes.len() + 1))],
        1 => vec![Edit::Truncate(random.below(2 * base.page_size + 200))],
        2 => vec![Edit::Truncate(
            random.below(base.pages() + 1) * base.page_size,
        )],
        3 => {
            let len = random.below(3 * base.page_size);
            vec![Edit::Append(random.bytes(len))]
        }
        4 => {
            let other = random.pick(bases);
            vec![Edit::Append(other.bytes.clone())]
        }
        _ => {
            // One file's beginning, another one's rest.
            let other = random.pick(bases);
            let at = random.below(base.pages()) * base.page_size;
            let rest = other.bytes.get(at..).unwrap_or_default().to_vec();
            vec![Edit::Truncate(at), Edit::Append(rest)]
        }
    }
}

/// Several families at once.
fn everything(random: &mut Random, bases: &[Base], base: &Base) -> Vec<Edit> {
    let mut edits = Vec::new();
    for _ in 0..random.between(2, 4) {
        let (_, _, make) = FAMILIES[random.below(7)];
        edits.extend(make(random, bases, base));
    }
    edits
}

/// No file of ours at all, or one with no more of it than the beginning.
fn noise(random: &mut Random, _: &[Base], base: &Base) -> Vec<Edit> {
    let kept = *random.pick(&[0, 0, 152, base.page_size, 2 * base.page_size]);
    let len = random.below(40_000);
    vec![
        Edit::Truncate(kept.min(base.bytes.len())),
        Edit::Append(random.bytes(len)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_follow_from_seed_and_number_and_are_of_all_families() {
        let bases = super::super::bases::all();
        let mut seen = std::collections::BTreeSet::new();
        let mut changed = 0;
        for number in 0..600 {
            let (one, other) = (draw(5, number, &bases), draw(5, number, &bases));
            assert_eq!(one.edits, other.edits);
            assert_eq!(one.walk_seed, other.walk_seed);
            changed += usize::from(one.bytes(&bases) != bases[one.base].bytes);
            seen.insert(one.family);
        }
        assert_eq!(seen.len(), FAMILIES.len());
        assert!(changed > 540, "{changed}");
    }
}
