//! Durable changes of many threads: each with its own transaction, or submitted to be committed
//! together.
//!
//! `cargo run --release --example group_commit [THREADS [CHANGES OF EACH]]` prints the cost of
//! either on the disk of the current directory.

use std::thread;
use std::time::Instant;

use fulgurite::{Database, Environment, Error, Snapshot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let threads = arguments.next().transpose()?.unwrap_or(16);
    let each = arguments.next().transpose()?.unwrap_or(100);
    let alone = rate(threads, each, |environment, key| {
        let mut txn = environment.write()?;
        txn.put(Database::MAIN, key, b"value")?;
        txn.commit()
    })?;
    let together = rate(threads, each, |environment, key| {
        environment.submit(|txn| txn.put(Database::MAIN, key, b"value"))
    })?;
    println!("{threads} threads, {each} durable changes each");
    println!("  a transaction of its own   {alone:8.0} a second");
    println!(
        "  submitted                  {together:8.0} a second, {:.1} times as many",
        together / alone
    );
    Ok(())
}

/// Changes a second.
fn rate(
    threads: u32,
    each: u32,
    change: impl Fn(&Environment, &[u8]) -> Result<(), Error> + Sync,
) -> Result<f64, Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir_in(".")?;
    let environment = Environment::options().open(directory.path())?;
    let begun = Instant::now();
    thread::scope(|scope| {
        let work = |thread: u32| {
            let (environment, change) = (&environment, &change);
            move || {
                (0..each).try_for_each(|i| change(environment, &(i << 8 | thread).to_be_bytes()))
            }
        };
        let all: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(work(thread)))
            .collect();
        all.into_iter()
            .try_for_each(|one| one.join().map_err(|_| Error::TransactionFailed)?)
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let stored = environment.read()?.stat(Database::MAIN)?.entries;
    assert_eq!(stored, u64::from(threads * each));
    Ok(f64::from(threads * each) / seconds)
}
