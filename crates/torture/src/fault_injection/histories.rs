//! The histories whose calls fail.

use fulgurite::{Durability, SlotPolicy};
use fulgurite_testkit::Random;

use super::script::{Change, History, MANY, Opening, Step, Work};

/// Short ones, of whose calls all pairs can fail.
pub(super) fn short() -> Vec<History> {
    vec![
        history(
            "new",
            true,
            vec![open(FULL), put(0, 0..3, 100), Step::Read, Step::Close],
        ),
        history(
            "existing",
            true,
            vec![
                open(FULL),
                put(0, 0..3, 100),
                Step::Close,
                open(FULL),
                put(0, 3..5, 5000),
                Step::Close,
            ],
        ),
        history(
            "new-writemap",
            false,
            vec![open(WRITE_MAP), put(0, 0..3, 100), Step::Close],
        ),
        history(
            "reader",
            true,
            vec![
                open(FULL),
                put(1, 0..2, 10),
                held(vec![put(1, 1..3, 20)]),
                Step::ClearStale,
            ],
        ),
    ]
}

/// The others.
pub(super) fn long() -> Vec<History> {
    vec![
        history("second-handle", true, second_handle()),
        history("changes", true, changes()),
        history("spill", true, spill()),
        history("nested", true, nested()),
        history("growth", true, growth(FULL)),
        history("growth-writemap", false, growth(WRITE_MAP)),
        history("map-size", true, map_size(FULL)),
        history("map-size-writemap", false, map_size(WRITE_MAP)),
        history("durability", false, durability(FULL)),
        history("durability-writemap", false, durability(WRITE_MAP)),
        history("stale", true, stale()),
        history("dead-writer", false, dead_writer()),
        history("slots", true, slots()),
        history("copy", true, copy(FULL)),
        history("copy-writemap", false, copy(WRITE_MAP)),
        history("previous", false, previous(FULL)),
        history("previous-writemap", false, previous(WRITE_MAP)),
        history("read-only", false, read_only()),
        history("no-lock", true, no_lock()),
        history("fixed", true, fixed()),
        history("beside", false, beside()),
        history("joined", true, joined()),
        history("compact", true, compact(FULL)),
        history("compact-writemap", false, compact(WRITE_MAP)),
        history("sync-meanwhile", true, sync_meanwhile()),
    ]
}

/// A long history of whatever comes to mind.
pub(super) fn random(seed: u64) -> History {
    let mut random = Random::new(seed);
    let opening = Opening {
        write_map: random.chance(30),
        no_lock: random.chance(10),
        bound: if random.chance(50) { 256 << 10 } else { 0 },
        dirty_bytes: *random.pick(&[0, 0, 20_000]),
        slots: *random.pick(&[
            SlotPolicy::Stock,
            SlotPolicy::PerThread,
            SlotPolicy::PerTransaction,
        ]),
        no_read_ahead: random.chance(20),
        ..FULL
    };
    let mut steps = vec![open(opening)];
    for _ in 0..random.between(6, 14) {
        let step = match random.below(20) {
            0..11 => Step::Write(Work {
                changes: random_changes(&mut random, 2),
                commit: random.chance(85),
            }),
            11 => Step::Read,
            // Without locks a reader pins nothing.
            12..14 if !opening.no_lock => held(
                (0..random.between(1, 3))
                    .map(|_| {
                        Step::Write(Work {
                            changes: random_changes(&mut random, 1),
                            commit: true,
                        })
                    })
                    .collect(),
            ),
            14 => Step::Sync { force: true },
            15 => Step::Copy {
                compact: random.chance(50),
            },
            16 => Step::Check,
            17 if !opening.no_lock => Step::Neighbour {
                records: random.between(1, 200) as u32,
            },
            18 => Step::MapSize(random.between(1 << 20, 3 << 20) as u64),
            _ => Step::Close,
        };
        let closes = matches!(step, Step::Close);
        steps.push(step);
        if closes {
            steps.push(open(opening));
        }
    }
    // The observer of the worst disk does not see a neighbour's commits.
    let alone = !steps
        .iter()
        .any(|step| matches!(step, Step::Neighbour { .. }));
    history(
        &format!("random-{seed}"),
        alone && !opening.write_map,
        steps,
    )
}

fn random_changes(random: &mut Random, depth: u32) -> Vec<Change> {
    let mut changes = Vec::new();
    for _ in 0..random.between(1, 4) {
        let db = random.below(2);
        let first = random.below(60) as u32;
        let keys = first..first + random.between(1, 40) as u32;
        changes.push(match random.below(12) {
            0..4 => Change::Put {
                db,
                keys,
                len: *random.pick(&[0, 20, 500, 1500]),
            },
            4 => Change::Put {
                db,
                keys: first..first + 2,
                len: random.between(3000, 40_000),
            },
            5..7 => Change::Delete { db, keys },
            7 => Change::Values {
                key: first % 5,
                values: 0..random.between(1, 120) as u32,
            },
            8 => Change::RemoveValues {
                key: first % 5,
                values: 0..random.between(1, 60) as u32,
            },
            9 if random.chance(40) => Change::Drop(random.below(3)),
            9 => Change::Clear(random.below(3)),
            10 if depth > 0 => Change::Nested {
                changes: random_changes(random, depth - 1),
                commit: random.chance(70),
            },
            _ => Change::Look,
        });
    }
    changes
}

const FULL: Opening = Opening {
    durability: Durability::Full,
    write_map: false,
    map_async: false,
    read_only: false,
    no_lock: false,
    previous: false,
    fixed: false,
    no_read_ahead: false,
    map_size: 0,
    bound: 0,
    dirty_bytes: 0,
    slots: SlotPolicy::Stock,
};

const WRITE_MAP: Opening = Opening {
    write_map: true,
    ..FULL
};

fn history(name: &str, shadowed: bool, steps: Vec<Step>) -> History {
    History {
        name: name.to_owned(),
        steps,
        shadowed,
    }
}

fn open(opening: Opening) -> Step {
    Step::Open(opening)
}

fn held(steps: Vec<Step>) -> Step {
    Step::While(steps)
}

fn work(changes: Vec<Change>) -> Step {
    Step::Write(Work {
        changes,
        commit: true,
    })
}

fn put(db: usize, keys: std::ops::Range<u32>, len: usize) -> Step {
    work(vec![Change::Put { db, keys, len }])
}

fn delete(db: usize, keys: std::ops::Range<u32>) -> Step {
    work(vec![Change::Delete { db, keys }])
}

fn second_handle() -> Vec<Step> {
    let reads = Opening {
        read_only: true,
        ..FULL
    };
    vec![
        open(FULL),
        put(0, 0..20, 200),
        Step::Join(FULL),
        put(0, 20..30, 200),
        Step::Read,
        Step::Leave,
        put(0, 30..40, 200),
        Step::Close,
        // The first handle reads only; the second makes the files writable.
        open(reads),
        Step::Read,
        Step::Join(FULL),
        put(1, 0..5, 3000),
        Step::Read,
        Step::Leave,
    ]
}

fn changes() -> Vec<Step> {
    vec![
        open(FULL),
        work(vec![
            Change::Put {
                db: 0,
                keys: 0..60,
                len: 300,
            },
            Change::Values {
                key: 1,
                values: 0..10,
            },
            Change::Values {
                key: 2,
                values: 0..300,
            },
            Change::Look,
        ]),
        put(1, 0..3, 20_000),
        work(vec![
            Change::Delete {
                db: 0,
                keys: 10..50,
            },
            Change::RemoveValues {
                key: 2,
                values: 100..250,
            },
        ]),
        Step::Write(Work {
            changes: vec![Change::Drop(0), Change::Clear(MANY)],
            commit: false,
        }),
        Step::Check,
        work(vec![Change::Drop(1), Change::Clear(MANY)]),
        put(1, 0..30, 700),
        Step::Facts,
    ]
}

fn spill() -> Vec<Step> {
    let opening = Opening {
        dirty_bytes: 16 << 10,
        ..FULL
    };
    vec![
        open(opening),
        put(0, 0..80, 400),
        work(vec![
            Change::Put {
                db: 0,
                keys: 40..120,
                len: 500,
            },
            Change::Put {
                db: 1,
                keys: 0..2,
                len: 30_000,
            },
            Change::Delete { db: 0, keys: 0..60 },
            Change::Look,
        ]),
        delete(0, 60..110),
    ]
}

fn nested() -> Vec<Step> {
    let opening = Opening {
        dirty_bytes: 16 << 10,
        ..FULL
    };
    let inner = |db, keys: std::ops::Range<u32>, commit: bool| Change::Nested {
        changes: vec![
            Change::Put { db, keys, len: 600 },
            Change::Nested {
                changes: vec![Change::Delete { db, keys: 0..10 }],
                commit: !commit,
            },
        ],
        commit,
    };
    vec![
        open(opening),
        put(0, 0..20, 400),
        work(vec![
            Change::Put {
                db: 0,
                keys: 20..40,
                len: 400,
            },
            inner(0, 40..70, true),
            inner(1, 0..30, false),
            Change::Look,
        ]),
        Step::Read,
    ]
}

fn growth(opening: Opening) -> Vec<Step> {
    let opening = Opening {
        bound: 128 << 10,
        no_read_ahead: true,
        ..opening
    };
    vec![
        open(opening),
        put(0, 0..50, 1500),
        Step::Close,
        open(Opening {
            bound: 4 << 20,
            ..opening
        }),
        held(vec![put(0, 50..150, 1500), put(1, 0..2, 200_000)]),
        put(1, 0..5, 300_000),
        delete(1, 1..5),
        Step::Read,
    ]
}

fn map_size(opening: Opening) -> Vec<Step> {
    let opening = Opening {
        map_size: 256 << 10,
        ..opening
    };
    vec![
        open(opening),
        put(0, 0..20, 1500),
        Step::MapSize(1 << 20),
        held(vec![put(0, 20..60, 1500), Step::Read]),
        Step::MapSize(2 << 30),
        put(0, 60..90, 1500),
        Step::MapSize(2 << 20),
        Step::Close,
        open(opening),
        Step::Read,
    ]
}

fn durability(opening: Opening) -> Vec<Step> {
    let asynchronous = Opening {
        map_async: true,
        durability: Durability::NoMetaSync,
        ..opening
    };
    vec![
        open(asynchronous),
        put(0, 0..10, 300),
        Step::Sync { force: true },
        Step::Durability(Durability::NoSync),
        put(0, 10..30, 300),
        Step::Sync { force: false },
        Step::Sync { force: true },
        Step::Durability(Durability::Full),
        put(0, 30..40, 300),
        Step::Sync { force: false },
    ]
}

fn stale() -> Vec<Step> {
    vec![
        open(FULL),
        put(0, 0..10, 300),
        Step::DeadReader,
        put(0, 10..20, 300),
        put(0, 20..30, 300),
        Step::DeadReader,
        Step::ClearStale,
        held(vec![
            put(0, 30..40, 300),
            Step::DeadReader,
            put(0, 40..50, 300),
            Step::ClearStale,
        ]),
        Step::Facts,
    ]
}

fn dead_writer() -> Vec<Step> {
    vec![
        open(FULL),
        put(0, 0..10, 300),
        Step::DeadReader,
        Step::DeadWriter,
        put(0, 10..20, 300),
        Step::Read,
    ]
}

fn slots() -> Vec<Step> {
    let with = |slots| Opening { slots, ..FULL };
    let body = || {
        held(vec![
            put(0, 0..5, 100),
            Step::Read,
            put(0, 5..9, 100),
            Step::Read,
        ])
    };
    vec![
        open(with(SlotPolicy::PerTransaction)),
        put(0, 0..3, 100),
        body(),
        Step::Join(with(SlotPolicy::Stock)),
        body(),
        Step::Leave,
        Step::Close,
        open(with(SlotPolicy::Stock)),
        body(),
    ]
}

fn copy(opening: Opening) -> Vec<Step> {
    vec![
        open(opening),
        put(0, 0..80, 700),
        work(vec![
            Change::Values {
                key: 3,
                values: 0..200,
            },
            Change::Put {
                db: 1,
                keys: 0..2,
                len: 9000,
            },
        ]),
        delete(0, 10..40),
        Step::Copy { compact: false },
        Step::Copy { compact: true },
        Step::CopyToPipe { compact: false },
        Step::CopyToPipe { compact: true },
        put(0, 0..5, 100),
    ]
}

fn previous(opening: Opening) -> Vec<Step> {
    let back = Opening {
        previous: true,
        ..opening
    };
    vec![
        open(opening),
        put(0, 0..10, 300),
        put(0, 10..20, 300),
        Step::Close,
        open(back),
        Step::Read,
        put(0, 20..30, 300),
        put(0, 30..40, 300),
        Step::Close,
        open(opening),
        Step::Read,
    ]
}

fn read_only() -> Vec<Step> {
    let reads = Opening {
        read_only: true,
        ..FULL
    };
    vec![
        open(FULL),
        put(0, 0..30, 700),
        Step::Close,
        open(reads),
        Step::Read,
        held(vec![
            Step::Neighbour { records: 30 },
            Step::Read,
            Step::Facts,
        ]),
        Step::Copy { compact: true },
        Step::Check,
    ]
}

fn no_lock() -> Vec<Step> {
    let opening = Opening {
        no_lock: true,
        ..FULL
    };
    vec![
        open(opening),
        put(0, 0..10, 300),
        put(0, 5..15, 3000),
        Step::Read,
        Step::Close,
        open(opening),
        put(1, 0..3, 10),
    ]
}

fn fixed() -> Vec<Step> {
    let opening = Opening {
        fixed: true,
        bound: 1 << 20,
        ..FULL
    };
    vec![
        open(opening),
        put(0, 0..10, 300),
        Step::Close,
        open(opening),
        put(0, 5..15, 300),
        Step::Read,
    ]
}

fn beside() -> Vec<Step> {
    let opening = Opening {
        bound: 256 << 10,
        ..FULL
    };
    vec![
        open(opening),
        put(0, 0..10, 300),
        Step::Neighbour { records: 20 },
        Step::Read,
        held(vec![
            Step::Neighbour { records: 400 },
            Step::Read,
            put(0, 10..20, 300),
        ]),
        Step::Facts,
    ]
}

fn joined() -> Vec<Step> {
    vec![
        open(FULL),
        put(0, 0..10, 300),
        Step::NeighbourHolds(true),
        Step::Close,
        open(FULL),
        held(vec![put(0, 10..20, 300)]),
        put(0, 20..30, 300),
        Step::NeighbourHolds(false),
        Step::Close,
        open(FULL),
        Step::Read,
    ]
}

fn compact(opening: Opening) -> Vec<Step> {
    vec![
        open(opening),
        put(0, 0..60, 700),
        put(1, 0..3, 20_000),
        put(0, 60..120, 700),
        delete(1, 0..3),
        delete(0, 10..80),
        Step::Compact,
        Step::Check,
        put(1, 0..2, 9000),
        held(vec![delete(1, 0..2), Step::Compact, Step::Read]),
        Step::Compact,
        put(0, 0..40, 700),
    ]
}

fn sync_meanwhile() -> Vec<Step> {
    let opening = Opening {
        dirty_bytes: 16 << 10,
        ..FULL
    };
    vec![
        open(opening),
        put(0, 0..10, 300),
        work(vec![
            Change::Put {
                db: 0,
                keys: 10..90,
                len: 700,
            },
            Change::SyncMeanwhile,
            Change::Put {
                db: 0,
                keys: 90..95,
                len: 700,
            },
        ]),
        Step::Read,
    ]
}
