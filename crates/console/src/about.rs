//! Facts about the server that no LDAP request tells, and that are no secret.

/// The documentation of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingText {
    /// Its attribute in `cn=config`.
    pub attribute: String,
    /// Its key in TOML files; empty without one.
    pub key: String,
    /// Its documentation.
    pub text: String,
}

/// Facts about the server.
#[derive(Clone, Debug, Default)]
pub struct AboutServer {
    /// The documentation of the settings.
    pub settings: Vec<SettingText>,
}

impl AboutServer {
    /// Returns the documentation of an attribute of `cn=config`.
    pub(crate) fn setting(&self, attribute: &str) -> Option<&SettingText> {
        let mut settings = self.settings.iter();
        settings.find(|setting| setting.attribute.eq_ignore_ascii_case(attribute))
    }
}
