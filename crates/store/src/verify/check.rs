//! The order of the checks.

use super::bind_state::check_bind_states;
use super::changes::check_changes;
use super::counts::check_counts;
use super::expected::walk_entries;
use super::names::check_names;
use super::postings::check_index;
use super::report::Report;
use super::values::check_values;
use crate::error::StoreError;
use crate::view::View;

/// Compares every index, name and count of a view with its entries, and the log with itself. An
/// index that is being built is compared as far as it is filled. An index that is being removed is
/// not compared.
///
/// Memory grows with the indexes, by some tens of bytes for each id in each posting. So this check
/// is for tests and for stores of moderate size.
/// # Errors
/// [`StoreError::Engine`] if the engine fails; everything else is reported as a problem.
pub fn verify(view: &View<'_>) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let expected = walk_entries(view, &mut report)?;
    check_names(view, &mut report)?;
    check_counts(view, &expected.parents, &mut report)?;
    check_values(view, &mut report)?;
    report.postings = expected.postings.len() as u64;
    check_index(view, expected.postings, &mut report)?;
    check_changes(view, &mut report)?;
    check_bind_states(view, &mut report)?;
    Ok(report)
}
