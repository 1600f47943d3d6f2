//! `fulgurite replication conflicts`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use fulgurite_directory::{Conflict, Timestamp, conflicts};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{Store, StoreOptions};

use super::restore;
use super::uuid_text::uuid_text;
use crate::arguments::replication::Conflicts;
use crate::json_text::escaped;

/// The conflicts to show.
struct Wanted {
    since: Option<String>,
    within: Option<Dn>,
}

impl Wanted {
    fn has(&self, schema: &Schema, conflict: &Conflict) -> bool {
        let time = Timestamp(conflict.time_us).generalized_us();
        let is_late = self.since.as_ref().is_none_or(|since| time >= *since);
        let name = Dn::parse(schema, &conflict.dn).ok();
        let is_within = self
            .within
            .as_ref()
            .is_none_or(|base| name.is_some_and(|name| name.is_within(base)));
        is_late && is_within
    }
}

/// Prints the report of a store.
pub(super) fn run(command: &Conflicts) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    let schema = Arc::new(fulgurite_server::schema(&settings)?);
    let parsed = command.dn.as_ref().map(|text| {
        let name = Dn::parse(&schema, text);
        name.with_context(|| format!("name {text}"))
    });
    let wanted = Wanted {
        since: command.since.clone(),
        within: parsed.transpose()?,
    };
    let open = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let store = Store::open(settings.data()?, &open, Arc::clone(&schema))?;
    if let Some(id) = command.restore {
        let mut conflict = None;
        conflicts(&store, &mut |found| {
            if found.id == id {
                conflict = Some(found);
            }
            conflict.is_none()
        })?;
        let conflict = conflict.with_context(|| format!("the report has no conflict {id}"))?;
        return restore::run(command, (&schema, store.suffixes()), &conflict);
    }
    let mut out = std::io::stdout().lock();
    let mut written = Ok(());
    let mut count = 0;
    conflicts(&store, &mut |conflict| {
        if wanted.has(&schema, &conflict) {
            let text = match command.json {
                true => json(&conflict),
                false => text(&conflict),
            };
            count += 1;
            written = out.write_all(text.as_bytes());
        }
        written.is_ok()
    })?;
    written?;
    if count == 0 && !command.json {
        writeln!(out, "no conflicts")?;
    }
    Ok(())
}

/// Returns the facts of a conflict: label and value.
fn facts(conflict: &Conflict) -> [(&'static str, String); 7] {
    let number = |csn: &Option<String>| csn.clone().unwrap_or_default();
    [
        ("id", conflict.id.to_string()),
        ("time", Timestamp(conflict.time_us).generalized_us()),
        ("kind", conflict.kind.to_string()),
        ("dn", conflict.dn.clone()),
        ("uuid", uuid_text(conflict.uuid)),
        ("winner", number(&conflict.winner)),
        ("loser", number(&conflict.loser)),
    ]
}

/// Returns the facts as comments, and behind them the values that lost. So the output is LDIF.
fn text(conflict: &Conflict) -> String {
    let mut out = String::new();
    for (label, value) in facts(conflict) {
        let _ = writeln!(out, "# {label:<7} {}", shown(&value));
    }
    out.push_str(&conflict.ldif);
    if conflict.ldif.is_empty() {
        out.push('\n');
    }
    out
}

/// Returns a value on one line. A terminal must not obey a name that a provider has sent.
fn shown(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter.is_control() {
            true => out.extend(letter.escape_default()),
            false => out.push(letter),
        }
    }
    out
}

/// Returns an object on one line.
fn json(conflict: &Conflict) -> String {
    let mut out = String::from("{");
    for (label, value) in facts(conflict) {
        let _ = write!(out, "\"{label}\":\"{}\",", escaped(&value));
    }
    let _ = writeln!(out, "\"ldif\":\"{}\"}}", escaped(&conflict.ldif));
    out
}

#[cfg(test)]
mod tests {
    use fulgurite_directory::ConflictKind;

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let mut conflict = conflict();
        conflict.dn = "cn=\u{1b}[2J\r\n\u{9b}ü".to_owned();
        let text = text(&conflict);
        assert!(
            text.contains("# dn      cn=\\u{1b}[2J\\r\\n\\u{9b}ü\n"),
            "{text}"
        );
    }

    fn conflict() -> Conflict {
        Conflict {
            id: 7,
            time_us: 1_767_323_045_000_000,
            kind: ConflictKind::NameTaken,
            uuid: [0x1f; 16],
            dn: "cn=\"x\",dc=y".to_owned(),
            winner: Some("2".to_owned()),
            loser: None,
            ldif: "dn: cn=x,dc=y\ncn: x\n\n".to_owned(),
        }
    }

    #[test]
    fn a_conflict_is_shown_as_ldif_and_as_json() {
        let shown = text(&conflict());
        assert!(
            shown.starts_with(
                "# id      7\n# time    20260102030405.000000Z\n# kind    name taken\n"
            )
        );
        assert!(shown.ends_with("dn: cn=x,dc=y\ncn: x\n\n"), "{shown}");
        let shown = json(&conflict());
        assert!(
            shown.contains(r#""dn":"cn=\"x\",dc=y","uuid":"1f1f1f1f-1f1f-"#),
            "{shown}"
        );
        assert!(
            shown.ends_with("\\u000acn: x\\u000a\\u000a\"}\n"),
            "{shown}"
        );
    }

    #[test]
    fn time_and_name_choose_conflicts() {
        let schema = Schema::standard();
        let has = |since: Option<&str>, within: Option<&str>| {
            let wanted = Wanted {
                since: since.map(str::to_owned),
                within: within.map(|text| Dn::parse(&schema, text).unwrap()),
            };
            let mut conflict = conflict();
            conflict.dn = "cn=x,dc=y".to_owned();
            wanted.has(&schema, &conflict)
        };
        assert!(has(None, None) && has(Some("20260102"), Some("dc=y")));
        assert!(!has(Some("20260103"), None) && !has(None, Some("dc=z")));
    }
}
