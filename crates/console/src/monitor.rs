//! The entries of cn=Monitor and their figures.

use fulgurite_client::{Client, Entry, Scope};

use crate::ldap::{self, LdapError};

/// Returns the entries of a branch of cn=Monitor that match a filter; none without the branch.
pub(crate) fn branch(
    client: &mut Client,
    name: &str,
    filter: &str,
) -> Result<Vec<Entry>, LdapError> {
    let base = format!("cn={name},cn=Monitor");
    Ok(ldap::list(client, (&base, Scope::Subtree), filter, &["*", "+"])?.entries)
}

/// Returns a number of an entry; zero without it.
pub(crate) fn number(entry: &Entry, attribute: &str) -> u64 {
    let value = entry.first(attribute);
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns the facts of an entry with a name: `name: text`.
pub(crate) fn facts(entry: &Entry, name: &str) -> Vec<String> {
    let values = entry.values("monitoredInfo").iter();
    let texts = values.map(|value| String::from_utf8_lossy(value));
    texts
        .filter_map(|text| Some(text.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
        .collect()
}

/// Returns the first fact with a name.
pub(crate) fn fact(entry: &Entry, name: &str) -> Option<String> {
    facts(entry, name).into_iter().next()
}

/// Returns a fact that is a number.
pub(crate) fn count(entry: &Entry, name: &str) -> Option<u64> {
    fact(entry, name)?.parse().ok()
}

/// Returns the first numbers of a text, such as those of `5 transactions, 700 seconds`.
pub(crate) fn numbers(text: &str) -> Vec<u64> {
    let words = text.split(|letter: char| !letter.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
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

/// Returns a time in the two units that matter.
pub(crate) fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
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
    fn facts_are_found_by_their_names() {
        let values = [
            "mdb",
            "oldest reader: 5 transactions, 700 seconds",
            "index: cn:eq",
            "index: sn:eq",
        ];
        let entry = Entry {
            dn: String::new(),
            attributes: vec![(
                "monitoredInfo".to_owned(),
                values
                    .iter()
                    .map(|value| value.as_bytes().to_vec())
                    .collect(),
            )],
        };
        assert_eq!(numbers(&fact(&entry, "oldest reader").unwrap()), [5, 700]);
        assert_eq!(facts(&entry, "index"), ["cn:eq", "sn:eq"]);
        assert_eq!((fact(&entry, "mdb"), count(&entry, "index")), (None, None));
    }

    #[test]
    fn figures_are_for_people() {
        assert_eq!(time("20261127090102Z").unwrap(), "2026-11-27 09:01:02 UTC");
        assert_eq!((time("00000101000000Z"), time("\u{e4}")), (None, None));
        assert_eq!(
            (duration(59), duration(90_061)),
            ("59 s".to_owned(), "1 d 1 h".to_owned())
        );
        assert_eq!(
            (size(1023), size(1536)),
            ("1023 B".to_owned(), "1.5 KiB".to_owned())
        );
        assert_eq!(size(u64::MAX), "16777216 TiB");
    }
}
