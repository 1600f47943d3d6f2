//! The shape of the founding papers' tables: their figures, and where today's come from.
//!
//! Five texts are the source:
//!
//! - the paper on LMDB (2012)
//! - messages about the first weeks of back-mdb (2011)
//! - an article on back-mdb and back-hdb with a mail server's data, and its comments (2013)
//! - an interview on LMDB (2013)
//! - a talk on the caches of back-bdb (2003)

use serde::Serialize;

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Their machine, data and settings.
    pub(crate) theirs: &'static str,
    /// The differences today.
    pub(crate) today: &'static str,
    /// The compared ones. Ratios are to the first.
    pub(crate) contenders: &'static [Contender],
    pub(crate) lines: &'static [Line],
    /// Parts that are not run; empty if all are.
    pub(crate) not_run: &'static str,
}

/// One of those compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contender {
    pub(crate) title: &'static str,
    /// Today's engine or server.
    pub(crate) name: &'static str,
}

/// A line of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) unit: Unit,
    /// Their figures, in the order of the contenders; [`NONE`] or a shorter list where there are
    /// none.
    pub(crate) theirs: &'static [f64],
    pub(crate) today: Today,
}

/// A figure that the texts do not have.
pub(crate) const NONE: f64 = f64::NAN;

/// The unit of a line, and which direction is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    PerSecond,
    Seconds,
    Bytes,
    /// Theirs as a multiple, today's in bytes.
    Multiple,
    Instructions,
    /// No ratio is made of these.
    Times,
    Percent,
    Clients,
}

/// Where today's figure comes from. The first text names the part of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Today {
    NotRun,
    /// The figure of a row: CPU time, time on the clock, or bytes.
    Row(&'static str, &'static str),
    /// The time on the clock.
    Clock(&'static str, &'static str),
    /// The size of the files.
    Files(&'static str, &'static str),
    /// How many times as long one row takes as another, by their figures.
    Quotient(&'static str, &'static str, &'static str),
    /// How many times as fast one row is as another, on the clock.
    RateQuotient(&'static str, &'static str, &'static str),
    /// The best rate on the clock of all rows that begin so, and the clients of that row.
    BestRate(&'static str, &'static str),
    BestClients(&'static str, &'static str),
    /// The longest time of an operation.
    Longest(&'static str, &'static str),
    /// Code and constants of the library.
    Code,
    /// Instructions of a question, and the store's share of them.
    Instructions(&'static str),
    StoreShare(&'static str),
}

/// The parts of a run that the tables name.
pub(crate) const ENGINE: &str = "engine";
pub(crate) const ENVIRONMENT: &str = "environment";
pub(crate) const PEOPLE: &str = "people";
pub(crate) const UNSTAMPED: &str = "unstamped";
pub(crate) const LOGGED: &str = "logged";
pub(crate) const ACCOUNTS: &str = "accounts";
pub(crate) const DATABASES: &str = "databases";
pub(crate) const MEMCACHE: &str = "memcache";

/// Units of the texts, in bytes.
pub(super) const KIB: f64 = 1024.0;
pub(super) const GB: f64 = 1e9;

/// Returns a contender, by its name in the texts and in the bench.
pub(super) const fn of(title: &'static str, name: &'static str) -> Contender {
    Contender { title, name }
}

/// Returns a line of a table.
pub(super) const fn line(
    what: &'static str,
    unit: Unit,
    theirs: &'static [f64],
    today: Today,
) -> Line {
    Line {
        what,
        unit,
        theirs,
        today,
    }
}

impl Today {
    /// Returns the run and the rows that the figure is of, if it is of rows that are known.
    pub(crate) fn rows(self) -> Option<(&'static str, Vec<&'static str>)> {
        match self {
            Today::Row(run, row)
            | Today::Clock(run, row)
            | Today::Files(run, row)
            | Today::Longest(run, row) => Some((run, vec![row])),
            Today::Quotient(run, row, other) | Today::RateQuotient(run, row, other) => {
                Some((run, vec![row, other]))
            }
            Today::BestRate(run, rows) | Today::BestClients(run, rows) => Some((run, vec![rows])),
            Today::NotRun | Today::Code | Today::Instructions(_) | Today::StoreShare(_) => None,
        }
    }
}

impl Unit {
    /// How many times the first figure is better than the other.
    pub(crate) fn better(self, first: f64, other: f64) -> Option<f64> {
        let ratio = match self {
            Unit::PerSecond => first / other,
            Unit::Seconds | Unit::Bytes | Unit::Multiple | Unit::Instructions => other / first,
            Unit::Times | Unit::Clients | Unit::Percent => return None,
        };
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }
}

impl Line {
    /// Their figure of a contender.
    pub(crate) fn theirs_of(&self, position: usize) -> Option<f64> {
        let figure = self.theirs.get(position).copied()?;
        figure.is_finite().then_some(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_is_larger_or_smaller() {
        assert_eq!(Unit::PerSecond.better(30.0, 10.0), Some(3.0));
        assert_eq!(Unit::Seconds.better(10.0, 30.0), Some(3.0));
        assert_eq!(Unit::Times.better(1.0, 2.0), None);
        assert_eq!(Unit::Seconds.better(0.0, 30.0), None);
    }
}
