//! Measured quantities as text.

use crate::results::Row;
use crate::workload::Figure;

/// The measured quantity of a row, with its unit.
pub(crate) fn amount(row: &Row, number: f64) -> String {
    match row.figure {
        Figure::Bytes => bytes_text(number),
        Figure::Cpu | Figure::Wall => time(number),
    }
}

pub(crate) fn bytes_text(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / 1_048_576.0)
}

/// A time that people can read.
pub(crate) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 100.0 => format!("{n:.1} ns"),
        n if n < 10_000.0 => format!("{n:.0} ns"),
        n if n < 10_000_000.0 => format!("{:.1} us", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

/// One line for each workload as it ends.
pub(crate) fn progress(row: &Row, reference: &str, ours: &[String]) {
    let mut line = format!("{:24}", row.name);
    for played in &row.played {
        if let Some(middle) = row.median(&played.engine) {
            line += &format!(" {}={}", played.engine, amount(row, middle.median));
        }
    }
    for ours in ours {
        if let Some(ratio) = row.ratio(ours, reference) {
            line += &format!(" [{ours} {:.2}x]", ratio.median);
        }
    }
    eprintln!("{line}");
    for fault in &row.faults {
        eprintln!("    {fault}");
    }
}
