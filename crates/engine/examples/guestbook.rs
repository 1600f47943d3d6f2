//! A guest book in one directory: `cargo run --example guestbook -- DIR [MESSAGE]` adds a message
//! and prints them all.
//!
//! It shows the whole life of an embedded store: options, a write transaction with two databases, a
//! snapshot, a cursor.

use std::error::Error;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use fulgurite::{Environment, KeyOrder, Snapshot};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = match arguments.next() {
        Some(directory) => PathBuf::from(directory),
        None => std::env::temp_dir().join("fulgurite-guestbook"),
    };
    let message = arguments.next().unwrap_or_else(|| "was here".to_owned());
    std::fs::create_dir_all(&directory)?;

    let environment = Environment::options().open(&directory)?;
    sign(&environment, &message)?;
    print(&environment)
}

/// Adds a message and counts its words, both or neither.
fn sign(environment: &Environment, message: &str) -> Result<(), Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
    let mut txn = environment.write()?;
    // Big-endian keys sort as the numbers they are.
    let messages = txn.create_database("messages", KeyOrder::Lexical)?;
    txn.put(messages, &now.to_be_bytes(), message.as_bytes())?;
    let words = txn.create_database("words", KeyOrder::Lexical)?;
    for word in message.split_whitespace() {
        let seen = match txn.get(words, word.as_bytes())? {
            Some(count) => u64::from_le_bytes(count.try_into()?),
            None => 0,
        };
        txn.put(words, word.as_bytes(), &(seen + 1).to_le_bytes())?;
    }
    txn.commit()?;
    Ok(())
}

fn print(environment: &Environment) -> Result<(), Box<dyn Error>> {
    let txn = environment.read()?;
    let messages = txn.open_database(Some("messages"))?;
    let mut cursor = txn.cursor(messages)?;
    while let Some((_, message)) = cursor.next()? {
        // The bytes are lent from the map: nothing was copied on the way here.
        println!("{}", String::from_utf8_lossy(message));
    }
    let words = txn.stat(txn.open_database(Some("words"))?)?.entries;
    println!("{words} different words, snapshot {}", txn.id());
    Ok(())
}
