//! The speed of the checker: pages per second of a file, and images per second of small stores in
//! memory.
//!
//! `cargo run --release -p fulgurite --example check_rate [RECORDS]`

use std::time::Instant;

use fulgurite::check::{CheckOptions, Checker, check_environment};
use fulgurite::{Database, Durability, Environment, KeyOrder, ValueKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let records = std::env::args()
        .nth(1)
        .map_or(Ok(2_000_000), |n| n.parse())?;
    let directory = tempfile::tempdir()?;
    fill(directory.path(), records)?;
    let mut pages = 0;
    let seconds = best_of(3, || {
        let checked =
            check_environment(directory.path(), &CheckOptions::default(), &mut |_, _| ())?;
        assert!(checked.report.is_sound(), "{}", checked.report);
        pages = checked.report.last_pgno;
        Ok(())
    })?;
    println!(
        "{records} records, {pages} pages: {:.0} pages/s",
        pages as f64 / seconds
    );

    let small = tempfile::tempdir()?;
    fill(small.path(), 1500)?;
    let image = std::fs::read(small.path().join("data.mdb"))?;
    let mut checker = Checker::new(CheckOptions::default());
    let rounds = 20_000;
    let seconds = best_of(3, || {
        for _ in 0..rounds {
            assert!(checker.check_image(&image)?.is_sound());
        }
        Ok(())
    })?;
    println!(
        "images of {} pages: {:.0} checks/s",
        image.len() / 4096,
        f64::from(rounds) / seconds
    );
    Ok(())
}

fn fill(path: &std::path::Path, records: u64) -> Result<(), Box<dyn std::error::Error>> {
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(path)?;
    let mut txn = environment.write()?;
    let numbers = ValueKind::Fixed(KeyOrder::Integer);
    let index = txn
        .create_multimap("index", KeyOrder::Lexical, numbers)?
        .database();
    for number in 0..records {
        let key = format!("record {:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        txn.put(Database::MAIN, key.as_bytes(), &[b'v'; 64])?;
        txn.put(index, &key.as_bytes()[..9], &number.to_ne_bytes())?;
    }
    txn.commit()?;
    // Another one, so that some pages are free.
    let mut txn = environment.write()?;
    txn.put(Database::MAIN, b"long", &[b'v'; 20_000])?;
    Ok(txn.commit()?)
}

fn best_of(
    times: u32,
    mut work: impl FnMut() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut best = f64::MAX;
    for _ in 0..times {
        let begun = Instant::now();
        work()?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    Ok(best)
}
