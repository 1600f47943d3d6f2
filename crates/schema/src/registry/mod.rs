//! From definitions as written to a [`Schema`].
//!
//! ```text
//!   builder --> resolve --> attributes, classes, content_rules, forms --> schema --> publish
//!                              |
//!                              `--> attribute_type, object_class, content_rule, name_table
//! ```

mod attribute_type;
mod attributes;
mod builder;
mod classes;
mod content_rule;
mod content_rules;
mod definition_set;
mod error;
mod forms;
mod name_table;
mod object_class;
mod publish;
mod resolve;
mod schema;
mod syntaxes;

pub use attribute_type::{AttributeIndex, AttributeType};
pub use builder::SchemaBuilder;
pub(crate) use content_rule::ContentRule;
pub use error::SchemaError;
pub use object_class::{ObjectClass, ObjectClassIndex};
pub use schema::Schema;
