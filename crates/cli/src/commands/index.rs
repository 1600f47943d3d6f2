//! `fulgurite index`.

use std::sync::Arc;

use anyhow::bail;
use fulgurite_server::schema;
use fulgurite_store::{
    IndexProgress, IndexSpec, IndexStage, IndexStatus, OpenError, Store, StoreOptions,
};

use crate::arguments::tools::Index;

/// Entries of one transaction: few, so that other writers hardly wait.
const ENTRIES_PER_STEP: usize = 500;

/// Refused indexes that the command shows.
const REFUSED_SHOWN_MAX: usize = 20;

pub(crate) fn run(command: Index) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    let schema = Arc::new(schema(&settings)?);
    let options = StoreOptions {
        read_only: command.status,
        ..StoreOptions::default()
    };
    let store = Store::open(settings.data()?, &options, schema)?;
    if command.status {
        print!("{}", shown(&store.index_status()?));
        return Ok(());
    }
    let mut refused = 0;
    match &command.rebuild {
        Some(attributes) => {
            let attributes = Some(attributes.as_slice()).filter(|list| !list.is_empty());
            store.rebuild_indexes(attributes)?;
        }
        None => {
            let is_idle = command.add.is_empty() && command.remove.is_empty();
            if is_idle && store.index_status()?.work.is_empty() {
                bail!("nothing to do: use --add, --remove, --rebuild or --status");
            }
            store.remove_indexes(&command.remove)?;
            refused = add(&store, &command.add, &mut |line| {
                eprintln!("fulgurite: {line}");
            })?;
        }
    }
    work_off(&store, command.quiet)?;
    match refused {
        0 => Ok(()),
        1 => bail!("one index is refused"),
        count => bail!("{count} indexes are refused"),
    }
}

/// Requests indexes one by one, and calls `say` with a line about each that is refused or there
/// already. Returns the number of refused ones.
fn add(store: &Store, wanted: &[String], say: &mut dyn FnMut(String)) -> anyhow::Result<usize> {
    let mut refused = 0;
    for text in wanted {
        let spec = text.parse::<IndexSpec>();
        match spec.and_then(|spec| store.add_indexes(&[spec])) {
            Ok(true) => {}
            Ok(false) => say(format!("{text}: this index is there already")),
            Err(error @ OpenError::Index { .. }) => {
                refused += 1;
                match refused {
                    ..=REFUSED_SHOWN_MAX => say(error.to_string()),
                    _ if refused == REFUSED_SHOWN_MAX + 1 => say("and more".to_owned()),
                    _ => {}
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(refused)
}

fn work_off(store: &Store, quiet: bool) -> anyhow::Result<()> {
    let mut said = None;
    while store.index_step(ENTRIES_PER_STEP)? == IndexProgress::More {
        let status = store.index_status()?;
        let Some(work) = status.work.first() else {
            continue;
        };
        let now = (work.stage, work.percent(status.last_id) / 10);
        if !quiet && said != Some(now) {
            said = Some(now);
            eprint!("{}", working(&status));
        }
    }
    Ok(())
}

/// Prints all indexes, one line each.
fn shown(status: &IndexStatus) -> String {
    let complete = status.complete.iter();
    let complete: String = complete.map(|spec| format!("{spec}  complete\n")).collect();
    complete + &working(status)
}

fn working(status: &IndexStatus) -> String {
    let lines = status.work.iter().map(|work| {
        let (attribute, kind) = (&work.attribute, work.kind.word());
        match work.stage {
            IndexStage::Clear => format!("{attribute}:{kind}  clearing\n"),
            IndexStage::Drop => format!("{attribute}:{kind}  being dropped\n"),
            IndexStage::Fill => {
                let percent = work.percent(status.last_id);
                format!("{attribute}:{kind}  being built, {percent} %\n")
            }
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_schema::Schema;

    #[test]
    fn a_refused_index_stops_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::standard();
        let options = StoreOptions {
            suffixes: vec!["dc=x".to_owned()],
            ..StoreOptions::default()
        };
        let store = Store::create(&folder.path().join("db"), &options, schema).unwrap();
        let wanted = ["frog:eq", "description:sub", "uid:eq", "mail:what", "l:eq"];
        let mut lines = Vec::new();
        let refused = add(&store, &wanted.map(str::to_owned), &mut |line| {
            lines.push(line)
        });
        assert_eq!(refused.unwrap(), 2);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].contains("frog:eq") && lines[1].contains("uid:eq: this index is there"));
        assert!(lines[2].contains("mail:what"), "{lines:?}");
        work_off(&store, true).unwrap();
        let shown = shown(&store.index_status().unwrap());
        assert!(shown.contains("l:eq  complete"), "{shown}");
        let mut lines = Vec::new();
        let many = vec!["frog:eq".to_owned(); 30];
        let refused = add(&store, &many, &mut |line| lines.push(line)).unwrap();
        assert_eq!((refused, lines.len()), (30, REFUSED_SHOWN_MAX + 1));
    }
}
