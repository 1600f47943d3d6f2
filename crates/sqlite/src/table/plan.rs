//! The plan of a scan: an index, the comparisons it answers, and the order it gives.
//!
//! SQLite keeps a plan as text between `xBestIndex` and `xFilter`:
//!
//! ```text
//!   INDEX : COMPARISONS [ o ] [ - ]
//!     INDEX        all, rowid, or the number of an index
//!     COMPARISONS  = for each leading column, then > or G (>=), and < or L (<=), for the next
//!     o            SQLite relies on the order of the index
//!     -            backwards
//! ```

use std::ffi::c_int;

use rusqlite::types::Value;
use rusqlite::vtab::{IndexConstraintOp, IndexInfo};

use super::definition::{Definition, Index};
use crate::error::{Result, corrupt};
use crate::planned_values;

/// The rows of a scan come from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    All,
    Rowid,
    Index(usize),
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) source: Source,
    /// The comparisons, in the order of the values that SQLite passes.
    pub(crate) comparisons: Vec<u8>,
    pub(crate) is_ordered: bool,
    pub(crate) is_backward: bool,
}

/// A plan under consideration.
struct Candidate {
    plan: Plan,
    /// The numbers of the constraints, in the order of the comparisons.
    constraints: Vec<usize>,
    /// The values of the comparisons; `None` if one is not known yet.
    values: Option<Vec<Value>>,
    rows: f64,
}

/// A constraint that could be used.
struct Constraint {
    number: usize,
    column: c_int,
    letter: u8,
    value: Option<Value>,
}

/// The column number of the rowid.
const ROWID: c_int = -1;

/// Chooses a plan for a query over a table with this number of rows. `estimate` returns the number
/// of records in the ranges of a plan with these values.
pub(crate) fn choose(
    info: &mut IndexInfo,
    definition: &Definition,
    rows: u64,
    estimate: &dyn Fn(&Plan, &[Value]) -> Result<u64>,
) -> Result<()> {
    let constraints = usable(info, definition);
    let orders: Vec<(c_int, bool)> = info
        .order_bys()
        .map(|order| {
            (
                definition.rowid_or(order.column()),
                order.is_order_by_desc(),
            )
        })
        .collect();
    let rows = rows.max(1) as f64;
    let mut candidates = vec![
        candidate(Source::All, &[], &constraints, rows, true),
        candidate(Source::Rowid, &[ROWID], &constraints, rows, true),
    ];
    for (number, index) in definition.indexes.iter().enumerate() {
        let columns: Vec<_> = index
            .columns
            .iter()
            .map(|column| *column as c_int)
            .collect();
        let source = Source::Index(number);
        candidates.push(candidate(
            source,
            &columns,
            &constraints,
            rows,
            index.is_unique,
        ));
    }
    for candidate in &mut candidates {
        candidate.estimate(estimate)?;
    }
    let best = candidates
        .into_iter()
        .map(|mut candidate| {
            candidate.take_order(&orders, definition);
            let cost = candidate.cost(!orders.is_empty());
            (cost, candidate)
        })
        .min_by(|(a, _), (b, _)| a.total_cmp(b));
    let (cost, best) = best.expect("a scan of all rows is always possible");
    for (place, number) in (1..).zip(&best.constraints) {
        info.constraint_usage(*number).set_argv_index(place);
    }
    info.set_order_by_consumed(best.plan.is_ordered);
    info.set_estimated_rows(best.rows.ceil() as i64);
    info.set_estimated_cost(cost);
    info.set_idx_str(&best.plan.to_text());
    Ok(())
}

impl Definition {
    /// Replaces the column that is another name of the rowid by the rowid.
    fn rowid_or(&self, column: c_int) -> c_int {
        match self.rowid_column {
            Some(rowid) if rowid as c_int == column => ROWID,
            _ => column,
        }
    }
}

fn usable(info: &IndexInfo, definition: &Definition) -> Vec<Constraint> {
    use IndexConstraintOp as Op;
    let mut usable = Vec::new();
    for (number, constraint) in info.constraints().enumerate() {
        let letter = match constraint.operator() {
            Op::SQLITE_INDEX_CONSTRAINT_EQ => b'=',
            Op::SQLITE_INDEX_CONSTRAINT_GT => b'>',
            Op::SQLITE_INDEX_CONSTRAINT_GE => b'G',
            Op::SQLITE_INDEX_CONSTRAINT_LT => b'<',
            Op::SQLITE_INDEX_CONSTRAINT_LE => b'L',
            _ => continue,
        };
        let is_binary = info.collation(number).is_ok_and(|name| name == "BINARY");
        if constraint.is_usable() && is_binary {
            usable.push(Constraint {
                number,
                column: definition.rowid_or(constraint.column()),
                letter,
                value: planned_values::value(info, number),
            });
        }
    }
    usable
}

/// Takes the comparisons that an index answers.
fn candidate(
    source: Source,
    columns: &[c_int],
    constraints: &[Constraint],
    rows: f64,
    is_unique: bool,
) -> Candidate {
    let mut candidate = Candidate {
        plan: Plan {
            source,
            comparisons: Vec::new(),
            is_ordered: false,
            is_backward: false,
        },
        constraints: Vec::new(),
        values: Some(Vec::new()),
        rows,
    };
    let find = |column, letters: &[u8]| {
        constraints
            .iter()
            .find(|found| found.column == column && letters.contains(&found.letter))
    };
    for (place, column) in columns.iter().enumerate() {
        if let Some(equal) = find(*column, b"=") {
            candidate.add(equal, 0.1);
            if place + 1 == columns.len() && is_unique {
                candidate.rows = 1.0;
            }
            continue;
        }
        for letters in [b">G", b"<L"] {
            if let Some(bound) = find(*column, letters) {
                candidate.add(bound, 0.3);
            }
        }
        break;
    }
    candidate.rows = candidate.rows.max(1.0);
    candidate
}

impl Candidate {
    fn add(&mut self, constraint: &Constraint, share: f64) {
        self.plan.comparisons.push(constraint.letter);
        self.constraints.push(constraint.number);
        self.rows *= share;
        match (&mut self.values, &constraint.value) {
            (Some(values), Some(value)) => values.push(value.clone()),
            _ => self.values = None,
        }
    }

    /// Counts the rows of known values, where nothing but shares of the table was known.
    fn estimate(&mut self, estimate: &dyn Fn(&Plan, &[Value]) -> Result<u64>) -> Result<()> {
        if let Some(values) = self.values.as_ref().filter(|values| !values.is_empty()) {
            let rows = estimate(&self.plan, values)? as f64;
            // A row that a unique index leads to is one at most.
            self.rows = if self.rows == 1.0 { 1.0 } else { rows.max(1.0) };
        }
        Ok(())
    }

    /// Offers the order of the index, if that is the order asked for.
    fn take_order(&mut self, orders: &[(c_int, bool)], definition: &Definition) {
        let Some(&(_, is_backward)) = orders.first() else {
            return;
        };
        let equal = self.plan.equal();
        let columns: Vec<c_int> = match self.plan.source {
            Source::All | Source::Rowid => vec![ROWID],
            Source::Index(number) => {
                let Index { columns, .. } = &definition.indexes[number];
                let columns = columns[equal..].iter().map(|column| *column as c_int);
                columns.chain([ROWID]).collect()
            }
        };
        let fits = orders.len() <= columns.len()
            && orders
                .iter()
                .zip(&columns)
                .all(|(order, column)| *order == (*column, is_backward));
        (self.plan.is_ordered, self.plan.is_backward) = (fits, fits && is_backward);
    }

    fn cost(&self, has_order: bool) -> f64 {
        // A row found by an index costs a search for it.
        let each = match self.plan.source {
            Source::Index(_) => 2.0,
            Source::All | Source::Rowid => 1.0,
        };
        let sorting = match has_order && !self.plan.is_ordered {
            true => self.rows * self.rows.log2().max(1.0) * 0.5,
            false => 0.0,
        };
        10.0 + self.rows * each + sorting
    }
}

impl Plan {
    /// Returns the number of leading columns that must be equal to a value.
    pub(crate) fn equal(&self) -> usize {
        self.comparisons
            .iter()
            .filter(|letter| **letter == b'=')
            .count()
    }

    fn to_text(&self) -> String {
        let source = match self.source {
            Source::All => "all".to_owned(),
            Source::Rowid => "rowid".to_owned(),
            Source::Index(number) => number.to_string(),
        };
        let comparisons = String::from_utf8_lossy(&self.comparisons);
        let order = if self.is_ordered { "o" } else { "" };
        let direction = if self.is_backward { "-" } else { "" };
        format!("{source}:{comparisons}{order}{direction}")
    }

    /// Reads a plan back from SQLite's text.
    pub(crate) fn from_text(text: &str) -> Result<Plan> {
        let unknown = || corrupt(format!("an unknown plan '{text}'"));
        let (source, rest) = text.split_once(':').ok_or_else(unknown)?;
        let source = match source {
            "all" => Source::All,
            "rowid" => Source::Rowid,
            number => Source::Index(number.parse().map_err(|_| unknown())?),
        };
        let (rest, is_backward) = match rest.strip_suffix('-') {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (rest, is_ordered) = match rest.strip_suffix('o') {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        Ok(Plan {
            source,
            comparisons: rest.bytes().collect(),
            is_ordered,
            is_backward,
        })
    }
}
