//! Fast steps and fast seeks lead where slow moves lead, in every kind of database.

use fulgurite::{
    CursorPosition, Database, Durability, Environment, Error, FastStep, KeyOrder, Move, ReadTxn,
    Record, Snapshot, StepUnit, ValueKind, WriteTxn,
};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

/// How a key is filled: with how many values.
const COUNTS: [usize; 6] = [1, 1, 2, 7, 40, 1500];

fn value_of(number: u32) -> [u8; 4] {
    number.wrapping_mul(0x0100_0193).to_be_bytes()
}

fn fill_plain(txn: &mut WriteTxn<'_>) -> Database {
    let db = txn.create_database("plain", KeyOrder::Lexical).unwrap();
    for number in 0_u32..3000 {
        let len = if number % 97 == 0 { 5000 } else { number % 80 };
        let key = number.wrapping_mul(0x9e37_79b9).to_be_bytes();
        txn.put(db, &key, &vec![number as u8; len as usize])
            .unwrap();
    }
    db
}

fn fill_multimap(
    txn: &mut WriteTxn<'_>,
    name: &str,
    kind: ValueKind,
    random: &mut Random,
) -> Database {
    let map = txn.create_multimap(name, KeyOrder::Lexical, kind).unwrap();
    for number in 0..300_u32 {
        for value in 0..COUNTS[random.below(COUNTS.len())] as u32 {
            txn.put(map.database(), &number.to_be_bytes(), &value_of(value))
                .unwrap();
        }
    }
    map.database()
}

const fn fast_step_of(step: Move<'_>) -> Option<FastStep> {
    let (forwards, unit) = match step {
        Move::Next => (true, StepUnit::Records),
        Move::Prev => (false, StepUnit::Records),
        Move::NextKey => (true, StepUnit::Keys),
        Move::PrevKey => (false, StepUnit::Keys),
        Move::NextDup => (true, StepUnit::Values),
        Move::PrevDup => (false, StepUnit::Values),
        _ => return None,
    };
    Some(FastStep { forwards, unit })
}

/// Makes a move. Returns its record, and whether the fast path made it.
fn go<'t>(
    txn: &'t ReadTxn<'_>,
    place: &mut CursorPosition,
    step: Move<'_>,
) -> (Result<Option<Record<'t>>, Error>, bool) {
    let fast_step = fast_step_of(step);
    let found = match (fast_step, step) {
        (Some(fast_step), _) => txn
            .fast_step_within(place, fast_step)
            .or_else(|| txn.fast_step(place, fast_step)),
        (None, Move::Block) => txn.fast_block(place),
        (None, Move::NextBlock) => txn.fast_next_block(place),
        (None, Move::KeyOrAfter(key)) => txn.fast_seek(place, key, false),
        (None, Move::Key(key)) => txn.fast_seek(place, key, true),
        (None, Move::Pair(key, value)) => txn.fast_seek_pair(place, key, value),
        _ => None,
    };
    if found.is_some() {
        return (Ok(found), true);
    }
    if let Some(FastStep {
        forwards,
        unit: StepUnit::Values,
    }) = fast_step
        && txn.is_at_last_value(place, forwards)
    {
        return (Ok(None), true);
    }
    if step == Move::NextBlock && txn.is_at_last_block(place) {
        return (Ok(None), true);
    }
    (txn.step(place, step), false)
}

fn some_move<'k>(random: &mut Random, key: &'k [u8], value: &'k [u8]) -> Move<'k> {
    match random.below(24) {
        0..5 => Move::Next,
        5..8 => Move::Prev,
        8 | 9 => Move::NextKey,
        10 => Move::PrevKey,
        11 | 12 => Move::NextDup,
        13 => Move::PrevDup,
        14 | 15 => Move::NextBlock,
        16 => Move::Block,
        17 => [Move::First, Move::Last, Move::FirstDup, Move::LastDup][random.below(4)],
        18 => Move::Current,
        19 => Move::KeyOrAfter(key),
        20 => Move::PairOrAfter(key, value),
        21 => Move::Key(key),
        22 => Move::Pair(key, value),
        _ => Move::PrevBlock,
    }
}

#[test]
fn fast_steps_lead_where_steps_lead() {
    let mut random = Random::new(seed("fast_steps", 20_261_121));
    let scratch = Scratch::new("fast_steps");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(scratch.path())
        .unwrap();
    let mut txn = environment.write().unwrap();
    let lexical = KeyOrder::Lexical;
    let databases = [
        fill_plain(&mut txn),
        fill_multimap(&mut txn, "any", ValueKind::Any(lexical), &mut random),
        fill_multimap(&mut txn, "fixed", ValueKind::Fixed(lexical), &mut random),
    ];
    txn.commit().unwrap();
    let txn = environment.read().unwrap();
    for db in databases {
        let (mut fast_steps, mut moves) = (0, 0);
        for _ in 0..quick_or_long(20, 2000) {
            let mut cursor = txn.cursor(db).unwrap();
            let mut place = CursorPosition::new(db);
            for _ in 0..30 {
                let key = (random.below(310) as u32).to_be_bytes();
                let mut value = (random.below(1 << 32) as u32).to_be_bytes();
                if random.below(2) == 0 {
                    value = value_of(random.below(1500) as u32);
                }
                let step = some_move(&mut random, &key, &value);
                for _ in 0..1 << random.below(9) {
                    let (found, was_fast) = go(&txn, &mut place, step);
                    let expected = cursor.go(step);
                    moves += 1;
                    fast_steps += usize::from(was_fast);
                    match (found, expected) {
                        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{step:?}"),
                        (Err(found), Err(expected)) => {
                            assert_eq!(found.to_string(), expected.to_string());
                        }
                        other => panic!("{step:?}: {other:?}"),
                    }
                }
            }
        }
        assert!(
            fast_steps * 4 > moves,
            "{fast_steps} of {moves} moves were fast_steps"
        );
    }
}

/// Walks detect a cycle of pages by the number of leaves passed. A turn restarts the count.
#[test]
fn turning_back_and_forth_is_no_cycle() {
    let scratch = Scratch::new("to-and-fro");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(scratch.path())
        .unwrap();
    let lexical = KeyOrder::Lexical;
    for (name, counts, [forth, back]) in [
        ("one", [1, 1500], [Move::Next, Move::Prev]),
        ("many", [1500, 1500], [Move::NextKey, Move::PrevKey]),
    ] {
        let mut txn = environment.write().unwrap();
        let map = txn
            .create_multimap(name, lexical, ValueKind::Any(lexical))
            .unwrap();
        for (key, count) in counts.into_iter().enumerate() {
            for value in 0..count {
                txn.put(map.database(), &[key as u8], &value_of(value))
                    .unwrap();
            }
        }
        txn.commit().unwrap();
        let txn = environment.read().unwrap();
        let mut place = CursorPosition::new(map.database());
        txn.step(&mut place, Move::First).unwrap();
        for _ in 0..1000 {
            for step in [forth, back] {
                let found = go(&txn, &mut place, step).0;
                assert!(found.expect(name).is_some(), "{name}: {step:?}");
            }
        }
        while go(&txn, &mut place, Move::Next).0.expect(name).is_some() {}
    }
}
