//! The compilation of the overlays of a database.

use fulgurite_policy::{Origin, SortLimits, Sourced};
use fulgurite_schema::{AttributeIndex, Dn, Schema};

/// The database whose overlays are compiled, and the remarks so far.
pub(in crate::features) struct Compilation<'c> {
    pub(in crate::features) schema: &'c Schema,
    pub(in crate::features) suffixes: &'c [Dn],
    /// The limits of sorted searches, which all databases share.
    pub(in crate::features) sort_limits: &'c mut SortLimits,
    pub(in crate::features) report: OverlayReport,
}

/// Remarks on the overlays of a database that are no errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayReport {
    /// Directives that do nothing, or more than they seem to.
    pub warnings: Vec<Sourced<String>>,
    /// The names of the attributes that overlays look up for each update. They need equality
    /// indexes.
    pub lookups: Vec<Sourced<String>>,
}

impl Compilation<'_> {
    /// Notes a directive that does nothing, or more than it seems to.
    pub(in crate::features) fn warn(&mut self, text: String, origin: &Origin) {
        let warnings = &mut self.report.warnings;
        warnings.push(Sourced::new(text, origin.clone()));
    }

    /// Notes an attribute that is looked up for each update.
    pub(in crate::features) fn note_lookup(&mut self, attribute: AttributeIndex, origin: &Origin) {
        let definition = self.schema.attribute_at(attribute);
        if definition.equality.is_some() {
            let name = definition.name().to_owned();
            let lookups = &mut self.report.lookups;
            lookups.push(Sourced::new(name, origin.clone()));
        }
    }
}
