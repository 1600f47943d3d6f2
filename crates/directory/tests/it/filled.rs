//! A first refresh into an empty store: it ends as one that was applied in batches, or leaves
//! nothing.

use fulgurite_directory::{ContentReport, FillStep};
use fulgurite_ldap::{ContentChange, ContentEntry, EntryPlace, ResultCode};
use fulgurite_testkit::{Random, seed};

use crate::replicated::{Copy, csn, reached, records, unit};
use crate::support::{TOP, World};
use crate::sync_consumer::{Consumer, EVERYTHING, assert_equal, content, refresh};

/// Applies changes as the server does: by a fill as long as it goes.
pub(crate) fn fill(copy: &mut Copy, steps: &[Vec<ContentChange>]) -> ContentReport {
    let Copy { world, content, .. } = copy;
    let (store, directory) = (world.store.path().to_owned(), &world.directory);
    let mut fill = directory.begin_fill(&store).expect("a sound store");
    assert!(fill.is_some(), "the store is new");
    let mut report = ContentReport::default();
    for step in steps {
        let Some(mut filling) = fill.take() else {
            let applied = directory.apply_content(&store, content, step);
            report.applied += applied.expect("a sound store").applied;
            continue;
        };
        match filling.take(content, step.clone()).expect("a sound store") {
            FillStep::Continues => fill = Some(filling),
            FillStep::Ends(rest) => {
                report = filling.finish(content, rest).expect("a sound store");
            }
        }
    }
    match fill {
        Some(fill) => fill.finish(content, Vec::new()).expect("a sound store"),
        None => report,
    }
}

fn end(number: u32) -> Vec<ContentChange> {
    let state = vec![csn(number)];
    vec![
        ContentChange::DropUnnamed { state },
        ContentChange::EndRefresh,
        reached(number),
    ]
}

fn entry(change: &ContentChange) -> &ContentEntry {
    match change {
        ContentChange::Entry(entry) => entry,
        other => panic!("no entry: {other:?}"),
    }
}

#[test]
fn entries_wait_for_those_above_them() {
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,ou=a,{TOP}"));
    let lost = format!("ou=c,ou=glue,{TOP}");
    let steps = [
        vec![ContentChange::BeginRefresh, unit(3, &b, 3)],
        vec![unit(4, &lost, 4), unit(2, &a, 2)],
        vec![unit(1, TOP, 1)],
        end(5),
    ];
    let mut copy = Copy::plain();
    let report = fill(&mut copy, &steps);
    assert_eq!(report.applied, 3 + 1 + 3);
    assert_eq!(report.state, Some(vec![csn(5)]));
    assert_eq!(copy.names(), [TOP, &a, &b, &lost]);
    assert_eq!(copy.state(), [csn(5)]);
    assert_eq!(records(&copy).len(), 1, "the one below glue is logged");
    let store = copy.world.store.path().to_owned();
    let again = copy.world.directory.begin_fill(&store);
    assert!(again.expect("a sound store").is_none(), "it has entries");
}

#[test]
fn a_dropped_fill_leaves_nothing() {
    let mut copy = Copy::plain();
    let store = copy.world.store.path().to_owned();
    let Copy { world, content, .. } = &mut copy;
    let mut filling = world.directory.begin_fill(&store).unwrap().unwrap();
    let changes = vec![ContentChange::BeginRefresh, unit(1, TOP, 1)];
    let step = filling.take(content, changes).unwrap();
    assert!(matches!(step, FillStep::Continues));
    let entries = |copy: &World| copy.store.snapshot().unwrap().entry_count().unwrap();
    assert_eq!(entries(world), 0, "not visible yet");
    drop(filling);
    assert_eq!(entries(world), 0);
    let steps = [vec![ContentChange::BeginRefresh, unit(1, TOP, 1)], end(1)];
    fill(&mut copy, &steps);
    assert_eq!(copy.names(), [TOP]);
}

#[test]
fn consumers_from_before_get_everything() {
    let a = format!("ou=a,{TOP}");
    // They have an entry that was deleted before the copy was filled.
    let mut older = Copy::plain();
    older.apply(&[
        unit(1, TOP, 1),
        unit(9, &format!("ou=gone,{TOP}"), 2),
        reached(2),
    ]);
    for by_fill in [true, false] {
        let mut consumer = Consumer::new(&EVERYTHING);
        refresh(&older.world, &EVERYTHING, &mut consumer);
        let steps = [
            vec![ContentChange::BeginRefresh, unit(1, TOP, 1), unit(2, &a, 4)],
            end(5),
        ];
        let mut copy = Copy::plain();
        match by_fill {
            true => drop(fill(&mut copy, &steps)),
            false => steps.iter().for_each(|step| drop(copy.apply(step))),
        }
        let code = refresh(&copy.world, &EVERYTHING, &mut consumer);
        assert_eq!(code, ResultCode::Success);
        assert_equal(&copy.world, &EVERYTHING, &consumer, "after the fill");
        // From here on the log has everything.
        copy.apply(&[unit(2, &a, 6), reached(6)]);
        refresh(&copy.world, &EVERYTHING, &mut consumer);
        assert_equal(&copy.world, &EVERYTHING, &consumer, "by the log");
        let seen = [format!("Add {a}"), "end true".to_owned()];
        assert_eq!(consumer.seen, seen);
    }
}

/// Makes the changes of a first refresh: a tree in any order. Some entries repeat, take each
/// other's names, are deleted, or cannot be stored.
fn history(random: &mut Random, multi_provider: bool) -> Vec<ContentChange> {
    // Two entries of one name in any order would say nothing about those below.
    let is_ordered = random.below(2) == 0;
    let mut names = vec![TOP.to_owned()];
    let mut changes = vec![unit(1, TOP, 1)];
    for uuid in 2..2 + random.below(40) as u8 {
        let above = random.below(names.len());
        let label = match random.below(30) {
            0 if is_ordered => 2,
            _ => uuid,
        };
        let name = format!("ou=o{label},{}", names[above]);
        let mut change = unit(uuid, &name, u32::from(uuid));
        if let ContentChange::Entry(new) = &mut change {
            if multi_provider && random.below(2) == 0 {
                let parent = changes
                    .iter()
                    .map(entry)
                    .find(|held| held.dn == names[above]);
                new.place = parent.map(|parent| EntryPlace {
                    above: parent.uuid,
                    levels: 1,
                    csn: (random.below(8) == 0).then(|| csn(1_000)),
                });
            }
            if random.below(15) == 0 {
                let odd = crate::replicated::attribute("no such type", &["x"]);
                new.attributes.push(odd);
            }
        }
        names.push(name);
        changes.push(change);
    }
    let moves = if is_ordered { 0 } else { random.below(12) };
    for _ in 0..moves {
        let (from, to) = (random.below(changes.len()), random.below(changes.len()));
        let change = changes.remove(from);
        changes.insert(to, change);
    }
    for _ in 0..random.below(3) {
        let at = random.below(changes.len());
        let mut again = changes[at].clone();
        if let ContentChange::Entry(entry) = &mut again {
            for held in &mut entry.attributes {
                if held.description == "entryCSN" {
                    held.values = vec![csn(500).into_bytes()];
                }
            }
        }
        changes.push(again);
    }
    if multi_provider {
        for _ in 0..random.below(4) {
            let uuid = [random.below(60) as u8 + 1; 16];
            let (csn, ends) = (Some(csn(random.below(60) as u32)), None);
            let at = random.below(3).min(changes.len());
            changes.insert(at, ContentChange::Delete { uuid, csn, ends });
        }
    }
    if random.below(3) == 0 {
        let uuid = entry(&unit(2, TOP, 1)).uuid;
        changes.push(ContentChange::Present(vec![uuid]));
    }
    changes.insert(0, ContentChange::BeginRefresh);
    changes.extend(end(2_000));
    changes
}

#[test]
fn a_fill_ends_as_batches_do() {
    let seed = seed("a_fill_ends_as_batches_do", 1);
    for run in 0..200 {
        let mut random = Random::new(seed.wrapping_add(run));
        let multi_provider = random.below(2) == 0;
        let changes = history(&mut random, multi_provider);
        let mut steps: Vec<Vec<ContentChange>> = Vec::new();
        for change in changes {
            match steps.last_mut().filter(|_| random.below(5) > 0) {
                Some(step) => step.push(change),
                None => steps.push(vec![change]),
            }
        }
        let label = format!("seed {}", seed.wrapping_add(run));
        let mut filled = Copy::new(|_| {}, multi_provider);
        fill(&mut filled, &steps);
        let mut batched = Copy::new(|_| {}, multi_provider);
        for step in &steps {
            batched.apply(step);
        }
        let of = |copy: &Copy| content(&copy.world, &EVERYTHING);
        assert_eq!(of(&filled), of(&batched), "{label}: {steps:#?}");
        // The merge of batches numbers more places than that of a fill.
        let state = |copy: &Copy| {
            let state = copy.state().into_iter();
            state
                .filter(|csn| csn.contains("#001#"))
                .collect::<Vec<_>>()
        };
        assert_eq!(state(&filled), state(&batched), "{label}");
        let quarantined = |copy: &Copy| copy.world.directory.databases()[0].quarantined();
        let rows = |copy: &Copy| quarantined(copy).expect("a sound store");
        assert_eq!(rows(&filled), rows(&batched), "{label}");
        let view = filled.world.store.snapshot().expect("a snapshot");
        let report = fulgurite_store::verify(&view).expect("a sound store");
        assert!(report.is_clean(), "{label}: {report:?}");
    }
}
