//! The tables.

use std::fmt::Write as _;

use crate::amounts::{amount, time};
use crate::measure::Middle;
use crate::measure::Outcome;
use crate::results::{Half, Results, Row};
use crate::targets::AT_LEAST;
use crate::workload::Figure;

/// All of one run.
pub(crate) fn tables(results: &Results) -> String {
    let mut out = format!("# {}\n\n", results.title);
    circumstances(results, &mut out);
    asked(results, &mut out);
    rest(results, &mut out);
    for part in results.parts() {
        part_table(results, part, &mut out);
    }
    plans(results, &mut out);
    latencies(results, &mut out);
    if results.half != Half::Engine {
        rates(results, &mut out);
    }
    sizes(results, &mut out);
    footprint(results, &mut out);
    faults(results, &mut out);
    out
}

/// Marks a ratio as missed, met or better than hoped for.
pub(crate) fn mark(ratio: f64, asked: f64, hoped: Option<f64>) -> &'static str {
    match hoped {
        Some(hoped) if ratio >= hoped => "hoped for",
        _ if ratio >= asked => "met",
        _ => "**falls short**",
    }
}

fn circumstances(results: &Results, out: &mut String) {
    for (name, text) in &results.circumstances {
        let _ = writeln!(out, "- {name}: {text}");
    }
    let versions: Vec<String> = results
        .engines
        .iter()
        .map(|one| format!("{} ({})", one.title, one.version))
        .collect();
    let _ = writeln!(out, "- engines: {}", versions.join(", "));
    for one in results.engines.iter().filter(|one| !one.tuning.is_empty()) {
        let _ = writeln!(out, "- settings of {}: {}", one.title, one.tuning);
    }
    for missing in &results.missing {
        let _ = writeln!(out, "- missing: {}: {}", missing.title, missing.why);
    }
    for gap in &results.gaps {
        let title = results.title_of(&gap.engine);
        let _ = writeln!(out, "- no figure: {title}, {}: {}", gap.row, gap.why);
    }
}

fn ratio_cells(ratio: Middle) -> String {
    format!(
        "**{:.2}** | {:.2}-{:.2}",
        ratio.median, ratio.low, ratio.high
    )
}

const HEAD: &str = "| workload | what | whose | theirs | their rounds | ours | measured | middle half | asked | hoped for | |\n\
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// The reference's smallest and largest figure, and their distance in per cent of its median. A
/// mark shows that the distance exceeds the claim of a ratio.
pub(crate) fn spread_cell(row: &Row, reference: &str, ratio: Option<Middle>) -> String {
    let Some(spread) = row.spread(reference) else {
        return "-".to_owned();
    };
    if row
        .of(reference)
        .is_none_or(|played| played.rounds.len() < 2)
    {
        return "one round".to_owned();
    }
    let mark = match ratio {
        Some(ratio) if spread.exceeds(ratio.median) => " **unsteady**",
        _ => "",
    };
    format!(
        "{} to {}, {:.0} %{mark}",
        amount(row, spread.min),
        amount(row, spread.max),
        100.0 * spread.part()
    )
}

fn asked(results: &Results, out: &mut String) {
    let reference = results.title_of(&results.reference);
    let _ = writeln!(
        out,
        "\n## Asked and measured\n\nHow many times as fast as {reference}; the median of the rounds' ratios, and their middle half. \
         \"Their rounds\" are the smallest and the largest figure of {reference}, and the distance between them. \
         It is **unsteady** if that distance exceeds the claim: a ratio of 1.20 claims 20 %.\n"
    );
    out.push_str(HEAD);
    for line in &results.asked {
        let row = results.rows.iter().find(|row| row.name == line.workload);
        if let Some(row) = row {
            let line = asked_line(results, row, &line.ours, line.asked, line.hoped);
            let _ = writeln!(out, "{line}");
        }
    }
}

fn asked_line(results: &Results, row: &Row, ours: &str, asked: f64, hoped: Option<f64>) -> String {
    let time_of = |name: &str| {
        row.median(name)
            .map_or("-".to_owned(), |middle| amount(row, middle.median))
    };
    let measured = row.ratio(ours, &results.reference);
    let cells = measured.map_or("- | -".to_owned(), ratio_cells);
    let verdict = measured.map_or("not measured", |ratio| mark(ratio.median, asked, hoped));
    let hoped = hoped.map_or("-".to_owned(), |hoped| format!("{hoped:.2}"));
    format!(
        "| {} | {} | {} | {} | {} | {} | {cells} | {asked:.2} | {hoped} | {verdict} |",
        row.name,
        row.title,
        results.title_of(ours),
        time_of(&results.reference),
        spread_cell(row, &results.reference, measured),
        time_of(ours),
    )
}

/// Workloads without a special target.
fn rest(results: &Results, out: &mut String) {
    let _ = writeln!(
        out,
        "\nAll other workloads, none of which may be slower than {AT_LEAST}:\n"
    );
    out.push_str(HEAD);
    for row in &results.rows {
        for ours in &results.ours {
            let is_special = results.wanted(&row.name, ours).is_some();
            if !is_special && row.of(ours).is_some() && row.of(&results.reference).is_some() {
                let _ = writeln!(out, "{}", asked_line(results, row, ours, AT_LEAST, None));
            }
        }
    }
}

fn part_table(results: &Results, part: &str, out: &mut String) {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.part == part).collect();
    let players: Vec<_> = results
        .engines
        .iter()
        .filter(|one| rows.iter().any(|row| row.of(&one.name).is_some()))
        .collect();
    if players.is_empty() {
        return;
    }
    let _ = write!(out, "\n## {part}\n\n| workload |");
    for one in &players {
        let _ = write!(out, " {} |", one.title);
    }
    out.push_str("\n| --- |");
    players.iter().for_each(|_| out.push_str(" --- |"));
    out.push('\n');
    for row in rows {
        let clock = if row.figure == Figure::Wall {
            ", on the clock"
        } else {
            ""
        };
        let _ = write!(out, "| {}: {}{clock} |", row.name, row.title);
        let best = players
            .iter()
            .filter_map(|one| row.median(&one.name))
            .map(|middle| middle.median)
            .fold(f64::INFINITY, f64::min);
        for one in &players {
            let _ = match row.median(&one.name) {
                Some(middle) if middle.median <= best => {
                    write!(out, " **{}** |", amount(row, middle.median))
                }
                Some(middle) => write!(out, " {} |", amount(row, middle.median)),
                None => write!(out, " - |"),
            };
        }
        out.push('\n');
    }
}

/// Our plan of the first search of each row, as `fulgurite explain` prints it.
fn plans(results: &Results, out: &mut String) {
    let plans: Vec<_> = (results.rows.iter())
        .filter_map(|row| Some((&row.name, row.plan.as_ref()?)))
        .collect();
    if plans.is_empty() {
        return;
    }
    out.push_str(
        "\n## Our plans\n\nThe first search of each row, in the words of `fulgurite explain`.\n\n",
    );
    for (name, plan) in plans {
        let _ = writeln!(out, "- {name}: {plan}");
    }
}

fn latencies(results: &Results, out: &mut String) {
    let mut lines = String::new();
    for row in &results.rows {
        for played in &row.played {
            let all: Vec<_> = played
                .rounds
                .iter()
                .filter_map(|(_, one)| one.latencies)
                .collect();
            let median = |of: fn(&crate::measure::Latencies) -> u64| {
                Middle::of(all.iter().map(|one| of(one) as f64).collect())
                    .map(|middle| time(middle.median))
            };
            let figures = (
                median(|one| one.p50_ns),
                median(|one| one.p99_ns),
                median(|one| one.max_ns),
            );
            if let (Some(p50), Some(p99), Some(max)) = figures {
                let title = results.title_of(&played.engine);
                let _ = writeln!(lines, "| {} | {title} | {p50} | {p99} | {max} |", row.name);
            }
        }
    }
    if !lines.is_empty() {
        out.push_str("\n## How long a single one takes\n\n| workload | engine | p50 | p99 | longest |\n| --- | --- | --- | --- | --- |\n");
        out.push_str(&lines);
    }
}

/// The clients' view of a server: rates, percentiles, errors, wrong answers. The echo
/// server's rate is what the load generator and the sockets can do.
fn rates(results: &Results, out: &mut String) {
    const ECHO: &str = "echo";
    let rate = |outcome: &Outcome| outcome.operations as f64 / (outcome.wall_ns as f64 / 1e9);
    let mut lines = String::new();
    for row in &results.rows {
        let limit = row.of(ECHO).and_then(|played| {
            Middle::of(played.rounds.iter().map(|(_, one)| rate(one)).collect())
        });
        for played in row.played.iter().filter(|one| one.engine != ECHO) {
            let asked = |outcome: &&(u64, Outcome)| outcome.1.latencies.is_some();
            let rounds: Vec<_> = played.rounds.iter().filter(asked).collect();
            let Some(middle) = Middle::of(rounds.iter().map(|(_, one)| rate(one)).collect()) else {
                continue;
            };
            let sum = |of: fn(&Outcome) -> u64| rounds.iter().map(|(_, one)| of(one)).sum::<u64>();
            let _ = writeln!(
                lines,
                "| {} | {} | {:.0} | {} | {} | {} |",
                row.name,
                results.title_of(&played.engine),
                middle.median,
                limit.map_or("-".to_owned(), |limit| format!("{:.0}", limit.median)),
                sum(|one| one.errors),
                sum(|one| one.wrong),
            );
        }
    }
    if !lines.is_empty() {
        out.push_str(
            "\n## Answers a second\n\nOne server at a time, on one core, asked from the other one.\n\n\
             | workload | server | a second | the echo server's | errors | wrong answers |\n| --- | --- | --- | --- | --- | --- |\n",
        );
        out.push_str(&lines);
    }
}

fn sizes(results: &Results, out: &mut String) {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.writes).collect();
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "\n## Size of the files afterwards\n\nIn MiB. Ours may be {} times as large as theirs.\n\n| workload |",
        results.size_at_most
    );
    for one in &results.engines {
        let _ = write!(out, " {} |", one.title);
    }
    out.push_str(" ours to theirs | |\n| --- |");
    results.engines.iter().for_each(|_| out.push_str(" --- |"));
    out.push_str(" --- | --- |\n");
    for row in rows {
        let _ = write!(out, "| {} |", row.title);
        for one in &results.engines {
            let sizes = row.of(&one.name).map(|played| {
                let bytes = played.rounds.iter().map(|(_, one)| one.file_bytes as f64);
                Middle::of(bytes.collect())
            });
            let _ = match sizes.flatten() {
                Some(size) => write!(out, " {:.1} |", size.median / 1_048_576.0),
                None => write!(out, " - |"),
            };
        }
        let ours = results.ours.first().map_or("", String::as_str);
        let _ = match row.file_ratio(ours, &results.reference) {
            Some(ratio) if ratio.median <= results.size_at_most => {
                writeln!(out, " {:.3} | met |", ratio.median)
            }
            Some(ratio) => writeln!(out, " {:.3} | **falls short** |", ratio.median),
            None => writeln!(out, " - | |"),
        };
    }
}

fn footprint(results: &Results, out: &mut String) {
    if results.engines.iter().all(|one| one.code_bytes.is_none()) {
        return;
    }
    out.push_str(
        "\n## Size of the code\n\n| library | KiB of code and constants |\n| --- | --- |\n",
    );
    for one in &results.engines {
        let _ = match one.code_bytes {
            Some(bytes) => writeln!(out, "| {} | {} |", one.version, bytes >> 10),
            None => writeln!(out, "| {} | compiled in |", one.version),
        };
    }
}

fn faults(results: &Results, out: &mut String) {
    let all: Vec<_> = results
        .rows
        .iter()
        .flat_map(|row| row.faults.iter().map(move |fault| (&row.name, fault)))
        .collect();
    if all.is_empty() {
        out.push_str("\nAll engines gave the same answers to every workload.\n");
        return;
    }
    out.push_str("\n## Faults\n\n");
    for (workload, fault) in all {
        let _ = writeln!(out, "- {workload}: {fault}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_short_is_marked() {
        assert_eq!(mark(1.3, 1.35, Some(1.5)), "**falls short**");
        assert_eq!(mark(1.35, 1.35, Some(1.5)), "met");
        assert_eq!(mark(1.6, 1.35, Some(1.5)), "hoped for");
        assert_eq!(mark(0.94, 0.95, None), "**falls short**");
    }

    #[test]
    fn the_reference_shows_its_rounds() {
        let mut row = Row::empty("uid-16")
            .with("ours", &[(0, 1000), (1, 1000)])
            .with("theirs", &[(0, 2000), (1, 2600)]);
        let cell = |ratio| spread_cell(&row, "theirs", Middle::of(vec![ratio]));
        assert_eq!(cell(2.3), "200 ns to 260 ns, 26 %");
        assert_eq!(cell(1.2), "200 ns to 260 ns, 26 % **unsteady**");
        assert_eq!(spread_cell(&row, "nobody", None), "-");
        row.played.retain(|one| one.engine == "theirs");
        row.played[0].rounds.truncate(1);
        assert_eq!(spread_cell(&row, "theirs", None), "one round");
    }

    #[test]
    fn times_have_fitting_units() {
        assert_eq!(time(17.04), "17.0 ns");
        assert_eq!(time(730.2), "730 ns");
        assert_eq!(time(36_000.0), "36.0 us");
        assert_eq!(time(11_500_000.0), "11.5 ms");
    }
}
