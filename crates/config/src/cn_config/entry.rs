//! One entry of the configuration.

/// One entry of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Its name.
    pub dn: String,
    /// Its attributes with their values; none is without a value.
    pub attributes: Vec<(String, Vec<String>)>,
}

impl ConfigEntry {
    pub(crate) fn new(dn: String, classes: &[&str], naming: &str, value: &str) -> Self {
        let classes = classes.iter().map(|class| (*class).to_owned()).collect();
        ConfigEntry {
            dn,
            attributes: vec![
                ("objectClass".to_owned(), classes),
                (naming.to_owned(), vec![value.to_owned()]),
            ],
        }
    }

    /// Adds an attribute, unless it has no values or only empty ones.
    pub(crate) fn add(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let values: Vec<String> = values
            .into_iter()
            .filter(|value| !value.is_empty())
            .collect();
        if !values.is_empty() {
            self.attributes.push((name.to_owned(), values));
        }
    }

    /// Removes a root's password unless it is a hash.
    pub(crate) fn remove_clear_passwords(&mut self) {
        let is_clear = |values: &[String]| values.iter().any(|value| !value.starts_with('{'));
        self.attributes
            .retain(|(name, values)| name != "olcRootPW" || !is_clear(values));
    }

    /// Returns the values of an attribute.
    pub fn values(&self, name: &str) -> &[String] {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(known, _)| known == name);
        found.map_or(&[], |(_, values)| values.as_slice())
    }
}

/// Returns values with their places before them: `{0}`, `{1}` ...
pub(crate) fn numbered(values: impl IntoIterator<Item = String>) -> Vec<String> {
    let values = values.into_iter().enumerate();
    values
        .map(|(at, value)| format!("{{{at}}}{value}"))
        .collect()
}
