//! The rows.

use super::{Action, Figure, Medium, Part, Participants, Tier, Workload};
use crate::store::Durability;

const MILLION: u64 = 1_000_000;

/// All rows, in the order in which they are run and shown.
pub(crate) fn table() -> Vec<Workload> {
    let mut rows = reads();
    rows.extend(writes());
    rows.extend(durable_writes());
    rows.extend(large_values());
    rows.extend(duplicates());
    rows.extend(concurrent_and_space());
    rows.extend(growth());
    rows.extend(cores());
    rows
}

fn row(name: &str, title: &str, part: Part, action: Action) -> Workload {
    Workload {
        name: name.to_owned(),
        title: title.to_owned(),
        part,
        action,
        records: MILLION,
        value_bytes: 100,
        operations: MILLION,
        batch: 1000,
        threads: 1,
        durability: Durability::Asynchronous,
        medium: Medium::Memory,
        participants: Participants::All,
        figure: Figure::Cpu,
        latencies: false,
        tier: Tier::Short,
    }
}

fn reads() -> Vec<Workload> {
    let read = |name, title, action| row(name, title, Part::Reads, action);
    vec![
        Workload {
            operations: 4 * MILLION,
            ..read("scan", "sequential read", Action::ReadForward)
        },
        Workload {
            operations: 2 * MILLION,
            tier: Tier::Full,
            ..read(
                "scan-back",
                "sequential read, backwards",
                Action::ReadBackward,
            )
        },
        Workload {
            operations: 500_000,
            ..read("get", "random read", Action::ReadRandom)
        },
        Workload {
            operations: 500_000,
            participants: Participants::LmdbFiles,
            ..read(
                "get-many",
                "random read, many keys at once",
                Action::ReadMany,
            )
        },
        Workload {
            operations: 500_000,
            tier: Tier::Full,
            ..read(
                "get-missing",
                "random read of absent keys",
                Action::ReadMissing,
            )
        },
        Workload {
            operations: 20_000,
            ..read(
                "range-100",
                "100 records from a random key",
                Action::ReadRange(100),
            )
        },
        Workload {
            operations: MILLION,
            ..read("begin", "read transaction: begin, end", Action::Begin)
        },
        Workload {
            operations: 2 * MILLION,
            participants: Participants::LmdbFiles,
            ..read("renew", "read transaction: reset, renew", Action::Renew)
        },
    ]
}

fn writes() -> Vec<Workload> {
    let write = |name, title, action| row(name, title, Part::Writes, action);
    vec![
        write(
            "put-sequential",
            "ascending keys, 1,000 a transaction",
            Action::FillForward,
        ),
        write(
            "put-scattered",
            "random keys, 1,000 a transaction",
            Action::FillScattered,
        ),
        write("append", "ascending keys said to be such", Action::Append),
        Workload {
            operations: 500_000,
            ..write(
                "overwrite",
                "random overwrites, 1,000 a transaction",
                Action::Overwrite,
            )
        },
        Workload {
            operations: 100_000,
            batch: 1,
            latencies: true,
            ..write(
                "put-single",
                "random overwrites, one a transaction",
                Action::Overwrite,
            )
        },
        Workload {
            operations: 100_000,
            records: 100_000,
            batch: 1,
            tier: Tier::Full,
            ..write(
                "put-single-sequential",
                "ascending keys, one a transaction",
                Action::FillForward,
            )
        },
        Workload {
            operations: 100_000,
            records: 100_000,
            batch: 1,
            tier: Tier::Full,
            ..write(
                "put-single-scattered",
                "random keys, one a transaction",
                Action::FillScattered,
            )
        },
        Workload {
            operations: 500_000,
            ..write(
                "delete",
                "random deletes, 1,000 a transaction",
                Action::Delete,
            )
        },
    ]
}

fn durable_writes() -> Vec<Workload> {
    let durable = |name, title, action| Workload {
        durability: Durability::Synchronous,
        medium: Medium::Disk,
        figure: Figure::Wall,
        records: 100_000,
        latencies: true,
        ..row(name, title, Part::Durable, action)
    };
    vec![
        Workload {
            operations: 2_000,
            batch: 1,
            ..durable(
                "sync-single",
                "random overwrites, one a transaction",
                Action::Overwrite,
            )
        },
        Workload {
            operations: 20_000,
            latencies: false,
            ..durable(
                "sync-batch",
                "random overwrites, 1,000 a transaction",
                Action::Overwrite,
            )
        },
        Workload {
            operations: 8_000,
            threads: 16,
            batch: 1,
            ..durable(
                "sync-submit-16",
                "16 threads, one record each",
                Action::Submit,
            )
        },
        Workload {
            operations: 1000,
            records: 1000,
            batch: 1,
            tier: Tier::Full,
            ..durable(
                "sync-fill-sequential",
                "ascending keys into an empty store, one a transaction",
                Action::FillForward,
            )
        },
        Workload {
            operations: 1000,
            records: 1000,
            batch: 1,
            tier: Tier::Full,
            ..durable(
                "sync-fill-scattered",
                "random keys into an empty store, one a transaction",
                Action::FillScattered,
            )
        },
        Workload {
            durability: Durability::Asynchronous,
            latencies: false,
            tier: Tier::Full,
            operations: MILLION,
            records: MILLION,
            ..durable(
                "disk-scattered",
                "random keys, 1,000 a transaction, not waited for",
                Action::FillScattered,
            )
        },
    ]
}

fn large_values() -> Vec<Workload> {
    let large = |name, title, action| Workload {
        records: 1000,
        operations: 1000,
        value_bytes: 100_000,
        batch: 10,
        ..row(name, title, Part::Large, action)
    };
    vec![
        large(
            "large-fill",
            "1,000 values of 100,000 bytes, 10 a transaction",
            Action::FillForward,
        ),
        Workload {
            operations: 50_000,
            ..large(
                "large-get",
                "the same, random read, both ends looked at",
                Action::ReadRandom,
            )
        },
        Workload {
            operations: 50_000,
            tier: Tier::Full,
            ..large(
                "large-scan-keys",
                "the same, sequential read, values not looked at",
                Action::ReadKeys,
            )
        },
        Workload {
            operations: 5_000,
            tier: Tier::Full,
            ..large(
                "large-scan-whole",
                "the same, sequential read, every byte looked at",
                Action::ReadWhole,
            )
        },
        Workload {
            tier: Tier::Full,
            ..large(
                "large-overwrite",
                "the same, random overwrites",
                Action::Overwrite,
            )
        },
        Workload {
            operations: 500,
            records: 500,
            batch: 1,
            ..large(
                "large-fragmented",
                "one a transaction into a file of single free pages",
                Action::FillFragmented,
            )
        },
    ]
}

fn duplicates() -> Vec<Workload> {
    let several = |name, title, action| Workload {
        value_bytes: 24,
        ..row(name, title, Part::Duplicates, action)
    };
    vec![
        several(
            "dup-put",
            "100 values to a key, random order, 1,000 a transaction",
            Action::FillScattered,
        ),
        Workload {
            operations: 4 * MILLION,
            ..several("dup-scan", "all values in order", Action::ReadForward)
        },
    ]
}

fn concurrent_and_space() -> Vec<Workload> {
    vec![
        Workload {
            operations: 300_000,
            batch: 10,
            threads: 1,
            figure: Figure::Wall,
            ..row(
                "mixed-1",
                "one reader beside a writer",
                Part::Concurrent,
                Action::ReadBesideWriter,
            )
        },
        Workload {
            operations: 300_000,
            batch: 10,
            threads: 4,
            figure: Figure::Wall,
            tier: Tier::Full,
            ..row(
                "mixed-4",
                "four readers beside a writer",
                Part::Concurrent,
                Action::ReadBesideWriter,
            )
        },
        Workload {
            records: 200_000,
            operations: 600_000,
            ..row(
                "churn",
                "the oldest goes, a new one comes",
                Part::Space,
                Action::Churn,
            )
        },
        Workload {
            operations: 20_000,
            batch: 10,
            participants: Participants::LmdbFiles,
            ..row(
                "after-reader",
                "overwrites after a long reader has ended",
                Part::Space,
                Action::OverwriteAfterReader,
            )
        },
        Workload {
            operations: 1,
            ..row(
                "copy",
                "a copy of 1,000,000 records",
                Part::Space,
                Action::Copy,
            )
        },
    ]
}

/// The same at several sizes: the curves.
fn growth() -> Vec<Workload> {
    let mut rows = Vec::new();
    for (records, label, tier) in [
        (10_000, "10k", Tier::Short),
        (100_000, "100k", Tier::Short),
        (MILLION, "1M", Tier::Short),
        (10 * MILLION, "10M", Tier::Full),
    ] {
        rows.push(Workload {
            records,
            operations: records.max(MILLION),
            participants: Participants::LmdbFiles,
            tier,
            ..row(
                &format!("grow-scan-{label}"),
                &format!("sequential read of {label}"),
                Part::Growth,
                Action::ReadForward,
            )
        });
        rows.push(Workload {
            records,
            operations: 300_000,
            participants: Participants::LmdbFiles,
            tier,
            ..row(
                &format!("grow-get-{label}"),
                &format!("random read of {label}"),
                Part::Growth,
                Action::ReadRandom,
            )
        });
        rows.push(Workload {
            records,
            operations: 300_000.min(records),
            participants: Participants::LmdbFiles,
            tier,
            ..row(
                &format!("grow-overwrite-{label}"),
                &format!("random overwrites of {label}, 1,000 a transaction"),
                Part::Growth,
                Action::Overwrite,
            )
        });
    }
    rows
}

fn cores() -> Vec<Workload> {
    let threads = |threads, tier| Workload {
        operations: 400_000,
        threads,
        figure: Figure::Wall,
        tier,
        ..row(
            &format!("get-threads-{threads}"),
            &format!("random read, {threads} threads"),
            Part::Cores,
            Action::ReadRandom,
        )
    };
    vec![
        threads(1, Tier::Short),
        threads(2, Tier::Short),
        threads(4, Tier::Full),
        threads(16, Tier::Full),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Engine;
    use crate::targets;

    #[test]
    fn names_are_unique_and_everything_asked_is_measured() {
        let rows = table();
        for (index, row) in rows.iter().enumerate() {
            assert!(
                rows[..index].iter().all(|other| other.name != row.name),
                "{}",
                row.name
            );
            assert!(row.operations >= row.batch.min(row.threads), "{}", row.name);
        }
        for line in targets::of_engine() {
            let row = rows
                .iter()
                .find(|row| row.name == line.workload)
                .expect(&line.workload);
            let ours = Engine::named(&line.ours).expect(&line.ours);
            assert!(ours.plays(row), "{}", line.workload);
            assert_eq!(row.tier, Tier::Short, "{}", line.workload);
        }
    }
}
