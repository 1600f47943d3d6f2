//! Wishes from LDIF: content records, and changes.

use std::io::BufRead;

use anyhow::{Context as _, bail};
use fulgurite_client::ModifyOperation;
use fulgurite_ldif::{Action, Attributes, ModificationKind, Reader, ReaderOptions, Record};

use super::wanted::{Modification, NewName, WantedState, Wish};
use crate::remote::entries::{NamedValues, is_of_server, push};

/// Reads all wishes of an input. The second value is true if it has changes, whose order counts.
pub(super) fn read(input: impl BufRead, file: &str) -> anyhow::Result<(Vec<Wish>, bool)> {
    let options = ReaderOptions {
        file: Some(file.to_owned()),
        file_urls: true,
        ..ReaderOptions::default()
    };
    let mut reader = Reader::with_options(input, options);
    let (mut wishes, mut has_changes) = (Vec::new(), false);
    while let Some(record) = reader.next_record()? {
        let place = format!("{file}, line {}", record.line());
        if record.controls().next().is_some() {
            bail!("{place}: controls cannot be applied");
        }
        has_changes |= !matches!(record.action(), Action::Content(_));
        let state = state(&record).with_context(|| place.clone())?;
        wishes.push(Wish {
            dn: record.dn().to_owned(),
            place,
            state,
        });
    }
    Ok((wishes, has_changes))
}

fn state(record: &Record<'_>) -> anyhow::Result<WantedState> {
    Ok(match record.action() {
        Action::Content(values) | Action::Add(values) => WantedState::Present(attributes(values)),
        Action::Delete => WantedState::Absent,
        Action::Modify(parts) => {
            let mut modifications = Vec::new();
            for part in parts {
                modifications.push(Modification {
                    operation: operation(part.kind)?,
                    name: part.description.to_owned(),
                    values: part.values.map(|value| value.value.to_vec()).collect(),
                });
            }
            WantedState::Modified(modifications)
        }
        Action::ModifyDn {
            new_rdn,
            delete_old_rdn,
            new_superior,
        } => WantedState::Renamed(NewName {
            rdn: text(new_rdn)?,
            deletes_old_rdn: delete_old_rdn,
            superior: new_superior.map(text).transpose()?,
        }),
    })
}

fn attributes(values: Attributes<'_>) -> Vec<NamedValues> {
    let mut attributes = Vec::new();
    for value in values.filter(|value| !is_of_server(value.description)) {
        push(&mut attributes, value.description, value.value.to_vec());
    }
    attributes
}

fn operation(kind: ModificationKind) -> anyhow::Result<ModifyOperation> {
    Ok(match kind {
        ModificationKind::Add => ModifyOperation::Add,
        ModificationKind::Delete => ModifyOperation::Delete,
        ModificationKind::Replace => ModifyOperation::Replace,
        ModificationKind::Increment => {
            bail!("an increment has another effect each time, so it cannot be applied")
        }
    })
}

fn text(bytes: &[u8]) -> anyhow::Result<String> {
    let text = std::str::from_utf8(bytes).context("a name is not UTF-8")?;
    Ok(text.to_owned())
}
