//! `fulgurite index`.

use std::sync::Arc;

use anyhow::bail;
use fulgurite_server::schema;
use fulgurite_store::{IndexProgress, IndexSpec, IndexStage, IndexStatus, Store, StoreOptions};

use crate::arguments::tools::Index;

/// Entries of one transaction: few, so that other writers hardly wait.
const ENTRIES_PER_STEP: usize = 500;

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
    let add = command.add.iter().map(|text| text.parse());
    let add = add.collect::<Result<Vec<IndexSpec>, _>>()?;
    match &command.rebuild {
        Some(attributes) => {
            let attributes = Some(attributes.as_slice()).filter(|list| !list.is_empty());
            store.rebuild_indexes(attributes)?;
        }
        None => {
            if add.is_empty() && command.remove.is_empty() && store.index_status()?.work.is_empty()
            {
                bail!("nothing to do: use --add, --remove, --rebuild or --status");
            }
            store.add_indexes(&add)?;
            store.remove_indexes(&command.remove)?;
        }
    }
    work_off(&store, command.quiet)
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
