//! The bind state that a bind has changed, for the server that a copy's updates go to.

use std::fmt;
use std::sync::Arc;

use fulgurite_ldap::ModifyOperation;

/// The changes of one bind.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ForwardedBind {
    /// The name that was bound.
    pub(crate) dn: String,
    pub(crate) changes: Vec<ForwardedChange>,
    /// One of those of the same copy that are on their way.
    pub(crate) on_its_way: Arc<()>,
}

/// A change of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForwardedChange {
    pub(crate) operation: ModifyOperation,
    pub(crate) attribute: String,
    pub(crate) values: Vec<Vec<u8>>,
}

impl fmt::Debug for ForwardedBind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attributes = self.changes.iter().map(|change| &change.attribute);
        f.debug_struct("ForwardedBind")
            .field("dn", &self.dn)
            .field("changes", &attributes.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl ForwardedChange {
    /// Makes the change of an attribute from its values before to those after a bind.
    ///
    /// If values have only been added, those that another server has recorded stay.
    pub(crate) fn new(
        (attribute, is_single): (String, bool),
        before: &[Vec<u8>],
        after: Vec<Vec<u8>>,
    ) -> ForwardedChange {
        let has_all = before.iter().all(|value| after.contains(value));
        let is_addition = !is_single && has_all && after.len() > before.len();
        let mut values = after;
        if is_addition {
            values.retain(|value| !before.contains(value));
        }
        ForwardedChange {
            operation: match is_addition {
                true => ModifyOperation::Add,
                // Without values, it removes those that there may be, and never fails.
                false => ModifyOperation::Replace,
            },
            attribute,
            values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_value_is_added_and_all_else_is_replaced() {
        let values = |words: &[&str]| -> Vec<Vec<u8>> {
            words.iter().map(|word| word.as_bytes().to_vec()).collect()
        };
        for (is_single, before, after, operation, sent) in [
            (
                false,
                &["a"][..],
                &["a", "b"][..],
                ModifyOperation::Add,
                &["b"][..],
            ),
            (false, &[], &["a"], ModifyOperation::Add, &["a"]),
            (
                false,
                &["a", "b"],
                &["b", "c"],
                ModifyOperation::Replace,
                &["b", "c"],
            ),
            (false, &["a"], &[], ModifyOperation::Replace, &[]),
            (true, &[], &["a"], ModifyOperation::Replace, &["a"]),
        ] {
            let attribute = ("x".to_owned(), is_single);
            let change = ForwardedChange::new(attribute, &values(before), values(after));
            assert_eq!(change.operation, operation, "{before:?} {after:?}");
            assert_eq!(change.values, values(sent), "{before:?} {after:?}");
        }
    }
}
