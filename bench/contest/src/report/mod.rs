//! Results for people: tables in Markdown, one page of HTML with plots, and the figures themselves as JSON.

mod counts;
mod html;
mod markdown;
mod plots;

pub(crate) use counts::{check_counts, show_counts};

use std::path::Path;

use crate::contender::{CONTENDERS, REFERENCE};
use crate::results::{Results, Row};
use crate::workload::{Tier, Workload};

/// Writes `engine.md`, `engine.json` and `engine.html` into a folder, and prints the first.
pub(crate) fn write(results: &Results, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let tables = markdown::tables(results);
    std::fs::write(folder.join("engine.md"), &tables)?;
    std::fs::write(
        folder.join("engine.json"),
        serde_json::to_string_pretty(results)?,
    )?;
    std::fs::write(folder.join("engine.html"), html::page(results, &tables)?)?;
    println!("{tables}");
    Ok(())
}

/// One line for each workload as it ends.
pub(crate) fn progress(row: &Row) {
    let mut line = format!("{:24}", row.name);
    for played in &row.played {
        if let Some(time) = row.time(&played.contender) {
            line += &format!(" {}={}", played.contender, markdown::time(time.median));
        }
    }
    for ours in ["fulgurite-c", "fulgurite"] {
        if let Some(ratio) = row.ratio(ours, REFERENCE) {
            line += &format!(" [{ours} {:.2}x]", ratio.median);
        }
    }
    eprintln!("{line}");
    for fault in &row.faults {
        eprintln!("    {fault}");
    }
}

/// Names of all workloads and contenders.
pub(crate) fn list(workloads: &[Workload]) {
    for workload in workloads {
        let full = if workload.tier == Tier::Full {
            ", full runs only"
        } else {
            ""
        };
        println!(
            "{:24} {}: {}{full}",
            workload.name,
            workload.part.title(),
            workload.title
        );
    }
    println!();
    for contender in CONTENDERS {
        println!("{:24} {}", contender.name, contender.title);
    }
}
