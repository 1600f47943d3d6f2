//! The sound files that mutations begin from: small ones of every kind, made anew, and those of the
//! real library.

use std::fs;
use std::path::Path;

use fulgurite::{Database, DatabaseFlags, Durability, Environment, Error, KeyOrder, WriteTxn};
use fulgurite_format::{Meta, Pgno, TreeRecord, Txnid};
use fulgurite_testkit::{Random, Scratch, base, sound_fixtures};

use super::fields::{self, Field};

/// A sound file.
#[derive(Debug, Clone)]
pub struct Base {
    /// The name in reports.
    pub name: String,
    /// Its octets.
    pub bytes: Vec<u8>,
    /// The fields of the file, by offset.
    pub fields: Vec<Field>,
    /// Octets of a page.
    pub page_size: usize,
    /// True if the base is small enough for a thousand walks a second.
    pub is_small: bool,
}

impl Base {
    /// Makes a base of a sound file.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Base {
        Base {
            name: name.into(),
            fields: fields::of(&bytes),
            page_size: fields::page_size(&bytes),
            is_small: bytes.len() <= SMALL_MAX,
            bytes,
        }
    }

    /// How many whole pages it has.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.bytes.len() / self.page_size
    }
}

const SMALL_MAX: usize = 100 << 10;
/// Larger fixtures would slow everything down and have nothing that the others do not have.
const LARGE_MAX: usize = 512 << 10;

/// All bases, in an order that stays the same.
///
/// # Panics
/// If they cannot be made: the engine fails at sound files, or fixtures are missing.
#[must_use]
pub fn all() -> Vec<Base> {
    let mut all = Vec::new();
    for (name, page_size, fill) in MADE {
        let bytes = made(page_size, fill).unwrap_or_else(|e| panic!("make the base {name}: {e}"));
        all.push(Base::new(name, bytes));
    }
    let fixtures = sound_fixtures().into_iter();
    for fixture in fixtures.chain(["base-tree", "base-dups"].map(base)) {
        let bytes = fs::read(fixture.data()).expect("read a fixture");
        if bytes.len() <= LARGE_MAX {
            all.push(Base::new(fixture.name, bytes));
        }
    }
    all
}

type Fill = fn(&mut WriteTxn<'_>, usize) -> Result<(), Error>;

/// Bases made by our engine, whose small pages make deep trees of few octets. Fill functions run
/// once per round; what they delete goes to the free list.
const MADE: [(&str, usize, Fill); 9] = [
    ("made-plain-512", 512, plain),
    ("made-plain-1024", 1024, plain),
    ("made-plain-4096", 4096, plain),
    ("made-dups-512", 512, duplicates),
    ("made-dups-1024", 1024, duplicates),
    ("made-dups-4096", 4096, duplicates),
    ("made-named-256", 256, named),
    ("made-named-512", 512, named),
    ("made-main-dups-512", 512, main_with_duplicates),
];

const ROUNDS: usize = 3;

fn made(page_size: usize, fill: Fill) -> anyhow::Result<Vec<u8>> {
    let scratch = Scratch::new("base");
    fs::write(scratch.join("data.mdb"), empty(page_size))?;
    let options = Environment::options().durability(Durability::NoSync);
    let environment = options.open(scratch.path())?;
    for round in 0..ROUNDS {
        let mut txn = environment.write()?;
        fill(&mut txn, round)?;
        txn.commit()?;
    }
    drop(environment);
    Ok(fs::read(scratch.join("data.mdb"))?)
}

/// A file without records, of a page size that no machine here would choose.
fn empty(page_size: usize) -> Vec<u8> {
    let mut free = TreeRecord::empty(DatabaseFlags(DatabaseFlags::INTEGER_KEY));
    free.pad = page_size as u32;
    let meta = Meta {
        map_address: 0,
        map_size: 1 << 20,
        free,
        main: TreeRecord::empty(DatabaseFlags(0)),
        last: Pgno(1),
        txnid: Txnid(0),
    };
    let mut bytes = meta.to_page(Pgno(0));
    bytes.extend(meta.to_page(Pgno(1)));
    bytes
}

/// The page size of the environment under a transaction decides how much fits a key.
fn key(random: &mut Random, number: usize) -> Vec<u8> {
    let tail = random.between(1, 20);
    let mut key = format!("key-{number:03}-").into_bytes();
    key.extend(random.bytes(tail));
    key
}

/// Values in leaves and on overflow runs.
fn plain(txn: &mut WriteTxn<'_>, round: usize) -> Result<(), Error> {
    let mut random = Random::new(round as u64);
    for number in 0..35 {
        let len = match random.below(12) {
            0 => random.between(400, 5000),
            1 => 0,
            _ => random.between(1, 60),
        };
        let key = key(&mut Random::new(number as u64), number);
        let value = random.bytes(len);
        txn.put(Database::MAIN, &key, &value)?;
        if random.chance(20) {
            txn.delete(Database::MAIN, &key)?;
        }
    }
    Ok(())
}

/// Sub-pages and trees of values, packed and not.
fn duplicates(txn: &mut WriteTxn<'_>, round: usize) -> Result<(), Error> {
    let mut random = Random::new(round as u64);
    let (sorted, fixed) = (DatabaseFlags::DUP_SORT, DatabaseFlags::DUP_FIXED);
    for (name, flags, len) in [
        ("sorted", sorted, 0),
        ("fixed", sorted | fixed, 5),
        (
            "integers",
            sorted | fixed | DatabaseFlags::INTEGER_DUP | DatabaseFlags::INTEGER_KEY,
            8,
        ),
    ] {
        let db = txn.create_named(name.as_bytes(), DatabaseFlags(flags))?;
        for number in 0..7_u64 {
            let values = [1, 3, 6, 60][random.below(4)];
            for _ in 0..values {
                let len = if len == 0 { random.between(1, 30) } else { len };
                let value = random.bytes(len);
                txn.put(db, &number.to_le_bytes(), &value)?;
            }
            if random.chance(15) {
                txn.delete(db, &number.to_le_bytes())?;
            }
        }
    }
    Ok(())
}

/// Several named databases next to plain records.
fn named(txn: &mut WriteTxn<'_>, round: usize) -> Result<(), Error> {
    let mut random = Random::new(round as u64);
    for (number, order) in [KeyOrder::Lexical, KeyOrder::Reverse, KeyOrder::Integer]
        .into_iter()
        .enumerate()
    {
        let db = txn.create_database(&format!("db{number}"), order)?;
        for entry in 0..22_u64 {
            let len = random.between(0, 40);
            let value = random.bytes(len);
            txn.put(db, &random.clone().bits().to_le_bytes(), &value)?;
            if entry % 7 == 0 {
                txn.put(Database::MAIN, format!("plain{entry}").as_bytes(), &value)?;
            }
        }
    }
    let gone = txn.create_database("gone", KeyOrder::Lexical)?;
    for entry in 0..30_u32 {
        txn.put(gone, &entry.to_le_bytes(), &[7; 30])?;
    }
    if round % 2 == 1 {
        txn.drop_database(gone)?;
    }
    Ok(())
}

/// A main database whose keys have several values.
fn main_with_duplicates(txn: &mut WriteTxn<'_>, round: usize) -> Result<(), Error> {
    txn.add_main_flags(DatabaseFlags(DatabaseFlags::DUP_SORT))?;
    let mut random = Random::new(round as u64);
    for number in 0..10 {
        for _ in 0..[1, 4, 70][random.below(3)] {
            let len = random.between(1, 24);
            let value = random.bytes(len);
            txn.put(Database::MAIN, format!("many-{number}").as_bytes(), &value)?;
        }
    }
    txn.delete(Database::MAIN, b"many-3")?;
    Ok(())
}

/// Writes a file's bytes to the place where an environment expects them. The result is a new file,
/// so no engine sees a change to an open one.
pub(super) fn place(dir: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let data = dir.join("data.mdb");
    match fs::remove_file(&data) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::write(&data, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_sound_and_have_trees_of_several_levels() {
        let scratch = Scratch::new("bases");
        let all = all();
        assert!(all.len() > 30 && all.iter().filter(|base| base.is_small).count() > 12);
        for base in all.iter().filter(|base| base.name.starts_with("made")) {
            place(scratch.path(), &base.bytes).unwrap();
            let report = fulgurite::check::check_file(&scratch.join("data.mdb")).unwrap();
            assert!(report.is_sound(), "{}: {report}", base.name);
            assert!(report.free_pages > 0, "{}", base.name);
            assert_eq!(report.page_bytes, base.page_size, "{}", base.name);
            let depth = report.databases.iter().map(|db| db.depth).max().unwrap();
            assert!(depth >= 2 || base.page_size == 4096, "{}", base.name);
            let size = base.bytes.len();
            assert!(base.is_small, "{} has {size} octets", base.name);
        }
    }
}
