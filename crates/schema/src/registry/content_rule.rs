//! DIT content rules, resolved (RFC 4512, section 4.1.6).

use super::attribute_type::AttributeIndex;
use super::object_class::ObjectClassIndex;

/// The attributes and auxiliary classes that entries of a structural class may have beyond its own.
#[derive(Clone, Debug)]
pub(crate) struct ContentRule {
    pub(crate) class: ObjectClassIndex,
    pub(crate) name: String,
    pub(crate) obsolete: bool,
    pub(crate) auxiliary: Vec<ObjectClassIndex>,
    pub(crate) must: Vec<AttributeIndex>,
    pub(crate) may: Vec<AttributeIndex>,
    pub(crate) not: Vec<AttributeIndex>,
    pub(crate) published: String,
}
