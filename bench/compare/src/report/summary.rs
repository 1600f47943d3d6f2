//! One table of all targets: what is asked, what was measured, and whether that is enough.

use std::fmt::Write as _;

use super::markdown::{mark, spread_cell};
use crate::amounts::{amount, bytes_text};
use crate::measure::Middle;
use crate::results::{Half, Results, Row};
use crate::targets::{AT_LEAST, STORE_SIZE_AT_MOST, Source, TARGETS, Target};

/// A target with its measured value.
struct Line {
    theirs: String,
    ours: String,
    /// The workload among several.
    which: String,
    ratio: Middle,
    /// The reference's smallest and largest figure.
    spread: String,
}

/// The table of each half that has been run.
pub(crate) fn summary(runs: &[Results]) -> String {
    let mut out = String::new();
    for (half, title, reference) in [
        (Half::Engine, "The engine, against liblmdb", "LMDB 0.9.36"),
        (Half::Directory, "The directory, against slapd", "slapd"),
    ] {
        if runs.iter().all(|run| run.half != half) {
            continue;
        }
        let _ = write!(
            out,
            "\n## {title}\n\n| row | what | {reference} | their rounds | ours | asked | hoped for | measured | middle half | |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        );
        for target in TARGETS.iter().filter(|target| target.half == half) {
            line(runs, target, &mut out);
        }
    }
    let scale = runs.iter().map(|run| run.scale).max().unwrap_or(1);
    if scale > 1 {
        let _ = writeln!(
            out,
            "\nAll sizes were divided by {scale}: this run tries the bench, and shows nothing."
        );
    }
    let faults: usize = (runs.iter().flat_map(|run| &run.rows))
        .map(|row| row.faults.len())
        .sum();
    let _ = writeln!(
        out,
        "\nFactors: how many times as fast, or as small; of sizes of files, the part of the reference's. \
         \"Their rounds\": the reference's smallest and largest figure; **unsteady** if they differ by more than the factor claims. \
         Answers are verified: {faults} faults."
    );
    out
}

fn line(runs: &[Results], target: &Target, out: &mut String) {
    let factor = |number: f64| {
        if target.is_size() {
            format!("{number:.2}x of theirs")
        } else {
            format!("{number}x")
        }
    };
    let (asked, hoped) = (
        factor(target.asked),
        target.hoped.map_or("-".to_owned(), factor),
    );
    let Some(found) = find(runs, target) else {
        let why = missing(runs, target);
        let _ = writeln!(
            out,
            "| {} | {} | - | - | - | {asked} | {hoped} | - | - | {why} |",
            target.row(),
            target.what
        );
        return;
    };
    let verdict = verdict(target, found.ratio.median);
    let _ = writeln!(
        out,
        "| {} | {}{} | {} | {} | {} | {asked} | {hoped} | **{:.2}x** | {:.2}-{:.2} | {verdict} |",
        target.row(),
        target.what,
        found.which,
        found.theirs,
        found.spread,
        found.ours,
        found.ratio.median,
        found.ratio.low,
        found.ratio.high
    );
}

fn verdict(target: &Target, measured: f64) -> &'static str {
    match target.source {
        Source::LargestFile => mark(STORE_SIZE_AT_MOST, measured, None),
        Source::Database(_) => match target.hoped {
            Some(hoped) if measured <= hoped => "hoped for",
            _ => mark(target.asked, measured, None),
        },
        _ => mark(measured, target.asked, target.hoped),
    }
}

/// The reason for a missing figure: the long run alone has its directory, or the run had chosen
/// rows.
fn missing(runs: &[Results], target: &Target) -> &'static str {
    let (Source::Directory(_, people) | Source::Database(people)) = target.source else {
        return "not measured";
    };
    let is_there = runs
        .iter()
        .any(|run| run.half == Half::Directory && run.people == people);
    if is_there || people <= crate::targets::THIRDS {
        "not measured"
    } else {
        "in bench-full"
    }
}

fn find(runs: &[Results], target: &Target) -> Option<Line> {
    let of_size = |people: u64| {
        runs.iter()
            .find(|run| run.half == Half::Directory && run.people == people)
    };
    let engine = runs.iter().find(|run| run.half == Half::Engine);
    match target.source {
        Source::Store(workload, ours) => {
            let run = engine?;
            of_row(run, row(run, workload)?, ours)
        }
        Source::Directory(name, people) => {
            let run = of_size(people)?;
            of_row(run, row(run, name)?, run.ours.first()?)
        }
        Source::Database(people) => {
            let run = of_size(people)?;
            of_files(run, row(run, "load")?)
        }
        Source::LargestFile => {
            let run = engine?;
            let lines =
                (run.rows.iter().filter(|row| row.writes)).filter_map(|row| of_files(run, row));
            lines.max_by(|one, other| one.ratio.median.total_cmp(&other.ratio.median))
        }
        Source::Slowest(ours) => slowest(engine?, ours),
    }
}

fn row<'r>(run: &'r Results, name: &str) -> Option<&'r Row> {
    run.rows.iter().find(|row| row.name == name)
}

fn of_row(run: &Results, row: &Row, ours: &str) -> Option<Line> {
    let shown = |name: &str| Some(amount(row, row.median(name)?.median));
    let ratio = row.ratio(ours, &run.reference)?;
    Some(Line {
        theirs: shown(&run.reference)?,
        ours: shown(ours)?,
        which: String::new(),
        ratio,
        spread: spread_cell(row, &run.reference, Some(ratio)),
    })
}

fn of_files(run: &Results, row: &Row) -> Option<Line> {
    let ours = run.ours.first()?;
    let shown = |name: &str| {
        let bytes = row.of(name)?.rounds.iter();
        let middle = Middle::of(bytes.map(|(_, one)| one.file_bytes as f64).collect())?;
        Some(bytes_text(middle.median))
    };
    Some(Line {
        theirs: shown(&run.reference)?,
        ours: shown(ours)?,
        which: if run.half == Half::Engine {
            format!(" ({})", row.name)
        } else {
            String::new()
        },
        ratio: row.file_ratio(ours, &run.reference)?,
        spread: "-".to_owned(),
    })
}

/// Of the workloads of which nothing special is asked.
fn slowest(run: &Results, ours: &str) -> Option<Line> {
    let mut lines = Vec::new();
    for row in &run.rows {
        if run.wanted(&row.name, ours).is_none()
            && let Some(line) = of_row(run, row, ours)
        {
            let which = format!(" ({})", row.name);
            lines.push(Line { which, ..line });
        }
    }
    let below = lines
        .iter()
        .filter(|line| line.ratio.median < AT_LEAST)
        .count();
    let mut slowest = lines
        .into_iter()
        .min_by(|one, other| one.ratio.median.total_cmp(&other.ratio.median))?;
    if below > 1 {
        let _ = write!(slowest.which, "; {below} are below {AT_LEAST}x");
    }
    Some(slowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(half: Half, people: u64, rows: Vec<Row>) -> Results {
        Results {
            half,
            people,
            scale: 1,
            reference: "theirs".to_owned(),
            ours: vec!["fulgurite".to_owned()],
            rows,
            ..Results::default()
        }
    }

    fn row(name: &str, ours: u64, theirs: u64) -> Row {
        Row::empty(name)
            .with("fulgurite", &[(0, 10 * ours)])
            .with("theirs", &[(0, 10 * theirs)])
    }

    #[test]
    fn what_was_measured_stands_beside_what_was_asked() {
        let rows = vec![row("load", 100, 450), row("uid-16", 100, 250)];
        let text = summary(&[run(Half::Directory, 100_000, rows)]);
        assert!(
            text.contains(
                "| load | load 100k: CPU | 450 ns | one round | 100 ns | 4x | 10x | **4.50x** | 4.50-4.50 | met |"
            ),
            "{text}"
        );
        assert!(text.contains("| load | database size, 100k | 0.0 MiB | - | 0.0 MiB | 0.50x of theirs | 0.35x of theirs | **0.22x** | 0.22-0.22 | hoped for |"), "{text}");
        assert!(text.contains("**2.50x** | 2.50-2.50 | **falls short** |"));
        assert!(
            text.contains("| load | load 1M: CPU | - | - | - | 4x | 10x | - | - | in bench-full |")
        );
        assert!(text.contains("| bind-16 | bind | - | - | - | 2.2x | 3x | - | - | not measured |"));
        assert!(!text.contains("liblmdb"));
    }

    #[test]
    fn the_slowest_of_the_rest_is_named() {
        let rows = vec![
            row("get-many", 100, 10),
            row("churn", 100, 50),
            row("copy", 100, 90),
        ];
        let mut run = run(Half::Engine, 0, rows);
        run.asked = crate::targets::of_engine();
        let text = summary(&[run]);
        assert!(text.contains("the same through the Rust interface (churn); 2 are below 0.95x | 50.0 ns | one round | 100 ns | 0.95x | - | **0.50x**"), "{text}");
        assert!(text.contains("the worst (get-many) |"), "{text}");
    }
}
