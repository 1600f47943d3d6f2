//! One schema in memory for all sessions that see the same.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::names::SchemaNames;

/// The schema that a session has read last. It goes with the last session that uses it.
#[derive(Debug, Default)]
pub(crate) struct SharedSchema(Mutex<Option<([u8; 32], Weak<SchemaNames>)>>);

impl SharedSchema {
    /// Returns the schema of a digest: the one in memory, or a new one.
    pub(crate) fn get(
        &self,
        digest: [u8; 32],
        make: impl FnOnce() -> SchemaNames,
    ) -> Arc<SchemaNames> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.as_ref().filter(|(of, _)| *of == digest);
        if let Some(schema) = known.and_then(|(_, schema)| schema.upgrade()) {
            return schema;
        }
        let schema = Arc::new(make());
        *last = Some((digest, Arc::downgrade(&schema)));
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_share_the_same_schema_only() {
        let shared = SharedSchema::default();
        let make = || SchemaNames::of(|_| Vec::new());
        let one = shared.get([1; 32], make);
        assert!(Arc::ptr_eq(&one, &shared.get([1; 32], make)));
        assert!(!Arc::ptr_eq(&one, &shared.get([2; 32], make)));
        drop(one);
        assert_eq!(Arc::strong_count(&shared.get([1; 32], make)), 1);
    }
}
