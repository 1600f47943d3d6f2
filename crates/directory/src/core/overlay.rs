//! The settings of an overlay.

/// An overlay of a database, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlaySettings {
    /// The name in slapd.
    pub name: String,
    /// The directives, each a keyword or attribute followed by its value.
    pub directives: Vec<String>,
}
