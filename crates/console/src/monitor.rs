//! The entries of cn=Monitor and their figures.

use fulgurite_client::{Client, Entry, Scope};

use crate::ldap::{self, LdapError, Listing};

/// Returns the entries of a branch of cn=Monitor that match a filter; none without the branch.
pub(crate) fn branch(
    client: &mut Client,
    name: &str,
    filter: &str,
) -> Result<Vec<Entry>, LdapError> {
    Ok(listing(client, name, filter)?.entries)
}

/// Returns those entries, and if there are more.
pub(crate) fn listing(client: &mut Client, name: &str, filter: &str) -> Result<Listing, LdapError> {
    let base = format!("cn={name},cn=Monitor");
    ldap::list(client, (&base, Scope::Subtree), filter, &["*", "+"])
}

/// Returns a Generalized Time for people, as `2026-11-27 09:00:00 UTC`. There is none for an event
/// that has not happened.
pub(crate) fn time(text: &str) -> Option<String> {
    let digits = text.get(..14).filter(|digits| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with("0000")
    })?;
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    Some(format!(
        "{}-{}-{} {}:{}:{} UTC",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(8, 10),
        part(10, 12),
        part(12, 14)
    ))
}

/// Returns bytes in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1024.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && amount < 100.0);
    format!(
        "{amount:.digits$} {}",
        units.get(unit).copied().unwrap_or("B")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_for_people() {
        assert_eq!(time("20261127090102Z").unwrap(), "2026-11-27 09:01:02 UTC");
        assert_eq!((time("00000101000000Z"), time("\u{e4}")), (None, None));
        assert_eq!(
            (size(1023), size(1536)),
            ("1023 B".to_owned(), "1.5 KiB".to_owned())
        );
        assert_eq!(size(u64::MAX), "16777216 TiB");
    }
}
