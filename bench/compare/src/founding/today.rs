//! Today's figures: runs of the two halves, prices in instructions, sizes of libraries.

use super::papers::{Today, Unit};
use super::part::Part;
use crate::measure::Middle;
use crate::results::{Gap, Results, Row};

/// All that was measured.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// In the order of the parts.
    pub(crate) parts: Vec<Part>,
    /// Code and constants of libraries, by engine.
    pub(crate) code: Vec<(String, u64)>,
}

impl Measured {
    /// The figure of a contender, if it was measured.
    pub(crate) fn figure(&self, today: Today, unit: Unit, name: &str) -> Option<f64> {
        let price = |question: &str| {
            let prices = self.parts.iter().flat_map(|part| &part.prices);
            let mut own = prices.filter(|(server, _)| server == name);
            own.find(|(_, price)| price.question == question)
        };
        match today {
            Today::NotRun => None,
            Today::Row(part, row) => {
                let amount = self.row(part, row)?.median(name)?.median;
                Some(in_unit(unit, amount))
            }
            Today::Clock(part, row) => Some(in_unit(unit, clock(self.row(part, row)?, name)?)),
            Today::Files(part, row) => {
                let rounds = &self.row(part, row)?.of(name)?.rounds;
                let bytes = rounds.iter().map(|(_, one)| one.file_bytes as f64);
                Some(Middle::of(bytes.collect())?.median)
            }
            Today::Quotient(part, row, other) => {
                let of = |row| Some(self.row(part, row)?.median(name)?.median);
                Some(of(row)? / of(other)?)
            }
            Today::RateQuotient(part, row, other) => {
                let of = |row| clock(self.row(part, row)?, name);
                Some(of(other)? / of(row)?)
            }
            Today::BestRate(part, rows) => {
                let (_, best) = self.best(part, rows, name)?;
                Some(in_unit(unit, best))
            }
            Today::BestClients(part, rows) => {
                let (row, _) = self.best(part, rows, name)?;
                row.strip_prefix(rows)?.parse().ok()
            }
            Today::Longest(part, row) => {
                let rounds = &self.row(part, row)?.of(name)?.rounds;
                let longest = rounds.iter().filter_map(|(_, one)| one.latencies);
                let longest = longest.map(|one| one.max_ns).max()?;
                Some(in_unit(unit, longest as f64))
            }
            Today::Code => {
                let found = self.code.iter().find(|(engine, _)| engine == name);
                found.map(|(_, bytes)| *bytes as f64)
            }
            Today::Instructions(question) => Some(price(question)?.1.instructions),
            Today::StoreShare(question) => {
                let (_, price) = price(question)?;
                Some(100.0 * price.in_store? / price.instructions)
            }
        }
    }

    /// The reason why a figure is not there, if the run has one.
    pub(crate) fn gap(&self, today: Today, name: &str) -> Option<&str> {
        let (run, rows) = today.rows()?;
        let gaps = self.run(run)?.gaps.iter();
        let mut own = gaps.filter(|gap| gap.engine == name);
        let is_meant = |gap: &&Gap| rows.iter().any(|row| gap.row == *row);
        own.find(is_meant).map(|gap| gap.why.as_str())
    }

    /// The part that a figure is of, if it was run.
    pub(crate) fn part_of(&self, today: Today) -> Option<&Part> {
        let run = match today {
            Today::Instructions(_) | Today::StoreShare(_) => {
                return self.parts.iter().find(|part| !part.prices.is_empty());
            }
            _ => today.rows()?.0,
        };
        self.parts.iter().find(|part| part.run(run).is_some())
    }

    fn run(&self, name: &str) -> Option<&Results> {
        self.parts.iter().find_map(|part| part.run(name))
    }

    fn row(&self, run: &str, row: &str) -> Option<&Row> {
        self.run(run)?.rows.iter().find(|one| one.name == row)
    }

    /// The row with the least time on the clock, of those that begin so.
    fn best(&self, part: &str, rows: &str, name: &str) -> Option<(&str, f64)> {
        let run = self.run(part)?;
        let rows = run.rows.iter().filter(|row| row.name.starts_with(rows));
        let times = rows.filter_map(|row| Some((row.name.as_str(), clock(row, name)?)));
        times.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}

/// Nanoseconds of an operation on the clock.
fn clock(row: &Row, name: &str) -> Option<f64> {
    let rounds = &row.of(name)?.rounds;
    let times = rounds
        .iter()
        .map(|(_, one)| one.wall_ns as f64 / one.operations.max(1) as f64);
    Some(Middle::of(times.collect())?.median)
}

/// Nanoseconds or bytes in the unit of a line.
fn in_unit(unit: Unit, amount: f64) -> f64 {
    match unit {
        Unit::PerSecond => 1e9 / amount,
        Unit::Seconds => amount / 1e9,
        _ => amount,
    }
}

#[cfg(test)]
impl Measured {
    /// One run of a part of the same name, for tests.
    pub(crate) fn of_run(name: &str, rows: Vec<Row>) -> Measured {
        let mut part = Part::new(name, 1, &[("day".to_owned(), "a day".to_owned())]);
        part.runs.push(name.to_owned());
        part.results.push(Results {
            rows,
            ..Results::default()
        });
        Measured {
            parts: vec![part],
            ..Measured::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(rows: Vec<Row>) -> Measured {
        Measured::of_run("people", rows)
    }

    #[test]
    fn gaps_have_their_reason() {
        let mut measured = measured(vec![Row::empty("uid")]);
        let gap = Gap {
            row: "uid".to_owned(),
            engine: "hdb".to_owned(),
            why: "not answered within 60 s".to_owned(),
        };
        measured.parts[0].results[0].gaps.push(gap);
        let row = Today::Row("people", "uid");
        assert_eq!(measured.gap(row, "hdb"), Some("not answered within 60 s"));
        assert_eq!(measured.gap(row, "mdb-2.4"), None);
        assert_eq!(measured.gap(Today::Row("people", "scan"), "hdb"), None);
    }

    #[test]
    fn figures_are_those_of_rows() {
        let measured = measured(vec![
            Row::empty("uid").with("hdb", &[(0, 10_000)]),
            Row::empty("scan").with("hdb", &[(0, 40_000)]),
        ]);
        let figure = |today, unit| measured.figure(today, unit, "hdb");
        let row = Today::Row("people", "uid");
        assert_eq!(figure(row, Unit::PerSecond), Some(1e6));
        assert_eq!(figure(row, Unit::Seconds), Some(1e-6));
        let clock = Today::Clock("people", "uid");
        assert_eq!(figure(clock, Unit::Seconds), Some(2e-6));
        let quotient = Today::Quotient("people", "scan", "uid");
        assert_eq!(figure(quotient, Unit::Times), Some(4.0));
        assert_eq!(figure(Today::Row("people", "add"), Unit::Seconds), None);
        assert_eq!(measured.figure(row, Unit::Seconds, "mdb"), None);
    }

    #[test]
    fn the_best_of_a_ramp_is_found() {
        let measured = measured(vec![
            Row::empty("ask-1").with("hdb", &[(0, 300)]),
            Row::empty("ask-16").with("hdb", &[(0, 100)]),
            Row::empty("ask-64").with("hdb", &[(0, 200)]),
        ]);
        let clients = Today::BestClients("people", "ask-");
        assert_eq!(measured.figure(clients, Unit::Clients, "hdb"), Some(16.0));
        let rate = Today::BestRate("people", "ask-");
        assert_eq!(measured.figure(rate, Unit::PerSecond, "hdb"), Some(5e7));
    }
}
