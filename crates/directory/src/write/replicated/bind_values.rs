//! Times of binds to which the provider and this server have both added.

use fulgurite_schema::AttributeDescription;
use fulgurite_store::EntryId;

use super::applier::Applier;
use super::error::ContentResult;

/// Attributes of binds, with their values.
pub(super) type BindValues = Vec<(AttributeDescription, Vec<Vec<u8>>)>;

impl Applier<'_, '_> {
    /// Stores the times that binds here and at the provider have added.
    pub(super) fn put_bind_values(&mut self, id: EntryId, values: &BindValues) -> ContentResult {
        match values.is_empty() {
            true => Ok(()),
            false => Ok(self.writer.change_bind_state(id, values)?),
        }
    }
}

/// Returns the values of both sides, if each has only added to those before. A side that has
/// removed some has begun to count anew.
pub(super) fn added(before: &[&[u8]], given: &[Vec<u8>], own: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let has_all = |values: &[Vec<u8>]| {
        let mut before = before.iter();
        before.all(|held| values.iter().any(|value| value == held))
    };
    let is_missing = |value: &&Vec<u8>| !given.contains(value);
    let missing: Vec<Vec<u8>> = own.iter().filter(is_missing).cloned().collect();
    let is_merge = has_all(given) && has_all(own) && !missing.is_empty();
    is_merge.then(|| [given, &missing].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_both_sides_have_added_are_kept() {
        let list = |values: &[&str]| -> Vec<Vec<u8>> {
            values
                .iter()
                .map(|value| value.as_bytes().to_vec())
                .collect()
        };
        let of = |before: &[&str], given: &[&str], own: &[&str]| {
            let before: Vec<&[u8]> = before.iter().map(|value| value.as_bytes()).collect();
            added(&before, &list(given), &list(own))
        };
        assert_eq!(
            of(&["1"], &["1", "2"], &["1", "3"]),
            Some(list(&["1", "2", "3"]))
        );
        assert_eq!(of(&[], &["2"], &["3"]), Some(list(&["2", "3"])));
        assert_eq!(
            of(&["1"], &["2"], &["1", "3"]),
            None,
            "the provider began anew"
        );
        assert_eq!(of(&["1"], &["1", "2"], &["3"]), None, "the copy began anew");
        assert_eq!(
            of(&["1"], &["1", "2"], &["1"]),
            None,
            "nothing was added here"
        );
    }
}
