//! Sets outside of access rules.

use fulgurite_schema::Schema;

use crate::evaluate::set::{SetContext, members};
use crate::facts::Facts;
use crate::parse::parse_set;
use crate::set::SetExpression;

/// A set outside of access rules, such as one that a changed entry must satisfy.
#[derive(Clone, Debug)]
pub struct Set(SetExpression);

impl Set {
    /// Parses an expression.
    ///
    /// # Errors
    /// A clause about the first error.
    pub fn parse(schema: &Schema, text: &str) -> Result<Set, String> {
        parse_set(schema, text).map(Set)
    }

    /// Returns true if the set is not empty. The names of the entry and the requester are in normal
    /// form.
    #[must_use]
    pub fn holds(&self, schema: &Schema, entry: &str, user: &str, facts: &dyn Facts) -> bool {
        let context = SetContext {
            schema,
            name: entry,
            user,
            facts,
        };
        !members(&self.0, &context).is_empty()
    }
}
