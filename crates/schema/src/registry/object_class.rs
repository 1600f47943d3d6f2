//! Object classes, resolved (RFC 4512, section 2.4).

use super::attribute_type::AttributeIndex;
use crate::definition::ClassKind;

/// Position of an object class within one [`Schema`](crate::Schema) value; not to be written to
/// disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectClassIndex(pub u32);

/// An object class with everything it inherits filled in.
#[derive(Clone, Debug)]
pub struct ObjectClass {
    /// Position in the schema.
    pub index: ObjectClassIndex,
    /// Numeric object identifier.
    pub oid: String,
    /// Short names as declared, the first being the one shown. May be empty.
    pub names: Vec<String>,
    /// DESC.
    pub description: Option<String>,
    /// OBSOLETE.
    pub obsolete: bool,
    /// ABSTRACT, STRUCTURAL or AUXILIARY.
    pub kind: ClassKind,
    /// Direct superclasses as declared.
    pub superiors: Vec<ObjectClassIndex>,
    /// All superclasses, transitively, without this class, in ascending order.
    pub all_superiors: Vec<ObjectClassIndex>,
    /// This class and everything derived from it, transitively, in ascending order.
    pub subclasses: Vec<ObjectClassIndex>,
    /// Required attributes including inherited ones, in ascending order.
    pub must: Vec<AttributeIndex>,
    /// Allowed attributes including inherited ones, without those of `must`, in ascending order.
    pub may: Vec<AttributeIndex>,
    /// True if the class is in force without being published.
    pub(crate) hidden: bool,
    /// RFC 4512 text as published in the subschema.
    pub(crate) published: String,
}

impl ObjectClass {
    /// Returns the first declared name, or the numeric OID of a nameless class.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }

    /// Returns true if this class is `other` or derives from it.
    #[must_use]
    pub fn is_kind_of(&self, other: ObjectClassIndex) -> bool {
        self.index == other || self.all_superiors.binary_search(&other).is_ok()
    }
}
