//! The steps of the damage tests: reading everything, and write transactions of different size.

use fulgurite::{Database, Environment, Error, KeyOrder, Move, Snapshot, WriteTxn};
use fulgurite_testkit::{Listing, Random};

use crate::common;

/// The prefix of everything written here, which distinguishes it from earlier records.
pub(crate) const MARK: &[u8] = b"~~";

/// Reads everything: all databases in both directions and some lookups. Reports the records of each
/// database by name.
pub(crate) fn examine(
    environment: &Environment,
    random: &mut Random,
    tell: &mut dyn FnMut(&str, &str),
) -> Result<(), String> {
    let snapshot = environment.read().map_err(|e| format!("{e:?}: {e}"))?;
    let mut first_error = Ok(());
    let mut note = |outcome: Result<Listing, Error>| {
        outcome.unwrap_or_else(|error| {
            if first_error.is_ok() {
                first_error = Err(format!("{error:?}: {error}"));
            }
            Listing::new()
        })
    };
    for name in std::iter::once(None).chain(names(&snapshot).into_iter().map(Some)) {
        match snapshot.open_database(name.as_deref()) {
            // An ordinary record is no database, and not damaged for it.
            Err(Error::WrongKind(_) | Error::NoDatabase(_)) if name.is_some() => {}
            Err(error) => drop(note(Err(error))),
            Ok(db) => {
                let name = name.as_deref().unwrap_or_default();
                for line in note(common::list(&snapshot, db)) {
                    tell(name, &line);
                }
                note(common::list_backwards(&snapshot, db));
                note(look_up(&snapshot, db, random));
                note(look_at_values(&snapshot, db));
                note(look_at_ranges(&snapshot, db, random));
            }
        }
    }
    first_error
}

/// The keys of the records of the main database that look like named databases.
fn names(snapshot: &impl Snapshot) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut cursor) = snapshot.cursor(Database::MAIN) else {
        return names;
    };
    let mut record = cursor.first();
    while let Ok(Some((key, value))) = record {
        // A damaged record may look like a database; ordinary records are clearly none.
        if value.len() <= 48
            && names.len() < 100
            && let Ok(name) = std::str::from_utf8(key)
        {
            names.push(name.to_owned());
        }
        record = cursor.next();
    }
    names
}

fn look_up(snapshot: &impl Snapshot, db: Database, random: &mut Random) -> Result<Listing, Error> {
    let mut cursor = snapshot.cursor(db)?;
    for _ in 0..40 {
        let size = random.between(1, 12);
        let key = random.bytes(size);
        for key in [&key[..], b"key", b"row-000000010"] {
            match snapshot.get(db, key) {
                Ok(_) | Err(Error::KeyLength { .. } | Error::IntegerKey { .. }) => {}
                Err(error) => return Err(error),
            }
            match cursor.seek_range(key) {
                Ok(_) | Err(Error::KeyLength { .. } | Error::IntegerKey { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(Listing::new())
}

/// Goes from key to key and looks at the values of each in the ways that there are.
fn look_at_values(snapshot: &impl Snapshot, db: Database) -> Result<Listing, Error> {
    let mut keys = snapshot.cursor(db)?;
    let mut values = snapshot.cursor(db)?;
    let mut record = keys.first()?;
    while let Some((key, first)) = record {
        match keys.count() {
            Ok(_) | Err(Error::NoDuplicates) => {}
            Err(error) => return Err(error),
        }
        for step in [
            Move::Pair(key, first),
            Move::PairOrAfter(key, MARK),
            Move::Key(key),
            Move::LastDup,
            Move::PrevDup,
            Move::FirstDup,
            Move::NextDup,
            Move::Block,
            Move::NextBlock,
            Move::PrevBlock,
        ] {
            match values.go(step) {
                Ok(_) | Err(Error::NoDuplicates | Error::CursorUnset) => {}
                Err(error) => return Err(error),
            }
        }
        record = keys.go(Move::NextKey)?;
    }
    Ok(Listing::new())
}

/// Takes ranges from both ends in turn, counts and estimates them, and looks many keys up at once.
fn look_at_ranges(
    snapshot: &impl Snapshot,
    db: Database,
    random: &mut Random,
) -> Result<Listing, Error> {
    let size = random.between(1, 12);
    let middle = random.bytes(size);
    let mut records = snapshot.range(db, &middle[..]..)?;
    while let Some(record) = records.next() {
        record?;
        records.next_back().transpose()?;
    }
    for record in snapshot.range(db, ..)?.rev() {
        record?;
    }
    for record in snapshot.range(db, ..&middle[..])?.first_values() {
        record?;
    }
    snapshot.count_range(db, &middle[..]..)?;
    snapshot.estimate_range(db, ..=&middle[..])?;
    let keys: Result<Vec<_>, _> = snapshot.range(db, ..)?.keys().take(1000).collect();
    snapshot.get_many(db, &keys?, &mut Vec::new())?;
    Ok(Listing::new())
}

type Write = fn(&Environment, &mut Random) -> Result<(), Error>;

/// The last write to the main database before those that change duplicates, and the last of those.
pub(crate) const LAST_IN_MAIN: usize = 3;
pub(crate) const LAST_BEFORE_CLEARING: usize = 7;

/// Write transactions of different reach.
pub(crate) const WRITES: [Write; 11] = [
    put_one,
    overwrite_some,
    delete_some,
    put_many,
    add_values,
    delete_values,
    replace_values,
    change_and_undo,
    clear_named,
    clear_main,
    make_and_drop,
];

fn put_one(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    txn.put(db, b"~~one", b"value")?;
    txn.commit()
}

/// The records the writes may choose from.
fn some_keys(
    txn: &impl Snapshot,
    db: Database,
    random: &mut Random,
    count: usize,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut keys = Vec::new();
    let mut cursor = txn.cursor(db)?;
    let mut record = cursor.first()?;
    while let Some((key, value)) = record {
        // Records of 48 bytes may be databases, which a plain write must not touch.
        if value.len() != 48 {
            keys.push(key.to_vec());
        }
        record = cursor.next()?;
    }
    Ok((0..count.min(keys.len()))
        .map(|_| random.pick(&keys).clone())
        .collect())
}

fn overwrite_some(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for key in some_keys(&txn, db, random, 6)? {
        if let Some(value) = txn.get(db, &key)?.map(<[u8]>::to_vec) {
            txn.put(db, &key, &value)?;
        }
    }
    txn.commit()
}

fn delete_some(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for key in some_keys(&txn, db, random, 8)? {
        txn.delete(db, &key)?;
    }
    txn.commit()
}

fn put_many(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for i in 0..120_usize {
        let value = vec![0x61; if i % 17 == 0 { 10_000 } else { 20 + i }];
        txn.put(db, format!("~~many{i:04}").as_bytes(), &value)?;
    }
    txn.commit()
}

/// The databases that the main one names, as far as they open.
fn named(txn: &impl Snapshot) -> Vec<Database> {
    let open = |name: String| txn.open_database(Some(&name)).ok();
    names(txn).into_iter().filter_map(open).collect()
}

type Pair = (Vec<u8>, Vec<u8>);

/// Some pairs of a database, with keys of several values among them.
fn some_pairs(
    txn: &impl Snapshot,
    db: Database,
    random: &mut Random,
    count: usize,
) -> Result<Vec<Pair>, Error> {
    let mut pairs = Vec::new();
    let mut cursor = txn.cursor(db)?;
    let mut record = cursor.first()?;
    while let Some((key, value)) = record {
        pairs.push((key.to_vec(), value.to_vec()));
        record = cursor.next()?;
    }
    Ok((0..count.min(pairs.len()))
        .map(|_| random.pick(&pairs).clone())
        .collect())
}

/// A value like another, but marked as ours.
fn marked(value: &[u8], random: &mut Random) -> Vec<u8> {
    let mut marked = random.bytes(value.len());
    for (byte, mark) in marked.iter_mut().zip(MARK) {
        *byte = *mark;
    }
    marked
}

/// Adds values until small pages inside nodes have become trees.
fn add_values(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    for db in named(&txn) {
        for (key, value) in some_pairs(&txn, db, random, 20)? {
            for _ in 0..random.between(1, 60) {
                txn.put(db, &key, &marked(&value, random))?;
            }
        }
    }
    txn.commit()
}

fn delete_values(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    for db in named(&txn) {
        for (key, value) in some_pairs(&txn, db, random, 60)? {
            match txn.delete_pair(db, &key, &value) {
                Ok(_) | Err(Error::WrongKind(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    txn.commit()
}

/// Deletes and stores through a cursor.
fn replace_values(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    for db in named(&txn) {
        for (key, value) in some_pairs(&txn, db, random, 20)? {
            let mut cursor = txn.cursor_mut(db)?;
            if cursor.seek(&key)?.is_some() {
                cursor.delete_with(random.chance(30))?;
                cursor.next()?;
                cursor.prev()?;
                cursor.put(&key, &marked(&value, random))?;
            }
        }
    }
    txn.commit()
}

/// Nested transactions, one that stays and one that is undone.
fn change_and_undo(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    for stays in [true, false, true] {
        let mut child = txn.nested()?;
        let done = change(&mut child, random);
        if stays && done.is_ok() {
            child.commit()?;
        } else {
            child.abort();
        }
    }
    txn.commit()
}

fn change(txn: &mut WriteTxn<'_>, random: &mut Random) -> Result<(), Error> {
    txn.put(Database::MAIN, b"~~nested", &[7; 5000])?;
    for db in named(txn) {
        for (key, value) in some_pairs(txn, db, random, 10)? {
            txn.put(db, &key, &marked(&value, random))?;
        }
        for (key, _) in some_pairs(txn, db, random, 2)? {
            txn.delete(db, &key)?;
        }
    }
    Ok(())
}

fn clear_named(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    for (index, db) in named(&txn).into_iter().enumerate() {
        if index % 2 == 0 {
            txn.clear_database(db)?;
        } else {
            txn.drop_database(db)?;
        }
    }
    txn.commit()
}

fn clear_main(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    txn.clear_database(db)?;
    txn.commit()
}

fn make_and_drop(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.create_database("~~made", KeyOrder::Integer)?;
    for i in 0..300_u64 {
        txn.put(db, &i.to_le_bytes(), &[7; 100])?;
    }
    txn.drop_database(db)?;
    txn.commit()
}
