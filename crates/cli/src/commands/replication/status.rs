//! `fulgurite replication status`.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::bail;
use fulgurite_client::{Entry, Scope};

use crate::arguments::replication::Status;
use crate::json_text::escaped;
use crate::remote::login::connect;

/// The attributes to show: a label, a key in JSON, and the attribute.
const ROWS: [(&str, &str, &str); 7] = [
    ("provider", "provider", "olmSRProviderURIList"),
    ("phase", "phase", "olmSRSyncPhase"),
    ("last contact", "last_contact", "olmSRLastContact"),
    ("last session", "last_session", "olmSRLastConnect"),
    ("next session", "next_session", "olmSRNextConnect"),
    ("cookie sent", "cookie_sent", "olmSRLastCookieSent"),
    ("cookie received", "cookie_received", "olmSRLastCookieRcvd"),
];

/// The time of an event that has not happened.
const NEVER: &str = "00000101000000Z";

/// Prints the consumers of a server, and the copies that others make of it. Returns the exit
/// status.
pub(super) fn run(command: &Status) -> anyhow::Result<u8> {
    let consumers = consumers(command)?;
    let mut text = String::new();
    if command.json {
        json(&consumers, &mut text);
    } else {
        table(&consumers, &mut text);
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(consumers.iter().map(health).max().unwrap_or(0))
}

/// Reads the consumers and the copies of the server.
fn consumers(command: &Status) -> anyhow::Result<Vec<Entry>> {
    let mut client = connect(&command.server)?;
    let filter = "(|(objectClass=olmSyncReplInstance)(&(objectClass=monitoredObject)(cn=Copy *)))";
    let base = "cn=Databases,cn=Monitor";
    let found = client.search(base, Scope::Subtree, filter, &["*", "+"])?;
    if !found.result.is_success() {
        bail!(
            "cn=Monitor cannot be read ({}): add a database monitor, and rights to it",
            found.result.code.name()
        );
    }
    Ok(found.entries)
}

/// Returns a figure among the facts of a consumer.
fn fact(entry: &Entry, name: &str) -> Option<String> {
    let values = entry.values("monitoredInfo").iter();
    let mut texts = values.map(|value| String::from_utf8_lossy(value));
    texts.find_map(|text| Some(text.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
}

/// Returns 0 for a consumer that follows its provider, 1 for trouble, 2 if a person has to act.
fn health(entry: &Entry) -> u8 {
    let is_lasting = entry.first("olmSRSyncPhase").as_deref() == Some("Gave up")
        || fact(entry, "quarantined").is_some_and(|count| count != "0");
    match (is_lasting, fact(entry, "trouble")) {
        (true, _) => 2,
        (false, Some(_)) => 1,
        (false, None) => 0,
    }
}

/// Returns true for a copy that another server makes.
fn is_copy(entry: &Entry) -> bool {
    fact(entry, "copy").is_some()
}

/// Returns rows of a consumer or a copy: label, key, value.
fn rows(entry: &Entry) -> Vec<(&'static str, &'static str, String)> {
    if let Some(copy) = fact(entry, "copy") {
        let mut rows = vec![("copy", "dn", entry.dn.clone()), ("of", "copy", copy)];
        for name in ["phase", "behind", "lag", "refreshed"] {
            rows.extend(fact(entry, name).map(|value| (name, name, value)));
        }
        return rows;
    }
    let mut rows = vec![("consumer", "dn", entry.dn.clone())];
    rows.extend(ROWS.iter().map(|(label, key, attribute)| {
        let value = entry.first(attribute).filter(|value| value != NEVER);
        (*label, *key, value.unwrap_or_default())
    }));
    for name in [
        "applied",
        "conflicts",
        "quarantined",
        "refreshed",
        "trouble",
    ] {
        rows.extend(fact(entry, name).map(|value| (name, name, value)));
    }
    rows
}

fn table(consumers: &[Entry], out: &mut String) {
    if consumers.iter().all(is_copy) {
        out.push_str("no database is a copy\n");
    }
    for entry in consumers {
        for (label, _, value) in rows(entry) {
            let _ = writeln!(out, "{label:<16} {value}");
        }
        out.push('\n');
    }
}

fn json(consumers: &[Entry], out: &mut String) {
    out.push('[');
    for (at, entry) in consumers.iter().enumerate() {
        out.push_str(if at == 0 { "{" } else { ",{" });
        for (at, (_, key, value)) in rows(entry).iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\"{key}\":\"{}\"", escaped(value));
        }
        out.push('}');
    }
    out.push_str("]\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(phase: &str, facts: &[&str]) -> Entry {
        let facts = facts.iter().map(|fact| fact.as_bytes().to_vec()).collect();
        Entry {
            dn: "cn=Consumer 001".to_owned(),
            attributes: vec![
                ("olmSRSyncPhase".to_owned(), vec![phase.as_bytes().to_vec()]),
                ("monitoredInfo".to_owned(), facts),
            ],
        }
    }

    #[test]
    fn copies_of_others_have_their_lag() {
        let facts = ["copy: rid=007 conn=5", "phase: Persist", "behind: 3"];
        let mut copy = entry("", &facts);
        copy.attributes.remove(0);
        assert_eq!(health(&copy), 0);
        let mut out = String::new();
        table(&[copy], &mut out);
        assert!(out.starts_with("no database is a copy\n"), "{out}");
        assert!(out.contains("rid=007 conn=5\n"), "{out}");
        assert!(out.contains("behind           3\n"), "{out}");
    }

    #[test]
    fn the_status_tells_who_has_to_act() {
        let well = entry("Persist", &["applied: 5", "quarantined: 0"]);
        let alone = entry("Waiting", &["quarantined: 0", "trouble: \"gone\""]);
        let stuck = entry("Persist", &["quarantined: 2"]);
        let over = entry("Gave up", &["trouble: x"]);
        assert_eq!([&well, &alone, &stuck, &over].map(health), [0, 1, 2, 2]);
        let mut out = String::new();
        json(&[alone], &mut out);
        assert!(out.contains(r#""phase":"Waiting""#), "{out}");
        assert!(out.contains(r#""trouble":"\"gone\"""#), "{out}");
    }
}
