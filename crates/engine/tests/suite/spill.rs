//! Transactions far larger than the memory their dirty pages may take.

use fulgurite::{Durability, Environment, KeyOrder, Snapshot};
use fulgurite_testkit::{Model, Order, Random, Scratch, quick_or_long, seed};

use crate::common::{assert_model, assert_sound, data_bytes};
use crate::real_tools;

/// A limit at which nearly every page of the transaction is spilled and read again.
const DIRTY_BYTES_MAX: usize = 256 << 10;

fn open(scratch: &Scratch) -> Environment {
    Environment::options()
        .durability(Durability::NoSync)
        .dirty_bytes_max(DIRTY_BYTES_MAX)
        .open(scratch.path())
        .expect("open")
}

/// Puts, overwrites and deletes in random order, all in one transaction.
fn work(
    environment: &Environment,
    model: &mut Model,
    random: &mut Random,
    operations: usize,
    commit: bool,
) {
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database("big", KeyOrder::Lexical)
        .expect("the database");
    for _ in 0..operations {
        let key = format!("{:06}", random.below(30_000)).into_bytes();
        if random.chance(80) {
            let bytes = if random.chance(3) {
                random.between(4_000, 30_000)
            } else {
                random.between(0, 400)
            };
            let value = vec![random.bits() as u8; bytes];
            txn.put(db, &key, &value).expect("put");
            model.put(&key, &value);
        } else {
            assert_eq!(txn.delete(db, &key).expect("delete"), model.delete(&key));
        }
    }
    assert_model(&txn, db, model, "inside the transaction");
    if commit {
        txn.commit().expect("commit");
    } else {
        txn.abort();
    }
}

#[test]
fn a_transaction_may_be_far_larger_than_the_dirty_limit() {
    let mut random = Random::new(seed("spill", 21));
    let scratch = Scratch::new("spill");
    let environment = open(&scratch);
    let mut model = Model::new(Order::Lexical);
    let operations = quick_or_long(40_000, 1_000_000);
    work(&environment, &mut model, &mut random, operations, true);
    // A reader's snapshot must not be touched by what the next transactions write early.
    let reader = environment.read().expect("a reader");
    let seen = model.clone();
    work(
        &environment,
        &mut model.clone(),
        &mut random,
        operations / 4,
        false,
    );
    work(&environment, &mut model, &mut random, operations / 2, true);
    let db = reader.open_database(Some("big")).expect("the database");
    assert_model(&reader, db, &seen, "a reader held meanwhile");
    drop(reader);
    let snapshot = environment.read().expect("a reader");
    assert_model(&snapshot, db, &model, "after all");
    drop(snapshot);
    drop(environment);
    assert!(
        data_bytes(scratch.path()) > 20 * DIRTY_BYTES_MAX as u64,
        "the transaction was not large"
    );
    assert_sound(scratch.path(), "after spilling");
    real_tools::accept(scratch.path());
}

/// Pages written early by a transaction that was given up are free again.
#[test]
fn pages_spilled_by_an_aborted_transaction_are_reused() {
    let mut random = Random::new(22);
    let scratch = Scratch::new("spill-abort");
    let environment = open(&scratch);
    let mut model = Model::new(Order::Lexical);
    work(&environment, &mut model, &mut random, 3_000, true);
    let last = environment.info().expect("facts").last_page;
    for _ in 0..3 {
        work(&environment, &mut model.clone(), &mut random, 3_000, false);
    }
    assert_eq!(
        environment.info().expect("facts").last_page,
        last,
        "aborting changes nothing"
    );
    drop(environment);
    assert_sound(scratch.path(), "after aborting");
}
