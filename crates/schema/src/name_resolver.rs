//! The schema as matching rules and syntaxes see it.

use crate::dn;
use crate::matching::{InvalidValue, NameResolver};
use crate::registry::Schema;

impl NameResolver for Schema {
    fn oid_of(&self, name: &str) -> Option<&str> {
        Schema::oid_of(self, name)
    }

    fn has_attribute(&self, name_or_oid: &str) -> bool {
        self.attribute(name_or_oid).is_some()
    }

    fn has_object_class(&self, name_or_oid: &str) -> bool {
        self.object_class(name_or_oid).is_some()
    }

    fn normal_dn(&self, value: &[u8]) -> Result<String, InvalidValue> {
        dn::normal_value(self, value)
    }

    fn dn_matches(&self, normal: &[u8], value: &[u8]) -> Option<bool> {
        dn::matches_in_place(self, normal, value)
    }

    fn normal_ava(&self, attribute: &str, value: &[u8]) -> String {
        dn::normal_ava(self, attribute, value)
    }
}
