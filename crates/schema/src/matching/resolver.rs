//! The questions that matching rules and syntaxes ask a schema about names inside values.

use super::invalid::InvalidValue;

/// Resolves names that occur in values: object identifiers and distinguished names.
///
/// [`Schema`](crate::Schema) implements it. Matching rules see no more of a schema than this.
pub trait NameResolver {
    /// Returns the numeric OID of an object class, an attribute type or a matching rule.
    fn oid_of(&self, name: &str) -> Option<&str>;

    /// Returns true if an attribute type has this name or OID.
    fn has_attribute(&self, name_or_oid: &str) -> bool;

    /// Returns true if an object class has this name or OID.
    fn has_object_class(&self, name_or_oid: &str) -> bool;

    /// Returns the normal form of a distinguished name.
    ///
    /// # Errors
    /// [`InvalidValue`] if the bytes are no distinguished name of the schema.
    fn normal_dn(&self, value: &[u8]) -> Result<String, InvalidValue>;

    /// Compares a distinguished name with a normal one, without allocation. Returns `None` if the
    /// name is written in a way that needs its normal form.
    fn dn_matches(&self, normal: &[u8], value: &[u8]) -> Option<bool>;

    /// Returns the normal form of one attribute and value of a name. An unknown type and an invalid
    /// value stay as they are. Names in certificates were not made for this directory.
    fn normal_ava(&self, attribute: &str, value: &[u8]) -> String;
}
