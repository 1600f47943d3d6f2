//! Nested transactions against copies of a model.

use std::collections::BTreeMap;

use fulgurite::{CustomOrder, Durability, Environment, Error, KeyOrder, Snapshot, WriteTxn};
use fulgurite_testkit::{Model, Order, Random, Scratch, quick_or_long, seed};

use crate::common::{assert_model, assert_same, assert_sound};
use crate::real_tools;

/// The expected contents of the environment: the databases by name.
type World = BTreeMap<&'static str, Model>;

const NAMES: [&str; 3] = ["first", "second", "third"];
const DEPTH_MAX: usize = 5;

/// So little memory that pages of all levels are written early, changed again and written again.
const DIRTY_BYTES_MAX: usize = 48 << 10;

fn open(scratch: &Scratch, dirty_bytes_max: usize, write_map: bool) -> Environment {
    Environment::options()
        .durability(Durability::NoSync)
        .dirty_bytes_max(dirty_bytes_max)
        .write_map(write_map)
        .open(scratch.path())
        .expect("open")
}

fn assert_world(txn: &impl Snapshot, world: &World, context: &str) {
    for name in NAMES {
        match (txn.open_database(Some(name)), world.get(name)) {
            (Ok(db), Some(model)) => assert_model(txn, db, model, context),
            (Err(Error::NoDatabase(_)), None) => {}
            (found, expected) => panic!(
                "{context}: '{name}' is {found:?}, and should be {}",
                expected.is_some()
            ),
        }
    }
}

/// A few operations on any of the databases.
fn change(txn: &mut WriteTxn<'_>, world: &mut World, random: &mut Random) {
    let name = *random.pick(&NAMES);
    let db = txn
        .create_database(name, KeyOrder::Lexical)
        .expect("the database");
    let model = world
        .entry(name)
        .or_insert_with(|| Model::new(Order::Lexical));
    if random.chance(1) {
        txn.drop_database(db).expect("drop");
        world.remove(name);
        return;
    }
    if random.chance(1) {
        txn.clear_database(db).expect("clear");
        model.clear();
        return;
    }
    for _ in 0..random.below(30) {
        let key = format!("{:04}", random.below(2_000)).into_bytes();
        if random.chance(70) {
            let len = if random.chance(8) {
                random.between(2_000, 20_000)
            } else {
                random.below(300)
            };
            let value = vec![random.bits() as u8; len];
            txn.put(db, &key, &value).expect("put");
            model.put(&key, &value);
        } else {
            assert_eq!(txn.delete(db, &key).expect("delete"), model.delete(&key));
        }
    }
}

/// Works in a transaction, with nested ones in between that are committed, aborted or dropped.
fn work(txn: &mut WriteTxn<'_>, world: &mut World, random: &mut Random, depth: usize) {
    for _ in 0..random.between(1, 6) {
        change(txn, world, random);
        if depth == DEPTH_MAX || random.chance(30) {
            continue;
        }
        let mut inner = world.clone();
        let mut child = txn.nested().expect("a nested transaction");
        assert_eq!(child.nesting(), depth + 1);
        work(&mut child, &mut inner, random, depth + 1);
        match random.below(5) {
            0 | 1 => child.abort(),
            2 => drop(child),
            _ => {
                child.commit().expect("commit of a nested transaction");
                *world = inner;
            }
        }
        if random.chance(20) {
            assert_world(txn, world, &format!("after a child of level {depth}"));
        }
    }
}

fn run(name: &str, default_seed: u64, dirty_bytes_max: usize, write_map: bool) {
    let mut random = Random::new(seed(name, default_seed));
    let scratch = Scratch::new(name);
    let mut environment = open(&scratch, dirty_bytes_max, write_map);
    let mut world = World::new();
    for round in 0..quick_or_long(12, 3_000) {
        let context = format!("{name}, round {round}");
        let reader = environment.read().expect("a reader");
        let before = world.clone();
        let mut txn = environment.write().expect("the writer");
        let mut inner = world.clone();
        work(&mut txn, &mut inner, &mut random, 0);
        assert_world(&txn, &inner, &context);
        if random.chance(25) {
            txn.abort();
        } else {
            txn.commit().expect("commit");
            world = inner;
        }
        assert_world(&reader, &before, &context);
        drop(reader);
        assert_sound(scratch.path(), &context);
        if random.chance(10) {
            drop(environment);
            environment = open(&scratch, dirty_bytes_max, write_map);
        }
        assert_world(&environment.read().expect("a reader"), &world, &context);
    }
    drop(environment);
    for (name, model) in &world {
        let listed = real_tools::dump(scratch.path(), Some(name));
        assert_same(&listed, &model.listing(), name);
    }
    real_tools::accept(scratch.path());
}

#[test]
fn nested_transactions_behave_like_copies_of_a_model() {
    run("nested", 71, DIRTY_BYTES_MAX, false);
}

#[test]
fn nested_transactions_behave_alike_without_spilling() {
    run("nested-memory", 73, 256 << 20, false);
}

#[test]
fn nested_transactions_behave_alike_in_a_writable_map() {
    run("nested-map", 72, DIRTY_BYTES_MAX, true);
}

/// Many small nested transactions in one: what each copies is used again by the next.
#[test]
fn nested_transactions_one_after_the_other_share_their_room() {
    let scratch = Scratch::new("nested-room");
    let environment = open(&scratch, DIRTY_BYTES_MAX, false);
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database("first", KeyOrder::Lexical)
        .expect("the database");
    let large = vec![7; 9_000];
    for key in 0_u32..2_000 {
        txn.put(db, &key.to_be_bytes(), &[1; 100]).expect("put");
    }
    txn.commit().expect("commit");
    let last = environment.info().expect("facts").last_page;
    let mut txn = environment.write().expect("the writer");
    for round in 0_u32..4_000 {
        let mut child = txn.nested().expect("a nested transaction");
        child
            .put(db, &(round % 100).to_be_bytes(), &[2; 100])
            .expect("put");
        child.put(db, b"large", &large).expect("put");
        if round % 3 == 0 {
            child.abort();
        } else {
            child.commit().expect("commit");
        }
    }
    txn.commit().expect("commit");
    let grown = environment.info().expect("facts").last_page - last;
    assert!(grown < 40, "{grown} pages more");
    drop(environment);
    assert_sound(scratch.path(), "after many nested transactions");
}

/// Pages that the transaction spilled, and that a nested one spilled again, are restored.
#[test]
fn an_aborted_level_restores_spilled_pages() {
    let scratch = Scratch::new("nested-early");
    let environment = open(&scratch, DIRTY_BYTES_MAX, false);
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database("first", KeyOrder::Lexical)
        .expect("the database");
    let mut model = Model::new(Order::Lexical);
    let fill = |txn: &mut WriteTxn<'_>, mark: u8| {
        for key in 0_u32..1_000 {
            let len = if key % 100 == 0 { 10_000 } else { 200 };
            txn.put(db, &key.to_be_bytes(), &vec![mark; len])
                .expect("put");
        }
    };
    fill(&mut txn, 1);
    for key in 0_u32..1_000 {
        let len = if key % 100 == 0 { 10_000 } else { 200 };
        model.put(&key.to_be_bytes(), &vec![1; len]);
    }
    for mark in 2..5 {
        let mut child = txn.nested().expect("a nested transaction");
        fill(&mut child, mark);
        let mut grandchild = child.nested().expect("a nested transaction");
        fill(&mut grandchild, mark + 10);
        grandchild.commit().expect("commit");
        child.abort();
        assert_model(&txn, db, &model, "after an aborted level");
    }
    txn.commit().expect("commit");
    drop(environment);
    let environment = open(&scratch, DIRTY_BYTES_MAX, false);
    let txn = environment.read().expect("a reader");
    assert_model(&txn, db_of(&txn), &model, "after reopening");
    drop(txn);
    drop(environment);
    assert_sound(scratch.path(), "after aborted levels");
    real_tools::accept(scratch.path());
}

fn db_of(txn: &impl Snapshot) -> fulgurite::Database {
    txn.open_database(Some("first")).expect("the database")
}

/// An error that ends a nested transaction leaves the one around it as it was.
#[test]
fn a_failed_level_is_undone_and_its_parent_goes_on() {
    let scratch = Scratch::new("nested-failed");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .map_size(1 << 20)
        .open(scratch.path())
        .expect("open");
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database("first", KeyOrder::Lexical)
        .expect("the database");
    let mut model = Model::new(Order::Lexical);
    for key in 0_u32..500 {
        txn.put(db, &key.to_be_bytes(), &[1; 300]).expect("put");
        model.put(&key.to_be_bytes(), &[1; 300]);
    }
    for commits in [true, false] {
        let mut child = txn.nested().expect("a nested transaction");
        let failed = (0_u32..10_000)
            .map(|key| child.put(db, &key.to_be_bytes(), &[2; 600]))
            .find_map(Result::err);
        assert!(matches!(failed, Some(Error::MapFull(_))), "{failed:?}");
        assert!(matches!(
            child.get(db, &[0; 4]),
            Err(Error::TransactionFailed)
        ));
        assert!(matches!(child.nested(), Err(Error::TransactionFailed)));
        if commits {
            assert!(matches!(child.commit(), Err(Error::TransactionFailed)));
        } else {
            child.abort();
        }
        assert_model(&txn, db, &model, "after a failed level");
    }
    txn.put(db, b"after", b"all").expect("put");
    model.put(b"after", b"all");
    txn.commit().expect("commit");
    let txn = environment.read().expect("a reader");
    assert_model(&txn, db, &model, "after the commit");
    drop(txn);
    drop(environment);
    assert_sound(scratch.path(), "after a failed level");
}

/// The form for callers that keep track by themselves.
#[test]
fn levels_may_be_ended_by_hand() {
    let scratch = Scratch::new("nested-by-hand");
    let environment = open(&scratch, DIRTY_BYTES_MAX, false);
    let mut txn = environment.write().expect("the writer");
    assert!(matches!(txn.commit_nested(), Err(Error::NotNested)));
    txn.abort_nested();
    let db = txn
        .create_database("first", KeyOrder::Lexical)
        .expect("the database");
    txn.begin_nested().expect("level 1");
    txn.put(db, b"1", b"").expect("put");
    txn.begin_nested().expect("level 2");
    txn.put(db, b"2", b"").expect("put");
    txn.commit_nested().expect("commit of level 2");
    txn.begin_nested().expect("level 2");
    txn.put(db, b"3", b"").expect("put");
    assert_eq!(txn.nesting(), 2);
    txn.abort_nested();
    txn.begin_nested().expect("level 2");
    txn.put(db, b"4", b"").expect("put");
    // Ends both levels as well.
    txn.commit().expect("commit");
    let mut model = Model::new(Order::Lexical);
    for key in [b"1", b"2", b"4"] {
        model.put(key, b"");
    }
    let txn = environment.read().expect("a reader");
    assert_model(&txn, db, &model, "levels by hand");
    drop(txn);
    drop(environment);
    assert_sound(scratch.path(), "levels by hand");
}

/// A transaction of which nothing is left commits nothing, even if a level read the free list.
#[test]
fn a_transaction_whose_only_level_was_aborted_changes_nothing() {
    let scratch = Scratch::new("nested-nothing");
    let environment = open(&scratch, DIRTY_BYTES_MAX, false);
    let mut txn = environment.write().expect("the writer");
    for key in 0_u32..1_000 {
        txn.put(fulgurite::Database::MAIN, &key.to_be_bytes(), &[1; 100])
            .expect("put");
    }
    txn.commit().expect("commit");
    for _ in 0..3 {
        let mut txn = environment.write().expect("the writer");
        txn.put(fulgurite::Database::MAIN, b"key", b"value")
            .expect("put");
        txn.commit().expect("commit");
    }
    let id = environment.read().expect("a reader").id();
    let mut txn = environment.write().expect("the writer");
    let mut child = txn.nested().expect("a nested transaction");
    child
        .put(fulgurite::Database::MAIN, b"key", b"other")
        .expect("put");
    child.abort();
    txn.commit().expect("commit");
    assert_eq!(environment.read().expect("a reader").id(), id);
}

/// The program's own order stays set when the nested transaction that set it is undone.
#[test]
fn orders_outlive_an_aborted_level() {
    fn backwards(_: usize, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        b.cmp(a)
    }
    let scratch = Scratch::new("nested-order");
    let environment = open(&scratch, DIRTY_BYTES_MAX, false);
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database("first", KeyOrder::Lexical)
        .expect("the database");
    let mut child = txn.nested().expect("a nested transaction");
    child.set_key_order(
        db,
        Some(CustomOrder {
            call: backwards,
            context: 0,
        }),
    );
    child.abort();
    for key in [b"1", b"2", b"3"] {
        txn.put(db, key, b"").expect("put");
    }
    let mut cursor = txn.cursor(db).expect("a cursor");
    let first = cursor.first().expect("the first record");
    assert_eq!(first, Some((&b"3"[..], &b""[..])));
}
