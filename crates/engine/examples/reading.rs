//! The cost of reading: `cargo run --release -p fulgurite --example reading -- [RECORDS [WAY]]`.
//!
//! It fills an environment with records of 16 and 100 bytes and reads them in several ways. For
//! each it prints the least processor time of some passes. With WAY, it takes only the ways whose
//! names begin with it, once each, for an instruction counter.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use fulgurite::{
    CursorPosition, Database, Durability, Environment, KeyOrder, Move, ReadTxn, Snapshot,
};

type Answer<T> = Result<T, Box<dyn Error>>;

/// A way of reading; what it returns depends on all that was read.
type Way<'a> = &'a dyn Fn() -> Answer<usize>;

/// Keys that are sought by those ways that seek.
const SOUGHT: usize = 1 << 18;

fn main() -> Answer<()> {
    let mut arguments = std::env::args().skip(1);
    let records: usize = arguments
        .next()
        .map_or(Ok(1_000_000), |text| text.parse())?;
    let only = arguments.next();
    let directory = tempfile::tempdir()?;
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(directory.path())?;
    let db = fill(&environment, records)?;
    let txn = environment.read()?;
    let keys: Vec<[u8; 16]> = (0..SOUGHT as u64)
        .map(|number| key(scrambled(number) % records as u64))
        .collect();

    let ways: [(&str, usize, Way<'_>); 8] = [
        ("get", SOUGHT, &|| get(&txn, db, &keys)),
        ("batch of 16", SOUGHT, &|| get_many(&txn, db, &keys, 16)),
        ("batch of 1000", SOUGHT, &|| get_many(&txn, db, &keys, 1000)),
        ("cursor", records, &|| cursor(&txn, db)),
        ("placed cursor", records, &|| placed(&txn, db)),
        ("range", records, &|| forwards(&txn, db)),
        ("reversed range", records, &|| backwards(&txn, db)),
        ("keys", records, &|| Ok(txn.range(db, ..)?.keys().count())),
    ];
    for (name, operations, way) in ways {
        let passes = match &only {
            None => 10,
            Some(only) if name.starts_with(only) => 1,
            Some(_) => continue,
        };
        let mut least = u64::MAX;
        for _ in 0..passes {
            let start = processor_time()?;
            black_box(way()?);
            least = least.min(processor_time()? - start);
        }
        let nanoseconds = least as f64 / operations as f64;
        println!("{name:16} {nanoseconds:7.1} ns");
    }
    let start = Instant::now();
    let middle = key(records as u64 / 3)..key(records as u64 / 2);
    let counted = txn.count_range(db, middle.clone())?;
    let counting = start.elapsed();
    let start = Instant::now();
    let estimated = txn.estimate_range(db, middle)?;
    println!(
        "counted {counted} in {counting:?}, estimated {estimated} in {:?}",
        start.elapsed()
    );
    Ok(())
}

/// Nanoseconds this thread has run for.
fn processor_time() -> Answer<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}

fn key(number: u64) -> [u8; 16] {
    let mut key = *b"record..........";
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

/// A number that looks random, another one for each.
fn scrambled(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

fn fill(environment: &Environment, records: usize) -> Answer<Database> {
    let mut txn = environment.write()?;
    let db = txn.create_database("records", KeyOrder::Lexical)?;
    for number in 0..records as u64 {
        txn.append(db, &key(number), &[number as u8; 100])?;
    }
    txn.commit()?;
    Ok(db)
}

fn get(txn: &ReadTxn<'_>, db: Database, keys: &[[u8; 16]]) -> Answer<usize> {
    let mut sum = 0;
    for key in keys {
        sum += txn.get(db, key)?.map_or(0, bytes);
    }
    Ok(sum)
}

fn get_many(txn: &ReadTxn<'_>, db: Database, keys: &[[u8; 16]], batch: usize) -> Answer<usize> {
    let mut sum = 0;
    let mut values = Vec::new();
    for keys in keys.chunks(batch) {
        txn.get_many(db, keys, &mut values)?;
        sum += values
            .iter()
            .flatten()
            .map(|value| bytes(value))
            .sum::<usize>();
    }
    Ok(sum)
}

/// Looks at a value.
fn bytes(value: &[u8]) -> usize {
    value.len() + usize::from(value.last().copied().unwrap_or(0))
}

fn cursor(txn: &ReadTxn<'_>, db: Database) -> Answer<usize> {
    let mut sum = 0;
    let mut cursor = txn.cursor(db)?;
    while let Some((key, value)) = cursor.next()? {
        sum += key.len() + value.len();
    }
    Ok(sum)
}

fn placed(txn: &ReadTxn<'_>, db: Database) -> Answer<usize> {
    let mut sum = 0;
    let mut place = CursorPosition::new(db);
    while let Some((key, value)) = txn.at_position(&mut place)?.go(Move::Next)? {
        sum += key.len() + value.len();
    }
    Ok(sum)
}

fn forwards(txn: &ReadTxn<'_>, db: Database) -> Answer<usize> {
    let mut sum = 0;
    for record in txn.range(db, ..)? {
        let (key, value) = record?;
        sum += key.len() + value.len();
    }
    Ok(sum)
}

fn backwards(txn: &ReadTxn<'_>, db: Database) -> Answer<usize> {
    let mut sum = 0;
    for record in txn.range(db, ..)?.rev() {
        let (key, value) = record?;
        sum += key.len() + value.len();
    }
    Ok(sum)
}
