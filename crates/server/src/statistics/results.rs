//! Counts operations by their outcomes.

use fulgurite_ldap::ResultCode;

use super::counter::Counter;

/// Numbers of result codes that are their own places.
const DIRECT: usize = 128;

/// The codes above them, in the order of their places.
const LARGE: [ResultCode; 3] = [
    ResultCode::ESyncRefreshRequired,
    ResultCode::NoOperation,
    ResultCode::TransactionIdInvalid,
];

const UNLISTED: usize = DIRECT + LARGE.len();
const ABANDONED: usize = UNLISTED + 1;
const UNANSWERED: usize = ABANDONED + 1;

/// The number of different outcomes.
const OUTCOMES: usize = UNANSWERED + 1;

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The number of a result code.
    Code(u32),
    /// The client has abandoned it.
    Abandoned,
    /// Operations of this kind have no response.
    Unanswered,
}

/// Operations of one kind by their outcomes, counted by one thread.
#[derive(Debug)]
pub(crate) struct OutcomeCounters([Counter; OUTCOMES]);

impl Default for OutcomeCounters {
    fn default() -> OutcomeCounters {
        OutcomeCounters(std::array::from_fn(|_| Counter::default()))
    }
}

impl OutcomeCounters {
    /// Counts an operation.
    pub(crate) fn add(&self, outcome: Outcome) {
        if let Some(count) = self.0.get(place(outcome)) {
            count.add(1);
        }
    }

    /// Adds the counters to sums in the order of [`outcome_names`].
    pub(crate) fn add_to(&self, sums: &mut [u64]) {
        for (sum, count) in sums.iter_mut().zip(&self.0) {
            *sum += count.get();
        }
    }
}

fn place(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Code(number) if (number as usize) < DIRECT => number as usize,
        Outcome::Code(number) => {
            let large = LARGE.iter().position(|code| code.number() == number);
            large.map_or(UNLISTED, |place| DIRECT + place)
        }
        Outcome::Abandoned => ABANDONED,
        Outcome::Unanswered => UNANSWERED,
    }
}

/// Returns the names of all outcomes in the order of their places. A code has the name of its RFC,
/// or its number.
pub(crate) fn outcome_names() -> impl Iterator<Item = String> {
    let name = |code: ResultCode| match code {
        ResultCode::Unassigned(number) => number.to_string(),
        code => code.name().to_owned(),
    };
    let direct = (0..DIRECT as u32).map(ResultCode::from_number);
    let codes = direct.chain(LARGE).map(name);
    codes.chain(["unlisted", "abandoned", "none"].map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_name() {
        let names: Vec<String> = outcome_names().collect();
        assert_eq!(names.len(), OUTCOMES);
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), OUTCOMES);
        for &code in ResultCode::NAMED {
            assert_eq!(names[place(Outcome::Code(code.number()))], code.name());
        }
        for (outcome, name) in [
            (Outcome::Code(9), "9"),
            (Outcome::Code(70_000), "unlisted"),
            (Outcome::Abandoned, "abandoned"),
            (Outcome::Unanswered, "none"),
        ] {
            assert_eq!(names[place(outcome)], name);
        }
    }
}
