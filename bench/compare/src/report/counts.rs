//! Counts of instructions: as a table, or held against their bounds.

use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::count::{Count, Counting, judge, read_bounds};
use crate::engines::{Engine, REFERENCE};

/// Ours and the original's, side by side.
pub(crate) fn show_counts(counting: &Counting) -> anyhow::Result<()> {
    let counts_of = |name: &str| {
        let engine = Engine::named(name).with_context(|| format!("no engine {name}"))?;
        counting.count(engine)
    };
    let (theirs, ours) = (counts_of(REFERENCE)?, counts_of("fulgurite-c")?);
    println!(
        "| workload | LMDB 0.9.36, instructions | Fulgurite, C | ratio |\n| --- | --- | --- | --- |"
    );
    for count in &ours {
        let other = theirs.iter().find(|other| other.workload == count.workload);
        let other = other.map_or(f64::NAN, |other| other.instructions);
        println!(
            "| {} | {other:.0} | {:.0} | **{:.2}** |",
            count.workload,
            count.instructions,
            other / count.instructions
        );
    }
    Ok(())
}

/// Prints the counts of several builds of our server: each next to the first.
pub(crate) fn show_server_counts(builds: &[(String, Vec<Count>)]) {
    let names = builds.iter().map(|(name, _)| name.as_str());
    println!("| operation | {} |", names.collect::<Vec<_>>().join(" | "));
    println!("| --- |{}", " --- |".repeat(builds.len()));
    let Some((_, first)) = builds.first() else {
        return;
    };
    for (row, base) in first.iter().enumerate() {
        let cells = builds.iter().enumerate().map(|(build, (_, counts))| {
            let Some(count) = counts.get(row) else {
                return String::new();
            };
            match build {
                0 => format!("{:.0}", count.instructions),
                _ => format!(
                    "{:.0} ({:+.2} %)",
                    count.instructions,
                    (count.instructions / base.instructions - 1.0) * 100.0
                ),
            }
        });
        println!(
            "| {} | {} |",
            base.workload,
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
}

/// Fails where an operation got dearer than its bound in a file allows.
pub(crate) fn check_counts(counts: &[Count], bounds: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(bounds)
        .with_context(|| format!("cannot read {}", bounds.display()))?;
    let (faults, news) = judge(counts, &read_bounds(&text)?);
    for line in faults.iter().chain(&news) {
        println!("{line}");
    }
    let passed = counts.len().saturating_sub(faults.len());
    println!(
        "counts: {passed} passed, {} failed, 0 skipped",
        faults.len()
    );
    ensure!(faults.is_empty(), "operations got dearer; see above");
    Ok(())
}
