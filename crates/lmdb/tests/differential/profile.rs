//! The profile of a seed: how its environment is opened, its databases, and their keys and values.
//!
//! Keys and values are numbers in a plan and become bytes here. So a plan stays short, and
//! collisions are common.

use fulgurite_testkit::Random;

use crate::api::Order;
use crate::constants::*;

/// From here on ids are in ascending order: bulk loads and appends use them.
pub(crate) const SEQUENCE: u32 = 1_000_000;
/// An empty key or value.
pub(crate) const EMPTY: u32 = u32::MAX;
/// A key or value one byte too long for a key (512).
pub(crate) const TOO_LONG: u32 = u32::MAX - 1;
/// A value of another size than the database's fixed one.
pub(crate) const OTHER_SIZE: u32 = u32::MAX - 2;
/// A value that no map has room for.
pub(crate) const HUGE: u32 = u32::MAX - 3;

/// The size of [`HUGE`] values.
const HUGE_BYTES: usize = 2 * MAP_BYTES;

/// The map of every environment: ample for any plan, sparse on disk.
pub(crate) const MAP_BYTES: usize = 48 << 20;

/// How long the record of a named database is in the main one.
pub(crate) const RECORD_BYTES: u32 = 48;

/// How the keys of a database look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// Byte strings of 1 to 511 bytes.
    Bytes,
    /// Native unsigned integers of this many bytes.
    Integer(usize),
}

/// How the values of a database look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// Anything: no duplicates.
    Plain,
    /// Sorted duplicates of 1 to 511 bytes.
    Bytes,
    /// Sorted duplicates that all have this many bytes.
    Fixed(usize),
    /// Sorted duplicates of this many bytes: integers of 8, or copies of those of 4.
    Integer(usize),
}

/// One database of a seed.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// Its name; `None` for the main database.
    pub(crate) name: Option<Vec<u8>>,
    /// The flags it is created with.
    pub(crate) flags: u32,
    /// The kind of its keys.
    pub(crate) keys: KeyKind,
    /// The kind of its values.
    pub(crate) values: ValueKind,
    /// A comparison function of our own for keys.
    pub(crate) key_order: Option<Order>,
    /// A comparison function of our own for duplicates.
    pub(crate) value_order: Option<Order>,
    /// How many different keys are used, besides the ascending ones.
    pub(crate) key_pool: u32,
    /// How many different values are used, besides the ascending ones.
    pub(crate) value_pool: u32,
    /// The number of first keys that are the names of other databases.
    names: u32,
    salt: u64,
    /// Percentage of long keys and duplicates.
    long: usize,
}

impl Database {
    /// Returns true if it has sorted duplicates.
    pub(crate) fn has_duplicates(&self) -> bool {
        self.flags & DUPSORT != 0
    }

    /// Returns true if its duplicates all have one size by their flags.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        match self.values {
            ValueKind::Fixed(n) | ValueKind::Integer(n) if self.flags & DUPFIXED != 0 => Some(n),
            _ => None,
        }
    }

    /// The bytes of a key.
    pub(crate) fn key(&self, id: u32) -> Vec<u8> {
        match (id, self.keys) {
            (EMPTY, _) => Vec::new(),
            (TOO_LONG, _) => vec![b'L'; 512],
            (id, _) if id < self.names => format!("db{id}").into_bytes(),
            (_, KeyKind::Integer(size)) => integer(self.salt, id, size),
            (_, KeyKind::Bytes) => {
                let mut bytes = word(self.salt, id, self.long);
                if id >= SEQUENCE && self.flags & REVERSEKEY != 0 {
                    bytes.reverse();
                }
                bytes
            }
        }
    }

    /// The bytes of a value; `len` matters only without duplicates.
    pub(crate) fn value(&self, id: u32, len: u32) -> Vec<u8> {
        match (id, self.values) {
            (EMPTY, _) => Vec::new(),
            (HUGE, _) => vec![0; HUGE_BYTES],
            (_, ValueKind::Plain) => {
                // As long as a database record would be taken for one.
                let len = if self.name.is_none() && len == RECORD_BYTES {
                    len + 1
                } else {
                    len
                };
                (0..len)
                    .map(|i| (id.wrapping_mul(31).wrapping_add(i)) as u8)
                    .collect()
            }
            (TOO_LONG, _) => vec![b'L'; 512],
            (OTHER_SIZE, ValueKind::Fixed(size) | ValueKind::Integer(size)) => vec![b'o'; size + 1],
            (_, ValueKind::Bytes) => word(!self.salt, id, self.long),
            (_, ValueKind::Fixed(size)) => fixed(!self.salt, id, size),
            (_, ValueKind::Integer(size)) => integer(!self.salt, id, size),
        }
    }

    /// A description for people.
    pub(crate) fn describe(&self) -> String {
        let name = match &self.name {
            Some(name) => format!("'{}'", String::from_utf8_lossy(name)),
            None => "main".to_owned(),
        };
        let mut out = format!(
            "{name} {} keys {:?} values {:?}",
            database_flag_names(self.flags),
            self.keys,
            self.values
        );
        for (what, order) in [("keys", self.key_order), ("duplicates", self.value_order)] {
            if let Some(order) = order {
                out.push_str(&format!(", {what} by {order:?}"));
            }
        }
        out
    }
}

/// The profile of a seed.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    /// Environment flags.
    pub(crate) env_flags: u32,
    /// `mdb_env_set_maxdbs`.
    pub(crate) databases_max: u32,
    /// `mdb_env_set_maxreaders`.
    pub(crate) readers_max: u32,
    /// The databases; the main one is always the first.
    pub(crate) databases: Vec<Database>,
}

impl Profile {
    /// The profile of a seed.
    pub(crate) fn new(random: &mut Random) -> Self {
        let main_only = random.chance(15);
        let mut databases = Vec::new();
        if main_only {
            databases.push(database(random, None));
        } else {
            databases.push(plain_main(random));
            for i in 0..random.between(1, 4) {
                databases.push(database(random, Some(format!("db{i}").into_bytes())));
            }
        }
        Self {
            env_flags: env_flags(random),
            databases_max: databases.len() as u32 - 1 + random.below(2) as u32,
            readers_max: *random.pick(&[126, 126, 126, 2, 3]),
            databases,
        }
    }

    /// Returns true if there are named databases, so that emptying the main one would leak them.
    pub(crate) fn has_named(&self) -> bool {
        self.databases.len() > 1
    }
}

fn env_flags(random: &mut Random) -> u32 {
    let mut flags = NOSYNC;
    for (percent, flag) in [
        (80, NOTLS),
        (15, WRITEMAP),
        (10, NOMETASYNC),
        (10, NORDAHEAD),
        (10, MAPASYNC),
        (30, NOSUBDIR),
        // Without it the reference clears every buffer; with it old bytes may reach the file, never
        // an answer.
        (20, NOMEMINIT),
    ] {
        if random.chance(percent) {
            flags |= flag;
        }
    }
    flags
}

/// The main database with named ones: their records need the default order.
fn plain_main(random: &mut Random) -> Database {
    Database {
        name: None,
        flags: 0,
        keys: KeyKind::Bytes,
        values: ValueKind::Plain,
        key_order: None,
        value_order: None,
        key_pool: 8,
        value_pool: 10,
        names: 3,
        salt: random.bits(),
        long: 0,
    }
}

fn database(random: &mut Random, name: Option<Vec<u8>>) -> Database {
    let (mut flags, keys) = match random.below(10) {
        0..=5 => (0, KeyKind::Bytes),
        6 => (REVERSEKEY, KeyKind::Bytes),
        7 | 8 => (INTEGERKEY, KeyKind::Integer(8)),
        _ => (INTEGERKEY, KeyKind::Integer(4)),
    };
    let (dup_flags, values) = match random.below(16) {
        0..=4 => (0, ValueKind::Plain),
        5..=8 => (DUPSORT, ValueKind::Bytes),
        9 => (DUPSORT | REVERSEDUP, ValueKind::Bytes),
        10 => (
            DUPSORT | INTEGERDUP,
            ValueKind::Integer(*random.pick(&[4, 8])),
        ),
        11 | 12 => (
            DUPSORT | DUPFIXED | INTEGERDUP,
            ValueKind::Integer(*random.pick(&[4, 5, 8, 8, 12])),
        ),
        13 => (
            DUPSORT | DUPFIXED | REVERSEDUP,
            ValueKind::Fixed(*random.pick(&[2, 5, 8])),
        ),
        _ => (
            DUPSORT | DUPFIXED,
            ValueKind::Fixed(*random.pick(&[1, 2, 5, 8, 16])),
        ),
    };
    flags |= dup_flags;
    let orders = [Order::Descending, Order::LengthFirst];
    // Keys or duplicates may be equal but not the same. The layout decides which of them is kept;
    // with overflow pages also for keys with one value.
    let own = |random: &mut Random| random.chance(12).then(|| *random.pick(&orders));
    let key_order = if keys == KeyKind::Bytes {
        own(random)
    } else {
        None
    };
    let value_order = if values == ValueKind::Bytes {
        own(random)
    } else {
        None
    };
    Database {
        name,
        flags,
        keys,
        values,
        key_order,
        value_order,
        key_pool: *random.pick(&[3, 8, 30, 150]),
        value_pool: *random.pick(&[3, 10, 60, 400]),
        names: 0,
        salt: random.bits(),
        long: *random.pick(&[0, 2, 2, 30]),
    }
}

/// A byte string for an id: mostly short, over few letters, `long` times of a hundred up to 511
/// bytes.
fn word(salt: u64, id: u32, long: usize) -> Vec<u8> {
    if id >= SEQUENCE {
        let mut bytes = format!("s{:07}", id - SEQUENCE).into_bytes();
        bytes.resize(8 + (salt % 4 * 9) as usize, b'.');
        return bytes;
    }
    let mut random = Random::new(salt ^ (u64::from(id) << 20));
    let len = match random.below(100) {
        p if p < long => random.between(100, 511),
        p if p < 70 => random.between(1, 4),
        p if p < 97 => random.between(3, 16),
        _ => random.between(17, 60),
    };
    (0..len).map(|_| *random.pick(b"aAbBcz\x00\xff")).collect()
}

fn fixed(salt: u64, id: u32, size: usize) -> Vec<u8> {
    if id >= SEQUENCE {
        let number = u64::from(id - SEQUENCE).to_be_bytes();
        let mut bytes = vec![0; size];
        let shared = size.min(8);
        bytes[..shared].copy_from_slice(&number[8 - shared..]);
        return bytes;
    }
    Random::new(salt ^ (u64::from(id) << 20)).bytes(size)
}

fn integer(salt: u64, id: u32, size: usize) -> Vec<u8> {
    let number = if id >= SEQUENCE {
        u64::from(id)
    } else {
        let mut random = Random::new(salt ^ (u64::from(id) << 20));
        match random.below(4) {
            0 | 1 => u64::from(id),
            2 => *random.pick(&[
                0,
                1,
                255,
                256,
                65_535,
                65_536,
                u64::from(u32::MAX),
                u64::MAX,
                1 << 32,
            ]),
            _ => random.bits(),
        }
    };
    let bytes = number.to_ne_bytes();
    match size {
        8 => bytes.to_vec(),
        // The first four bytes decide. Values that are equal by them are the same.
        _ => bytes[..4].iter().copied().cycle().take(size).collect(),
    }
}
