//! Settings that only a copy of another server's database may get.
//!
//! The last provider of a copy may go. As in slapd, the settings then stay, and clients may update
//! the database. Unlike slapd, the server starts with them.

use super::entry::ConfigEntry;

const SETTINGS: [(&str, &str); 2] = [
    (
        "olcUpdateRef",
        "<olcUpdateRef> must appear after syncrepl or updatedn",
    ),
    (
        "olcMultiProvider",
        "<olcMultiProvider> database is not a shadow",
    ),
];

/// Requires a copy for settings that the entry has not had.
///
/// # Errors
/// slapd's sentence.
pub(super) fn require(held: Option<&ConfigEntry>, new: &ConfigEntry) -> Result<(), &'static str> {
    let has = |name: &str| !values(new, name).is_empty();
    if has("olcSyncrepl") || has("olcUpdateDN") {
        return Ok(());
    }
    for (name, text) in SETTINGS {
        let (new, held) = (
            values(new, name),
            held.map_or(&[][..], |held| values(held, name)),
        );
        if new
            .iter()
            .any(|value| value != "FALSE" && !held.contains(value))
        {
            return Err(text);
        }
    }
    Ok(())
}

fn values<'e>(entry: &'e ConfigEntry, name: &str) -> &'e [String] {
    let mut attributes = entry.attributes.iter();
    let found = attributes.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map_or(&[], |(_, values)| values.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(attributes: &[(&str, &str)]) -> ConfigEntry {
        let attributes = attributes.iter();
        ConfigEntry {
            dn: "olcDatabase={1}mdb,cn=config".to_owned(),
            attributes: attributes
                .map(|(name, value)| ((*name).to_owned(), vec![(*value).to_owned()]))
                .collect(),
        }
    }

    #[test]
    fn only_a_new_setting_needs_a_copy() {
        let copy = entry(&[("olcSyncrepl", "x"), ("olcMultiProvider", "TRUE")]);
        let former = entry(&[("olcMultiProvider", "TRUE")]);
        let both = entry(&[("olcMultiProvider", "TRUE"), ("olcUpdateRef", "ldap://h")]);
        let off = entry(&[("olcMultiProvider", "FALSE")]);
        assert!(require(None, &copy).is_ok());
        assert!(require(Some(&copy), &former).is_ok());
        assert!(require(Some(&former), &off).is_ok());
        for (held, new) in [
            (None, &former),
            (Some(&off), &former),
            (Some(&former), &both),
        ] {
            assert!(require(held, new).is_err(), "{new:?}");
        }
    }
}
