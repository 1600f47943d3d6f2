//! The page: every table with their figures, today's, and the ratios of both.

use std::fmt::Write as _;

use serde::Serialize;

use super::papers::{Table, Unit};
use super::part::Part;
use super::tables::TABLES;
use super::today::Measured;
use crate::amounts::{bytes_text, time};

/// The server and engine that is ours.
const OURS: &str = "fulgurite";

/// A table with today's figures.
#[derive(Debug, Serialize)]
pub(crate) struct Filled {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) cells: Vec<Cell>,
    pub(crate) not_run: String,
}

/// One contender in one line of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) what: String,
    pub(crate) contender: String,
    /// Today's engine or server.
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) theirs: Option<f64>,
    pub(crate) today: Option<f64>,
    /// Why there is no figure of today.
    pub(crate) gap: Option<String>,
    /// How many times better the first contender is, in their figures and in today's.
    pub(crate) ratio_theirs: Option<f64>,
    pub(crate) ratio_today: Option<f64>,
    /// How many times better ours is.
    pub(crate) ratio_ours: Option<f64>,
}

/// Fills all tables.
pub(crate) fn fill(measured: &Measured) -> Vec<Filled> {
    TABLES.iter().map(|table| filled(table, measured)).collect()
}

fn filled(table: &Table, measured: &Measured) -> Filled {
    let mut cells = Vec::new();
    for line in table.lines {
        let today_of = |name: &str| measured.figure(line.today, line.unit, name);
        let first = table.contenders.first();
        let first_today = first.and_then(|first| today_of(first.name));
        let ours = table
            .contenders
            .iter()
            .find(|one| one.name.starts_with(OURS));
        let ours_today = ours.and_then(|ours| today_of(ours.name));
        for (position, contender) in table.contenders.iter().enumerate() {
            let (theirs, today) = (line.theirs_of(position), today_of(contender.name));
            let gap = measured.gap(line.today, contender.name);
            if theirs.is_none() && today.is_none() && gap.is_none() {
                continue;
            }
            let better = |one: Option<f64>, other: Option<f64>| line.unit.better(one?, other?);
            let is_first = position == 0;
            let is_ours = ours.is_some_and(|ours| ours.name == contender.name);
            cells.push(Cell {
                what: line.what.to_owned(),
                contender: contender.title.to_owned(),
                name: contender.name.to_owned(),
                unit: line.unit,
                theirs,
                today,
                gap: gap.filter(|_| today.is_none()).map(str::to_owned),
                ratio_theirs: better(line.theirs_of(0), theirs).filter(|_| !is_first),
                ratio_today: better(first_today, today).filter(|_| !is_first),
                ratio_ours: better(ours_today, today).filter(|_| !is_ours),
            });
        }
    }
    Filled {
        id: table.id.to_owned(),
        title: table.title.to_owned(),
        cells,
        not_run: table.not_run.to_owned(),
    }
}

/// The page as Markdown.
pub(crate) fn markdown(measured: &Measured) -> String {
    let mut out = String::from(
        "# The founding tables\n\n\
         This page repeats the measurements of the project's founding papers. `make bench-seeds` makes it.\n\n\
         LMDB and OpenLDAP's back-mdb were first measured next to Berkeley DB, LevelDB, Kyoto Cabinet, SQLite and \
         back-hdb. The figures come from five texts. The paper on LMDB is of 2012, the messages on back-mdb of \
         2011. An article with a mail server's data and an interview are of 2013, a talk on back-bdb of 2003.\n\n\
         Their machines were larger and older, and their data too. So compare ratios, not figures. \"First\" is the first \
         contender of a table. A ratio of 2 means that it is twice as fast, or half as large, as the contender of the line. \
         \"Ours\" is the same ratio for Fulgurite.\n\n\
         The engines run in turn, each in a new process. A directory server has one core, the load generator \
         another. Rates of a directory count the server's CPU time, unless a table says otherwise.\n\n\
         Each part was run at its own time; every table tells when. A load above 1 has disturbed the rates of two \
         cores, most of all those on the clock.\n\n",
    );
    parts_table(measured, &mut out);
    about_runs(measured, &mut out);
    for (table, filled) in TABLES.iter().zip(fill(measured)) {
        table_text(table, &filled, measured, &mut out);
    }
    let faults = measured.parts.iter().flat_map(|part| {
        let faults = part.faults.iter();
        faults.map(|fault| format!("part {}: {fault}", part.name))
    });
    for (number, fault) in faults.enumerate() {
        if number == 0 {
            out.push_str("\n## Faults\n\n");
        }
        let words: Vec<&str> = fault.split_whitespace().collect();
        let _ = writeln!(out, "- {}", words.join(" "));
    }
    out.lines().map(wrapped).collect()
}

/// A line in pieces of at most a hundred columns; a table's line as it is.
fn wrapped(line: &str) -> String {
    const COLUMNS: usize = 100;
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let mut out = String::new();
    let mut column = 0;
    for word in line.split(' ') {
        let len = word.chars().count();
        if column > 0 && column + 1 + len > COLUMNS && !line.starts_with('|') {
            let _ = write!(out, "\n{indent}");
            column = indent.len();
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += len;
    }
    out + "\n"
}

/// The parts: when, of which state of the project, at which load, how long.
fn parts_table(measured: &Measured, out: &mut String) {
    out.push_str(
        "| part | day | project | load when begun | people | seconds |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for part in &measured.parts {
        let people = part.results.iter().map(|run| run.people).max();
        let people = people.filter(|&people| people > 0);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            part.name,
            part.circumstance("day"),
            part.circumstance("project"),
            part.circumstance("load when begun"),
            people.map_or(String::new(), |people| with_commas(people as f64)),
            Some(part.seconds)
                .filter(|&seconds| seconds > 0)
                .map_or(String::new(), |seconds| seconds.to_string()),
        );
    }
    out.push('\n');
    for part in measured.parts.iter().filter(|part| part.scale > 1) {
        let _ = writeln!(
            out,
            "**Part {}: all sizes were divided by {}. It tries the bench, and shows nothing.**\n",
            part.name, part.scale
        );
    }
}

/// The origin of a table's figures: one sentence for each part.
fn origins(table: &Table, measured: &Measured) -> String {
    let mut parts: Vec<&Part> = Vec::new();
    for part in table
        .lines
        .iter()
        .filter_map(|line| measured.part_of(line.today))
    {
        if !parts.iter().any(|other| other.name == part.name) {
            parts.push(part);
        }
    }
    let sentences = parts.iter().map(|part| {
        format!(
            "Part {}: {}, project {}, load {}, {}.",
            part.name,
            part.circumstance("day"),
            part.circumstance("project"),
            part.circumstance("load when begun"),
            part.circumstance("machine"),
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Machines and commands, then contenders, then what is missing; each once.
fn about_runs(measured: &Measured, out: &mut String) {
    let mut lines = Vec::new();
    for part in &measured.parts {
        for name in [
            "machine",
            "memory for stores",
            "disk for stores",
            "compiler",
            "command",
        ] {
            lines.push(format!("- {name}: {}", part.circumstance(name)));
        }
    }
    push_once(&lines, "", out);
    let runs = || measured.parts.iter().flat_map(|part| &part.results);
    let contenders = runs().flat_map(|run| &run.engines);
    let contenders = contenders.map(|one| row(&[&one.title, &one.version, &one.tuning]));
    let head = "\n| contender | version | settings |\n| --- | --- | --- |\n";
    push_once(&contenders.collect::<Vec<_>>(), head, out);
    let missing = runs().flat_map(|run| &run.missing);
    let of_parts = measured.parts.iter().flat_map(|part| &part.missing);
    let missing = missing.chain(of_parts);
    let missing = missing.map(|one| row(&[&one.title, &one.why]));
    let head = "\n| not here | reason |\n| --- | --- |\n";
    push_once(&missing.collect::<Vec<_>>(), head, out);
}

/// Appends each different line once, below a head that is left out if there are no lines.
fn push_once(lines: &[String], head: &str, out: &mut String) {
    for (index, line) in lines.iter().enumerate() {
        if index == 0 {
            out.push_str(head);
        }
        if !lines[..index].contains(line) {
            let _ = writeln!(out, "{line}");
        }
    }
}

/// Returns a table's line. A bar in a text divides no cells.
fn row(cells: &[&str]) -> String {
    let texts = cells.iter().map(|cell| {
        let words: Vec<&str> = cell.split_whitespace().collect();
        words.join(" ").replace('|', "\\|")
    });
    format!("| {} |", texts.collect::<Vec<_>>().join(" | "))
}

fn table_text(table: &Table, filled: &Filled, measured: &Measured, out: &mut String) {
    let _ = writeln!(
        out,
        "\n## {} {}\n\nTheirs: {}",
        table.id, table.title, table.theirs
    );
    if !table.today.is_empty() {
        let _ = writeln!(out, "\nToday: {}", table.today);
    }
    let origins = origins(table, measured);
    if !origins.is_empty() {
        let _ = writeln!(out, "\n{origins}");
    }
    if !filled.cells.is_empty() {
        out.push_str(
            "\n| measured | contender | theirs | today | first is better, theirs | first is better, today | ours is better, today |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n",
        );
    }
    let mut last = "";
    for cell in &filled.cells {
        let what = if cell.what == last { "" } else { &cell.what };
        last = &cell.what;
        let figure = |figure: Option<f64>| {
            figure.map_or("-".to_owned(), |figure| figure_text(cell.unit, figure))
        };
        let today = match cell.unit {
            _ if cell.gap.is_some() => cell.gap.clone().unwrap_or_default(),
            Unit::Multiple => cell.today.map_or("-".to_owned(), bytes_text),
            _ => figure(cell.today),
        };
        let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), ratio_text);
        let _ = writeln!(
            out,
            "| {what} | {} | {} | {today} | {} | {} | {} |",
            cell.contender,
            figure(cell.theirs),
            ratio(cell.ratio_theirs),
            ratio(cell.ratio_today),
            ratio(cell.ratio_ours),
        );
    }
    let is_measured = filled.cells.iter().any(|cell| cell.today.is_some());
    let rest = match (is_measured, table.not_run) {
        (false, _) => "all of it",
        (true, rest) => rest,
    };
    if !rest.is_empty() {
        let _ = writeln!(out, "\nNot run yet: {rest}.");
    }
}

fn figure_text(unit: Unit, figure: f64) -> String {
    match unit {
        Unit::PerSecond => format!("{}/s", with_commas(figure)),
        Unit::Seconds if figure >= 10.0 => format!("{figure:.1} s"),
        Unit::Seconds => time(figure * 1e9),
        Unit::Bytes if figure < 10_485_760.0 => format!("{} KiB", with_commas(figure / 1024.0)),
        Unit::Bytes => bytes_text(figure),
        Unit::Multiple => format!("{figure}"),
        Unit::Instructions | Unit::Clients => with_commas(figure),
        Unit::Times => format!("{figure:.2}"),
        Unit::Percent => format!("{figure:.1} %"),
    }
}

fn ratio_text(ratio: f64) -> String {
    if ratio >= 100.0 {
        with_commas(ratio)
    } else {
        format!("{ratio:.2}")
    }
}

/// A whole number with a comma between thousands.
fn with_commas(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Missing, Present, Row};

    #[test]
    fn contenders_and_gaps_are_tables() {
        let mut measured = Measured::of_run("people", Vec::new());
        let about = || Present {
            name: "berkeley".to_owned(),
            title: "Berkeley DB".to_owned(),
            version: "5.3.28: (September  9, 2013)".to_owned(),
            code_bytes: None,
            tuning: "B-tree; a|b".to_owned(),
        };
        let missing = Missing {
            title: "file system xfs".to_owned(),
            why: "there is no mkfs.xfs".to_owned(),
        };
        measured.parts[0].results[0].engines = vec![about(), about()];
        let none_missing = markdown(&measured);
        assert!(!none_missing.contains("| not here |"), "{none_missing}");
        measured.parts[0].missing = vec![missing];
        let text = markdown(&measured);
        let expected = "\n- command: unknown\n\n\
            | contender | version | settings |\n\
            | --- | --- | --- |\n\
            | Berkeley DB | 5.3.28: (September 9, 2013) | B-tree; a\\|b |\n\n\
            | not here | reason |\n\
            | --- | --- |\n\
            | file system xfs | there is no mkfs.xfs |\n\n## F1 ";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn figures_are_readable() {
        assert_eq!(figure_text(Unit::PerSecond, 14_492_754.0), "14,492,754/s");
        assert_eq!(figure_text(Unit::Seconds, 1773.2), "1773.2 s");
        assert_eq!(figure_text(Unit::Seconds, 127e-6), "127.0 us");
        assert_eq!(ratio_text(3633.2), "3,633");
    }

    #[test]
    fn lines_are_wrapped_and_tables_are_not() {
        let line = format!("- {}", "word ".repeat(30).trim());
        let text = wrapped(&line);
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        assert!(text.contains("\n  word word"), "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words.len(), 31);
        let table = format!("| {} |", "word ".repeat(30));
        assert_eq!(wrapped(&table), format!("{table}\n"));
    }

    #[test]
    fn a_table_has_both_ratios() {
        let rows = vec![
            Row::empty("uid-16")
                .with("mdb-2.4", &[(0, 100)])
                .with("hdb", &[(0, 300)])
                .with("fulgurite", &[(0, 50)]),
        ];
        let text = markdown(&Measured::of_run("people", rows));
        assert!(
            text.contains(
                "|  | back-hdb, all cached | 67,456/s | 33,333,333/s | 1.77 | 3.00 | 6.00 |"
            ),
            "{text}"
        );
        assert!(
            text.contains("|  | Fulgurite | - | 200,000,000/s |  | 0.50 |  |"),
            "{text}"
        );
        assert!(
            text.contains("\nPart people: a day, project unknown, load"),
            "{text}"
        );
        let (_, last) = text.split_once("## F19").expect("F19");
        assert!(last.contains("Not run yet: all of it."));
    }
}
