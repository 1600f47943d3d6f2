//! Power loss in short: each mode keeps its promise, the judge notices faults, and what was found
//! once stays mended.

use fulgurite_testkit::{Random, quick_or_long, seed};
use fulgurite_torture::power_loss::{
    Alteration, Count, Effort, Mode, ModeTally, StateId, replay, survey,
};

/// Little enough for a test, enough to open hundreds of states.
const EFFORT: Effort = Effort {
    samples: 24,
    opened_permille: 10,
    written_percent: 20,
};

/// Histories of a mode, from a seed that is the same in every ordinary run.
fn endure(mode: Mode, default_seed: u64) -> ModeTally {
    let mut random = Random::new(seed(&mode.to_string(), default_seed));
    let mut total = ModeTally::default();
    let is_torn = mode == Mode::TornMeta;
    let effort = Effort {
        samples: if is_torn { 200 } else { EFFORT.samples },
        ..EFFORT
    };
    for _ in 0..quick_or_long(4, 300) {
        let tally = survey(mode, random.bits() >> 16, effort, Alteration::None);
        total.merge(&tally.unwrap_or_else(|failure| panic!("{failure:?}")));
    }
    println!("{}\n{mode:<17}{total}", ModeTally::heading());
    assert!(
        total.of(Count::Cuts) > 100 && total.of(Count::States) > 500,
        "too little was tried"
    );
    assert!(
        total.of(Count::Opened) > 50 && total.of(Count::Written) > 5,
        "too little was opened"
    );
    total
}

/// A mode in which all states hold a whole snapshot, the newest or one before.
fn endure_soundly(mode: Mode, default_seed: u64) -> ModeTally {
    let total = endure(mode, default_seed);
    assert_eq!(total.of(Count::Broken), 0, "{mode}");
    assert!(
        total.of(Count::Newest) > 1_000,
        "{mode}: the newest snapshot is never found"
    );
    total
}

#[test]
fn a_full_commit_survives_power_loss() {
    endure_soundly(Mode::Full, 11);
}

#[test]
fn a_full_commit_survives_power_loss_with_a_writable_map() {
    endure_soundly(Mode::MapFull, 12);
}

/// Without waiting for the meta page the last commit may be forgotten, but nothing is broken.
#[test]
fn a_commit_without_meta_sync_is_kept_or_forgotten_whole() {
    assert!(endure_soundly(Mode::NoMetaSync, 13).of(Count::Older) > 100);
    assert!(endure_soundly(Mode::MapNoMetaSync, 14).of(Count::Older) > 100);
    endure_soundly(Mode::Mixed, 15);
}

/// After a power loss the last checkpoint is found, or the one that was being made. After the end
/// of the process it is the last commit.
#[test]
fn a_checkpoint_survives_power_loss() {
    let total = endure(Mode::Checkpoints, 19);
    assert_eq!(total.of(Count::Broken), 0, "{total}");
    assert!(
        total.of(Count::Older) > 1_000,
        "checkpoints are seldom found: {total}"
    );
    assert!(total.of(Count::ProcessEnds) > 20, "{total}");
}

/// An incomplete copy is refused when opened, or is none at all.
#[test]
fn a_copy_is_whole_or_none() {
    for mode in [Mode::Copy, Mode::Compact] {
        let mut random = Random::new(seed(&mode.to_string(), 16));
        let mut total = ModeTally::default();
        for _ in 0..quick_or_long(8, 300) {
            let tally = survey(mode, random.bits() >> 16, EFFORT, Alteration::None);
            total.merge(&tally.unwrap_or_else(|failure| panic!("{failure:?}")));
        }
        assert_eq!(total.of(Count::Broken), 0);
        assert!(
            total.of(Count::Unknown) > 100 && total.ends.of("refused") > 10,
            "{total}"
        );
        assert_eq!(
            total.ends.of("damaged") + total.ends.of("wrong"),
            0,
            "{total}"
        );
    }
}

/// Modes that promise less lose more, but what is left is opened, read or refused without a crash.
#[test]
fn without_syncs_a_file_may_break_but_not_the_program() {
    for mode in [Mode::NoSync, Mode::MapAsync, Mode::MapNoSync, Mode::Liar] {
        let total = endure(mode, 17);
        assert!(
            total.of(Count::Broken) > 100,
            "{mode}: so few states are broken: {total}"
        );
        assert_eq!(total.ends.of("panicked"), 0, "{mode}");
    }
}

/// A sector whose octets arrive in their order does no harm wherever it ends; other orders are
/// counted.
#[test]
fn a_meta_page_torn_in_order_leaves_the_snapshot_before() {
    let total = endure(Mode::TornMeta, 18);
    let forwards = |end: &str| total.ends.of(&format!("forwards:{end}"));
    assert!(forwards("whole") > 100, "{total}");
    for end in ["older", "latent", "refused", "damaged", "wrong"] {
        assert_eq!(forwards(end), 0, "{end}: {total}");
    }
}

/// Returns the number of histories until an altered recording is noticed.
fn noticed(mode: Mode, alteration: Alteration) -> Option<usize> {
    (1..=20).find(|seed| survey(mode, *seed as u64, EFFORT, alteration).is_err())
}

/// The judge is worth something: recordings of faulty engines and disks are found out.
#[test]
fn a_faulty_engine_is_noticed() {
    let faults = [
        (Mode::Full, Alteration::DropSyncs),
        (Mode::Full, Alteration::DropMetaSync),
        (Mode::Full, Alteration::MetaFirst),
        (Mode::Full, Alteration::WriteAstray),
        (Mode::NoMetaSync, Alteration::DropSyncs),
        (Mode::NoMetaSync, Alteration::MetaFirst),
        (Mode::NoMetaSync, Alteration::WriteAstray),
        (Mode::MapFull, Alteration::DropMapFlushes),
        (Mode::MapNoMetaSync, Alteration::DropMapFlushes),
        (Mode::Checkpoints, Alteration::DropSyncs),
        (Mode::Checkpoints, Alteration::WriteAstray),
        (Mode::Checkpoints, Alteration::DescribeFirst),
        (Mode::Checkpoints, Alteration::DropDescriptionSyncs),
        (Mode::Checkpoints, Alteration::DescribeInPlace),
        (Mode::Checkpoints, Alteration::ReuseCheckpoint),
        (Mode::Checkpoints, Alteration::IgnoreBoot),
        (Mode::Copy, Alteration::DropSyncs),
        (Mode::Compact, Alteration::DropSyncs),
    ];
    for (mode, alteration) in faults {
        let histories = noticed(mode, alteration);
        println!("{mode} with {alteration:?}: noticed in history {histories:?}");
        assert!(
            histories.is_some_and(|count| count <= 5),
            "{mode}, {alteration:?}: {histories:?}"
        );
    }
}

/// Repeats each history of `power_loss.seeds`, which once failed.
#[test]
fn what_was_found_once_stays_mended() {
    let lines = include_str!("power_loss.seeds").lines();
    let mut tried = 0;
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (mode, seed) = line.split_once(':').expect("MODE:SEED");
        let (mode, seed) = (mode.parse().expect("a mode"), seed.parse().expect("a seed"));
        let effort = Effort {
            samples: 200,
            opened_permille: 0,
            written_percent: 10,
        };
        survey(mode, seed, effort, Alteration::None)
            .unwrap_or_else(|failure| panic!("{line}: {failure:?}"));
        tried += 1;
    }
    assert!(tried > 0);
}

/// The name of a state leads to it again.
#[test]
fn a_state_can_be_made_again() {
    let id: StateId = "full:5:9:0".parse().expect("the name of a state");
    let first = replay(id, None).expect("the state");
    assert!(first.contains("Snapshot"), "{first}");
    assert_eq!(replay(id, None).expect("the state"), first);
    assert!("full:5:9".parse::<StateId>().is_err());
    let missing: StateId = "full:5:1000000:0".parse().expect("the name of a state");
    assert!(replay(missing, None).is_err());
}
