//! The figures in entries of `cn=Monitor`.

use crate::entry::Entry;

/// Returns a number of an entry; zero without it.
#[must_use]
pub fn number(entry: &Entry, attribute: &str) -> u64 {
    let value = entry.first(attribute);
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns the facts of an entry with a name: `name: text` among `monitoredInfo`.
#[must_use]
pub fn facts(entry: &Entry, name: &str) -> Vec<String> {
    let values = entry.values("monitoredInfo").iter();
    let texts = values.map(|value| String::from_utf8_lossy(value));
    texts
        .filter_map(|text| Some(text.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
        .collect()
}

/// Returns the first fact with a name.
#[must_use]
pub fn fact(entry: &Entry, name: &str) -> Option<String> {
    facts(entry, name).into_iter().next()
}

/// Returns a fact that is a number.
#[must_use]
pub fn count(entry: &Entry, name: &str) -> Option<u64> {
    fact(entry, name)?.parse().ok()
}

/// Returns the numbers of a text, such as those of `5 transactions, 700 seconds`.
#[must_use]
pub fn numbers(text: &str) -> Vec<u64> {
    let words = text.split(|letter: char| !letter.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Returns a time in the two units that matter.
#[must_use]
pub fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
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
        let values = values.iter().map(|value| value.as_bytes().to_vec());
        let entry = Entry {
            dn: String::new(),
            attributes: vec![("monitoredInfo".to_owned(), values.collect())],
        };
        assert_eq!(numbers(&fact(&entry, "oldest reader").unwrap()), [5, 700]);
        assert_eq!(facts(&entry, "index"), ["cn:eq", "sn:eq"]);
        assert_eq!((fact(&entry, "mdb"), count(&entry, "index")), (None, None));
        assert_eq!(
            (duration(59), duration(90_061)),
            ("59 s".to_owned(), "1 d 1 h".to_owned())
        );
    }
}
