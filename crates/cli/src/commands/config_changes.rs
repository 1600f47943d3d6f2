//! `fulgurite config apply` and `fulgurite config undo`: changes of a configuration directory.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use fulgurite_config::ConfigFiles;
use fulgurite_directory_tools::{ModifyEvent, ModifyOptions, modify_by};
use fulgurite_server::{ConfigEditor, Consequences, check_config_files};

use super::unless_pipe_closed;
use crate::arguments::tools::{ApplyConfig, UndoConfig};
use crate::lock::DataLock;
use crate::slapd_places;

/// `config apply`: changes the directory, and prints what each record does.
pub(crate) fn apply(command: &ApplyConfig) -> anyhow::Result<()> {
    let folder = folder(command.slapd_dir.as_deref())?;
    let _lock = match command.dry_run {
        true => None,
        false => {
            let lock = DataLock::take(&folder);
            Some(lock.with_context(|| in_use(&command.files))?)
        }
    };
    let mut editor = ConfigEditor::open(&folder, command.dry_run)?;
    let options = ModifyOptions {
        by: editor.root(),
        continue_on_error: command.dry_run,
        dry_run: false,
        from_line: 0,
    };
    let mut refused = 0;
    for file in &command.files {
        let input = open(file)?;
        let last = RefCell::new(Consequences::default());
        let mut change = |update: &_| {
            let (reply, consequences) = editor.change(update);
            *last.borrow_mut() = consequences;
            reply.result
        };
        refused += modify_by(&mut change, input, &options, &mut |event| {
            print_event(file, &event, &last.borrow(), command.dry_run);
        })?;
        if refused > 0 && !command.dry_run {
            break;
        }
    }
    match refused {
        0 => Ok(()),
        1 => bail!("one change is refused"),
        count => bail!("{count} changes are refused"),
    }
}

/// `config undo`: brings the last state of the directory back.
pub(crate) fn undo(command: &UndoConfig) -> anyhow::Result<()> {
    let folder = folder(command.slapd_dir.as_deref())?;
    if command.list {
        return list(&ConfigFiles::read(&folder)?);
    }
    let _lock = DataLock::take(&folder)
        .context("a running server holds its configuration: stop it, undo, and start it again")?;
    let files = ConfigFiles::read(&folder)?;
    // A crash may have interrupted a change.
    files.settle()?;
    let Some((number, previous)) = files.previous()? else {
        bail!("{}: no earlier state is kept", folder.display());
    };
    check_config_files(&previous).context("the earlier state cannot be used any more")?;
    let generations = files.generations()?;
    if let Some(error) = files.return_to(number, &previous)? {
        bail!("the earlier state is back, but not all of it is on disk: {error}");
    }
    let undone = generations.iter().filter(|one| one.number >= number);
    for name in undone.flat_map(|one| &one.changed) {
        println!("{name}: as before");
    }
    Ok(())
}

fn list(files: &ConfigFiles) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let generations = files.generations()?;
    let printed = generations
        .iter()
        .try_for_each(|one| writeln!(out, "{}: {}", one.number, one.changed.join(" ")));
    unless_pipe_closed(printed.map_err(Into::into))
}

/// Returns the directory of the flag, or that of slapd's package.
fn folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let installed = || slapd_places::installed().filter(|place| place.is_dir());
    let folder = given.or_else(installed);
    let folder = folder.context("no configuration directory was found: use -F DIR")?;
    if !folder.is_dir() {
        bail!("{} is no configuration directory", folder.display());
    }
    Ok(folder.to_owned())
}

/// Returns the advice for a directory whose server runs and holds the lock.
fn in_use(files: &[PathBuf]) -> String {
    let commands = files.iter().map(|file| match file.as_os_str() == "-" {
        true => "ldapmodify -Y EXTERNAL -H ldapi:///".to_owned(),
        false => format!("ldapmodify -Y EXTERNAL -H ldapi:/// -f {}", file.display()),
    });
    format!(
        "a running server takes changes itself, at once: {} (with -e '!noop' it only tries them)",
        commands.collect::<Vec<_>>().join(" && ")
    )
}

fn print_event(file: &Path, event: &ModifyEvent<'_>, consequences: &Consequences, trial: bool) {
    let file = file.display();
    match event {
        ModifyEvent::Applied { dn, .. } => {
            let name = match consequences.name.is_empty() {
                true => dn,
                false => consequences.name.as_str(),
            };
            match (trial, consequences.at_next_start.as_slice()) {
                (false, _) => println!("{name}: changed"),
                (true, []) => println!("{name}: at once"),
                (true, differences) => {
                    let differences = differences.join(" and ");
                    println!("{name}: at the next start: {differences}");
                }
            }
        }
        ModifyEvent::Unreadable(error) => {
            eprintln!("fulgurite: {file}, line {}: {}", error.line, error.kind);
        }
        ModifyEvent::Refused {
            dn, line, result, ..
        } => {
            let (code, text) = (result.code, &result.diagnostic);
            eprintln!("fulgurite: {file}, line {line}: {dn}: refused: {code}: {text}");
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
