//! Ranges, prefixes, values of a key, counts and batches, in every order, compared with a sorted
//! list.

use std::cmp::Ordering;
use std::ops::Bound;

use fulgurite::{
    CustomOrder, Database, DatabaseFlags, Durability, Environment, Error, KeyOrder, KeyRange,
    Record, Snapshot, WriteTxn,
};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

type Pair = (Vec<u8>, Vec<u8>);
type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// The kind of a database.
#[derive(Clone, Copy, Debug)]
struct Kind {
    order: KeyOrder,
    /// Its flags about values; 0 for one value to a key.
    values: u16,
}

const SORT: u16 = DatabaseFlags::DUP_SORT;
const PACKED: u16 = SORT | DatabaseFlags::DUP_FIXED;
const REVERSED: u16 = SORT | DatabaseFlags::REVERSE_DUP;
const SHORTER_FIRST: KeyOrder = KeyOrder::Custom(CustomOrder {
    call: shorter_first,
    context: 0,
});

const KINDS: [Kind; 10] = [
    kind(KeyOrder::Lexical, 0),
    kind(KeyOrder::Reverse, 0),
    kind(KeyOrder::Integer, 0),
    kind(SHORTER_FIRST, 0),
    kind(KeyOrder::Lexical, SORT),
    kind(KeyOrder::Lexical, PACKED),
    kind(KeyOrder::Reverse, PACKED | DatabaseFlags::INTEGER_DUP),
    kind(KeyOrder::Reverse, REVERSED),
    kind(KeyOrder::Integer, SORT),
    kind(SHORTER_FIRST, PACKED),
];

const fn kind(order: KeyOrder, values: u16) -> Kind {
    Kind { order, values }
}

fn shorter_first(_: usize, a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn backwards(octets: &[u8]) -> Vec<u8> {
    octets.iter().rev().copied().collect()
}

impl Kind {
    fn flags(self) -> DatabaseFlags {
        DatabaseFlags(
            self.values
                | match self.order {
                    KeyOrder::Reverse => DatabaseFlags::REVERSE_KEY,
                    KeyOrder::Integer | KeyOrder::PackedInteger => DatabaseFlags::INTEGER_KEY,
                    KeyOrder::Lexical | KeyOrder::Custom(_) => 0,
                },
        )
    }

    fn compare_keys(self, a: &[u8], b: &[u8]) -> Ordering {
        match self.order {
            KeyOrder::Lexical => a.cmp(b),
            KeyOrder::Reverse | KeyOrder::Integer | KeyOrder::PackedInteger => {
                backwards(a).cmp(&backwards(b))
            }
            KeyOrder::Custom(order) => (order.call)(order.context, a, b),
        }
    }

    fn compare(self, a: &Pair, b: &Pair) -> Ordering {
        let from_behind = DatabaseFlags::REVERSE_DUP | DatabaseFlags::INTEGER_DUP;
        self.compare_keys(&a.0, &b.0)
            .then_with(|| match self.values & from_behind {
                0 => a.1.cmp(&b.1),
                _ => backwards(&a.1).cmp(&backwards(&b.1)),
            })
    }

    fn has_duplicates(self) -> bool {
        self.values != 0
    }

    fn key(self, random: &mut Random) -> Vec<u8> {
        if self.order == KeyOrder::Integer {
            let bound = if random.below(2) == 0 {
                300
            } else {
                usize::MAX
            };
            return (random.below(bound) as u64).to_ne_bytes().to_vec();
        }
        let len = 1 + random.below(5);
        let mut key: Vec<u8> = (0..len)
            .map(|_| *random.pick(&[0, b'a', b'b', b'c', 0xff]))
            .collect();
        if random.below(12) == 0 {
            key.extend(std::iter::repeat_n(b'a', 200));
        }
        key
    }

    fn value(self, random: &mut Random) -> Vec<u8> {
        if self.values & DatabaseFlags::DUP_FIXED != 0 {
            return random.bytes(8);
        }
        let len = match random.below(16) {
            // Without duplicates that is an overflow value.
            0 if !self.has_duplicates() => 3000 + random.below(6000),
            0 => 400,
            _ => 1 + random.below(40),
        };
        random.bytes(len)
    }

    fn create(self, txn: &mut WriteTxn<'_>) -> Database {
        let db = txn.create_named(b"things", self.flags()).unwrap();
        if let KeyOrder::Custom(order) = self.order {
            txn.set_key_order(db, Some(order));
        }
        db
    }
}

/// A database and the records it must have, in order.
struct Subject {
    kind: Kind,
    random: Random,
    model: Vec<Pair>,
}

impl Subject {
    fn change(&mut self, txn: &mut WriteTxn<'_>, db: Database) {
        for _ in 0..self.random.below(700) {
            let key = self.kind.key(&mut self.random);
            if self.random.below(4) == 0 {
                let had = self.model.iter().any(|pair| pair.0 == key);
                assert_eq!(txn.delete(db, &key).unwrap(), had);
                self.model.retain(|pair| pair.0 != key);
                continue;
            }
            // Sometimes enough values for their own tree.
            let many = self.kind.has_duplicates() && self.random.below(60) == 0;
            for _ in 0..if many { 1 + self.random.below(900) } else { 1 } {
                let value = self.kind.value(&mut self.random);
                txn.put(db, &key, &value).unwrap();
                self.store((key.clone(), value));
            }
        }
    }

    fn store(&mut self, pair: Pair) {
        if !self.kind.has_duplicates() {
            self.model.retain(|known| known.0 != pair.0);
        }
        let kind = self.kind;
        if let Err(at) = self
            .model
            .binary_search_by(|known| kind.compare(known, &pair))
        {
            self.model.insert(at, pair);
        }
    }

    /// A key that is there, or one that may be.
    fn any_key(&mut self) -> Vec<u8> {
        if self.model.is_empty() || self.random.below(3) == 0 {
            return self.kind.key(&mut self.random);
        }
        let at = self.random.below(self.model.len());
        self.model[at].0.clone()
    }

    fn bound(&mut self) -> Bound<Vec<u8>> {
        match self.random.below(7) {
            0 => Bound::Unbounded,
            1..4 => Bound::Included(self.any_key()),
            _ => Bound::Excluded(self.any_key()),
        }
    }

    fn bounds(&mut self) -> Bounds {
        let (low, high) = (self.bound(), self.bound());
        // Mostly the right way round.
        if let (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) =
            (&low, &high)
            && self.kind.compare_keys(a, b).is_gt()
            && self.random.below(5) > 0
        {
            return (high, low);
        }
        (low, high)
    }

    fn holds(&self, bounds: &Bounds, key: &[u8]) -> bool {
        let above = match &bounds.0 {
            Bound::Included(low) => self.kind.compare_keys(key, low).is_ge(),
            Bound::Excluded(low) => self.kind.compare_keys(key, low).is_gt(),
            Bound::Unbounded => true,
        };
        above
            && match &bounds.1 {
                Bound::Included(high) => self.kind.compare_keys(key, high).is_le(),
                Bound::Excluded(high) => self.kind.compare_keys(key, high).is_lt(),
                Bound::Unbounded => true,
            }
    }

    fn within(&self, bounds: &Bounds) -> Vec<Pair> {
        let held = self.model.iter().filter(|pair| self.holds(bounds, &pair.0));
        held.cloned().collect()
    }

    fn check(&mut self, txn: &impl Snapshot, db: Database) {
        for _ in 0..quick_or_long(12, 60) {
            let bounds = self.bounds();
            let expected = self.within(&bounds);
            self.check_range(txn, db, &bounds, &expected);
            self.check_prefix(txn, db);
            self.check_values(txn, db);
        }
        let keys: Vec<Vec<u8>> = (0..self.random.below(60)).map(|_| self.any_key()).collect();
        let one_by_one = keys.iter().map(|key| txn.get(db, key).unwrap());
        let mut values = vec![None; 3];
        txn.get_many(db, &keys, &mut values).unwrap();
        assert_eq!(values, one_by_one.collect::<Vec<_>>());
        for (key, value) in keys.iter().zip(values) {
            let first = self.model.iter().find(|pair| pair.0 == *key);
            assert_eq!(value, first.map(|pair| &*pair.1));
        }
    }

    fn check_range(
        &mut self,
        txn: &impl Snapshot,
        db: Database,
        bounds: &Bounds,
        expected: &[Pair],
    ) {
        let range = || txn.range(db, bounds.clone()).unwrap();
        assert_eq!(collect(range()), expected, "{bounds:?}");
        let mut reversed = collect(range().rev());
        reversed.reverse();
        assert_eq!(reversed, expected, "{bounds:?} backwards");
        assert_eq!(
            self.take_from_both_ends(range()),
            expected,
            "{bounds:?} mixed"
        );

        let counted = txn.count_range(db, bounds.clone()).unwrap();
        assert_eq!(counted, expected.len() as u64, "{bounds:?} counted");
        let estimated = txn.estimate_range(db, bounds.clone()).unwrap();
        assert!(estimated <= self.model.len() as u64, "{bounds:?} estimated");
        if txn.stat(db).unwrap().leaf_pages <= 2 {
            assert_eq!(estimated, counted, "{bounds:?} estimated in sight");
        }

        let mut firsts = expected.to_vec();
        firsts.dedup_by(|later, first| later.0 == first.0);
        assert_eq!(collect(range().first_values()), firsts, "{bounds:?} firsts");
        assert_eq!(self.take_from_both_ends(range().first_values()), firsts);
        let keys: Vec<&[u8]> = firsts.iter().map(|pair| &*pair.0).collect();
        let found: Result<Vec<_>, _> = range().keys().collect();
        assert_eq!(found.unwrap(), keys, "{bounds:?} keys");
        let found: Result<Vec<_>, _> = range().keys().rev().collect();
        assert!(found.unwrap().iter().eq(keys.iter().rev()));
    }

    /// Takes records from either end, at random, until both ends have none, and puts them in order.
    fn take_from_both_ends<'t>(
        &mut self,
        mut records: impl DoubleEndedIterator<Item = Result<Record<'t>, Error>>,
    ) -> Vec<Pair> {
        let (mut front, mut back) = (Vec::new(), Vec::new());
        let mut run = 0;
        let mut forwards = true;
        loop {
            if run == 0 {
                run = 1 + self.random.below(40);
                forwards = !forwards;
            }
            run -= 1;
            let (next, to) = if forwards {
                (records.next(), &mut front)
            } else {
                (records.next_back(), &mut back)
            };
            let Some(next) = next else { break };
            let (key, value) = next.unwrap();
            to.push((key.to_vec(), value.to_vec()));
        }
        assert!(records.next().is_none());
        assert!(records.next_back().is_none());
        front.extend(back.into_iter().rev());
        front
    }

    fn check_prefix(&mut self, txn: &impl Snapshot, db: Database) {
        let key = self.any_key();
        let len = self.random.below(key.len().min(4) + 1);
        let has_it = |pair: &&Pair| match self.kind.order {
            KeyOrder::Reverse => pair.0.ends_with(&key[key.len() - len..]),
            _ => pair.0.starts_with(&key[..len]),
        };
        let prefix = match self.kind.order {
            KeyOrder::Lexical => &key[..len],
            KeyOrder::Reverse => &key[key.len() - len..],
            KeyOrder::Integer | KeyOrder::PackedInteger | KeyOrder::Custom(_) => {
                let refused = txn.prefix(db, &key[..len]);
                assert!(matches!(refused, Err(Error::NoPrefixes)));
                return;
            }
        };
        let expected: Vec<Pair> = self.model.iter().filter(has_it).cloned().collect();
        assert_eq!(collect(txn.prefix(db, prefix).unwrap()), expected);
        let mut reversed = collect(txn.prefix(db, prefix).unwrap().rev());
        reversed.reverse();
        assert_eq!(reversed, expected);
    }

    fn check_values(&mut self, txn: &impl Snapshot, db: Database) {
        let key = self.any_key();
        let records = self.model.iter().filter(|pair| pair.0 == key);
        let expected: Vec<&[u8]> = records.map(|pair| &*pair.1).collect();
        let found: Result<Vec<_>, _> = txn.values(db, &key).unwrap().collect();
        assert_eq!(found.unwrap(), expected);
        let found: Result<Vec<_>, _> = txn.values(db, &key).unwrap().rev().collect();
        assert!(found.unwrap().iter().eq(expected.iter().rev()));
    }
}

fn collect<'t>(records: impl Iterator<Item = Result<Record<'t>, Error>>) -> Vec<Pair> {
    records
        .map(|record| record.map(|(key, value)| (key.to_vec(), value.to_vec())))
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn ranges_agree_with_a_sorted_list() {
    let seed = seed("ranges", 20_261_122);
    for (index, kind) in KINDS.into_iter().enumerate() {
        println!("{kind:?}");
        let scratch = Scratch::new("range");
        let environment = Environment::options()
            .durability(Durability::NoSync)
            .open(scratch.path())
            .unwrap();
        let mut subject = Subject {
            kind,
            random: Random::new(seed.wrapping_add(index as u64)),
            model: Vec::new(),
        };
        for _ in 0..quick_or_long(5, 60) {
            let mut txn = environment.write().unwrap();
            let db = kind.create(&mut txn);
            subject.change(&mut txn, db);
            subject.check(&txn, db);
            txn.commit().unwrap();
            let txn = environment.read().unwrap();
            subject.check(&txn, db);
        }
    }
}

/// Fills a database with up to `values` values to a key and compares estimates with counts.
/// `sorted` keys are appended, which fills all leaves except the last.
fn estimates_are_near(values: usize, sorted: bool, percent: u64) {
    let scratch = Scratch::new("range-estimates");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(scratch.path())
        .unwrap();
    let mut random = Random::new(seed("estimates", 20_261_123));
    let mut txn = environment.write().unwrap();
    let flags = if values > 1 { SORT } else { 0 };
    let db = txn.create_named(b"things", DatabaseFlags(flags)).unwrap();
    for number in 0..quick_or_long(30_000, 400_000) {
        let key = if sorted { number } else { random.bits() };
        for _ in 0..1 + random.below(values) {
            let len = 8 + random.below(60);
            let value = random.bytes(len);
            txn.put(db, &key.to_be_bytes(), &value).unwrap();
        }
    }
    let keys: Vec<&[u8]> = txn
        .range(db, ..)
        .unwrap()
        .keys()
        .map(Result::unwrap)
        .collect();
    for _ in 0..300 {
        // As often small ranges as large ones.
        let small = random.below(14);
        let len = random.below(keys.len() >> small).max(1);
        let from = random.below(keys.len() - len + 1);
        let range = keys[from]..=keys[from + len - 1];
        let exact = txn.count_range(db, range.clone()).unwrap();
        let estimate = txn.estimate_range(db, range).unwrap();
        let records = len as u64;
        assert!((records..=records * values as u64).contains(&exact));
        // Two leaves of a hundred records are the least that is not in sight.
        let allowed = exact * percent / 100 + 20;
        assert!(
            exact.abs_diff(estimate) <= allowed,
            "{estimate} estimated of {exact}, sorted: {sorted}, values: {values}"
        );
    }
    assert_eq!(
        txn.estimate_range(db, ..).unwrap(),
        txn.stat(db).unwrap().entries
    );
}

#[test]
fn estimates_are_near_in_random_trees() {
    estimates_are_near(1, false, 20);
}

#[test]
fn estimates_are_near_in_appended_trees() {
    estimates_are_near(1, true, 10);
}

#[test]
fn estimates_are_near_with_several_values() {
    estimates_are_near(4, false, 20);
}

#[test]
fn an_empty_database_has_empty_ranges() {
    let scratch = Scratch::new("range-empty");
    let environment = Environment::options().open(scratch.path()).unwrap();
    let txn = environment.read().unwrap();
    let main = Database::MAIN;
    assert!(txn.range(main, ..).unwrap().next().is_none());
    assert!(txn.range(main, ..).unwrap().next_back().is_none());
    assert!(txn.range(main, "a"..="b").unwrap().next().is_none());
    assert!(txn.prefix(main, b"a").unwrap().next_back().is_none());
    assert!(txn.values(main, b"a").unwrap().next().is_none());
    assert_eq!(txn.count_range(main, "a"..).unwrap(), 0);
    assert_eq!(txn.estimate_range(main, "a"..).unwrap(), 0);
    let mut values = Vec::new();
    txn.get_many(main, &["a", "b"], &mut values).unwrap();
    assert_eq!(values, [None, None]);
}

#[test]
fn a_pair_of_bounds_of_any_kind_is_a_range() {
    fn takes(_: impl KeyRange) {}
    takes((Bound::Included(vec![1]), Bound::Unbounded));
    takes(b"a".as_slice()..b"bc");
}
