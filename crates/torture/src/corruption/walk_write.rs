//! The changing half of a walk: transactions of every reach, some of them on each file.

use fulgurite::{
    Database, DatabaseFlags, Environment, Error, KeyOrder, Move, PutFlags, Snapshot, WriteTxn,
};
use fulgurite_testkit::Random;

use super::walk_counts::WalkCounts;
use super::walk_read::{databases, read_database};

type Change = fn(&mut WriteTxn<'_>, Database, &mut Random, &mut WalkCounts);

const CHANGES: [Change; 11] = [
    put_new,
    overwrite,
    delete_some,
    delete_pairs,
    add_values,
    through_cursor,
    reserve_and_append,
    clear,
    drop_it,
    make_another,
    delete_all_in_order,
];

/// Some transactions, each with some changes in some databases.
pub(super) fn change(environment: &Environment, random: &mut Random, counts: &mut WalkCounts) {
    for _ in 0..random.between(2, 4) {
        let Some(mut txn) = counts.see(environment.write()) else {
            return;
        };
        let all = databases(&txn, counts);
        for _ in 0..random.between(1, 4) {
            let db = *random.pick(&all);
            let one = *random.pick(&CHANGES);
            if random.chance(20) {
                in_a_nested_one(&mut txn, one, db, random, counts);
            } else {
                one(&mut txn, db, random, counts);
            }
            if random.chance(15) {
                read_database(&txn, db, random, counts);
            }
        }
        if random.chance(85) {
            counts.see(txn.commit());
        }
    }
    counts.see(environment.sync(random.chance(10)));
}

fn in_a_nested_one(
    txn: &mut WriteTxn<'_>,
    change: Change,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    let outcome = txn.nested();
    counts.calls += 1;
    let Ok(mut nested) = outcome else {
        counts.errors += 1;
        return;
    };
    change(&mut nested, db, random, counts);
    if random.chance(60) {
        counts.see(nested.commit());
    }
}

/// Some records of a database.
fn some_of(
    txn: &WriteTxn<'_>,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut some = Vec::new();
    let Some(mut cursor) = counts.see(txn.cursor(db)) else {
        return some;
    };
    let from = random.bytes(2);
    let begin = match random.below(3) {
        0 => Move::First,
        1 => Move::Last,
        _ => Move::KeyOrAfter(&from),
    };
    let mut record = counts.see(cursor.go(begin)).flatten();
    while let Some((key, value)) = record {
        // Records of 48 octets may be databases, which plain changes must not touch.
        if db != Database::MAIN || value.len() != 48 {
            some.push((key.to_vec(), value.to_vec()));
        }
        if some.len() >= 12 {
            break;
        }
        let step = *random.pick(&[Move::Next, Move::NextKey, Move::Prev]);
        record = counts.see(cursor.go(step)).flatten();
        if random.chance(5) {
            break;
        }
    }
    some
}

fn put_new(txn: &mut WriteTxn<'_>, db: Database, random: &mut Random, counts: &mut WalkCounts) {
    for _ in 0..random.between(1, 20) {
        let value_len = *random.pick(&[0, 3, 8, 30, 200, 5000]);
        let value = random.bytes(value_len);
        let key_len = *random.pick(&[8, 8, 3, 20]);
        counts.see(txn.put(db, &random.bytes(key_len), &value));
    }
}

fn overwrite(txn: &mut WriteTxn<'_>, db: Database, random: &mut Random, counts: &mut WalkCounts) {
    for (key, value) in some_of(txn, db, random, counts) {
        let len = match random.below(3) {
            0 => value.len(),
            1 => random.below(40),
            _ => random.below(3000),
        };
        counts.see(txn.put(db, &key, &random.bytes(len)));
    }
}

fn delete_some(txn: &mut WriteTxn<'_>, db: Database, random: &mut Random, counts: &mut WalkCounts) {
    for (key, _) in some_of(txn, db, random, counts) {
        counts.see(txn.delete(db, &key));
    }
}

fn delete_pairs(
    txn: &mut WriteTxn<'_>,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    for (key, value) in some_of(txn, db, random, counts) {
        counts.see(txn.delete_pair(db, &key, &value));
    }
}

/// Until small pages inside nodes have become trees.
fn add_values(txn: &mut WriteTxn<'_>, db: Database, random: &mut Random, counts: &mut WalkCounts) {
    for (key, value) in some_of(txn, db, random, counts).into_iter().take(3) {
        for _ in 0..random.between(1, 50) {
            counts.see(txn.put(db, &key, &random.bytes(value.len())));
        }
    }
}

fn through_cursor(
    txn: &mut WriteTxn<'_>,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    let some = some_of(txn, db, random, counts);
    let calls = move |txn: &mut WriteTxn<'_>, random: &mut Random| -> Result<(), Error> {
        let mut cursor = txn.cursor_mut(db)?;
        for (key, value) in some {
            if cursor.seek_range(&key)?.is_none() {
                continue;
            }
            let fresh = random.bytes(value.len());
            match random.below(4) {
                0 => cursor.delete_with(random.chance(40)).map(|_| ())?,
                1 => cursor
                    .put_with(&key, &fresh, PutFlags::CURRENT)
                    .map(|_| ())?,
                2 => cursor.put(&key, &fresh)?,
                _ => cursor.delete().map(|_| ())?,
            }
            cursor.next()?;
            cursor.prev()?;
        }
        Ok(())
    };
    let outcome = calls(txn, random);
    counts.see(outcome);
}

fn reserve_and_append(
    txn: &mut WriteTxn<'_>,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    let len = *random.pick(&[1, 40, 4000]);
    counts.calls += 1;
    if let Ok(room) = txn.reserve(db, b"reserved", len) {
        room.fill(7);
    }
    for number in 0..random.below(30) as u8 {
        counts.see(txn.append(
            db,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, number],
            b"appended",
        ));
    }
}

fn clear(txn: &mut WriteTxn<'_>, db: Database, _: &mut Random, counts: &mut WalkCounts) {
    counts.see(txn.clear_database(db));
}

fn drop_it(txn: &mut WriteTxn<'_>, db: Database, _: &mut Random, counts: &mut WalkCounts) {
    if db != Database::MAIN {
        counts.see(txn.drop_database(db));
    }
}

fn make_another(txn: &mut WriteTxn<'_>, _: Database, random: &mut Random, counts: &mut WalkCounts) {
    let flags = *random.pick(&[
        0,
        DatabaseFlags::DUP_SORT,
        DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED,
    ]);
    let Some(db) = counts.see(txn.create_named(b"made", DatabaseFlags(flags))) else {
        counts.see(txn.create_database("plain", KeyOrder::Integer));
        return;
    };
    for number in 0..random.below(120) as u64 {
        counts.see(txn.put(db, &(number / 9).to_le_bytes(), &number.to_le_bytes()));
    }
    if random.chance(30) {
        counts.see(txn.drop_database(db));
    }
}

fn delete_all_in_order(
    txn: &mut WriteTxn<'_>,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    let mut calls = |txn: &mut WriteTxn<'_>| -> Result<(), Error> {
        let mut left = random.below(400);
        let mut cursor = txn.cursor_mut(db)?;
        while left > 0 && cursor.first()?.is_some() {
            cursor.delete_with(random.chance(50))?;
            left -= 1;
        }
        Ok(())
    };
    let outcome = calls(txn);
    // Databases are not deleted as records are.
    if !matches!(outcome, Err(Error::WrongKind(_))) {
        counts.see(outcome);
    }
}
