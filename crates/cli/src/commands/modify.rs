//! `fulgurite modify`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_directory::{DatabaseOptions, Directory, DirectoryOptions, RootAccount};
use fulgurite_directory_tools::{ModifyEvent, ModifyOptions, modify};
use fulgurite_schema::Dn;
use fulgurite_server::schema;
use fulgurite_store::{Store, StoreOptions};

use crate::arguments::tools::Modify;

/// The modifier's name if no root is configured.
const NOBODY: &str = "cn=fulgurite modify";

pub(crate) fn run(command: Modify) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    let schema = Arc::new(schema(&settings)?);
    let database = settings.first_store()?;
    let store = Store::open(
        database.directory()?,
        &StoreOptions::default(),
        Arc::clone(&schema),
    )?;
    let root = database.content.root_dn.value.clone();
    let root = root.unwrap_or_else(|| NOBODY.to_owned());
    let by = Dn::parse(&schema, &root).with_context(|| format!("root DN \"{root}\""))?;
    let part = DatabaseOptions {
        root: Some(RootAccount {
            dn: root,
            password: None,
        }),
        ..DatabaseOptions::new(store)
    };
    let directory = Directory::open(DirectoryOptions::new(schema, vec![part]))?;
    let options = ModifyOptions {
        by,
        continue_on_error: command.r#continue,
        dry_run: command.dry_run,
        from_line: 0,
    };
    let mut refused = 0;
    for file in &command.files {
        let input = open(file)?;
        refused += modify(&directory, input, &options, &mut |event| {
            print_event(file, &event)
        })?;
        if refused > 0 && !command.r#continue {
            break;
        }
    }
    match refused {
        0 => Ok(()),
        1 => bail!("one change was refused"),
        count => bail!("{count} changes were refused"),
    }
}

fn print_event(file: &Path, event: &ModifyEvent<'_>) {
    let file = file.display();
    match event {
        ModifyEvent::Applied { .. } => {}
        ModifyEvent::Unreadable(error) => {
            eprintln!("fulgurite: {file}, line {}: {}", error.line, error.kind);
        }
        ModifyEvent::Refused {
            dn, line, result, ..
        } => {
            let code = result.code;
            eprintln!(
                "fulgurite: {file}, line {line}: {dn}: {code}: {}",
                result.diagnostic
            );
        }
    }
}

fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("{}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}
