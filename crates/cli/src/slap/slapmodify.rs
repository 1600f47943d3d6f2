//! slapmodify: applies change records to a database without a server.

use std::sync::Arc;

use fulgurite_config::Database;
use fulgurite_directory::{DatabaseOptions, Directory, DirectoryOptions, RootAccount};
use fulgurite_directory_tools::{ChangeKind, ModifyEvent, ModifyOptions, modify, modify_by};
use fulgurite_ldap::ResultCode;
use fulgurite_server::ConfigEditor;

use super::context::{Access, Context};
use super::failure::Failure;
use super::slapadd::ChangeOptions;
use crate::slapd_places;
use fulgurite_terminal::getopt::CommandLine;

/// The modifier's name if no root is configured.
const NOBODY: &str = "cn=slapmodify";

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let options = ChangeOptions::of(line)?;
    if options.common.choice.is_configuration() && options.common.config_file.is_none() {
        return change_configuration(&options);
    }
    let context = Context::read(&options.common)?;
    let input = options.input()?;
    let databases = context.databases(&options.common)?;
    let root = databases
        .first()
        .and_then(|database| database.content.root_dn.value.clone())
        .unwrap_or_else(|| NOBODY.to_owned());
    let settings = ModifyOptions {
        by: context
            .dn(&root)
            .ok_or_else(|| Failure::Message(format!("invalid root DN \"{root}\"")))?,
        continue_on_error: options.common.continue_on_error,
        dry_run: options.dry_run,
        from_line: options.from_line,
    };
    let directory = open(&context, &options, databases, &root)?;
    let verbose = options.common.verbose;
    let refused = modify(&directory, input, &settings, &mut |event| {
        report(event, verbose)
    });
    match refused {
        Ok(0) => Ok(()),
        Ok(_) => Err(Failure::Reported(1)),
        Err(error) => Err(Failure::Message(error.to_string())),
    }
}

/// Changes the configuration directory.
fn change_configuration(options: &ChangeOptions) -> Result<(), Failure> {
    let place = options.common.config_dir.as_deref();
    let place = place.or_else(|| slapd_places::installed().filter(|place| place.is_dir()));
    let bad = |error: &dyn std::fmt::Display| {
        eprintln!("{error}");
        Failure::Message("bad configuration directory!".to_owned())
    };
    let place = place.ok_or_else(|| bad(&"no configuration directory was found"))?;
    let editor = ConfigEditor::open(place, options.dry_run);
    let mut editor = editor.map_err(|error| bad(&error))?;
    let settings = ModifyOptions {
        by: editor.root(),
        continue_on_error: options.common.continue_on_error,
        dry_run: false,
        from_line: options.from_line,
    };
    let verbose = options.common.verbose;
    let mut change = |update: &_| editor.change(update).0.result;
    let refused = modify_by(&mut change, options.input()?, &settings, &mut |event| {
        report(event, verbose)
    });
    match refused {
        Ok(0) => Ok(()),
        Ok(_) => Err(Failure::Reported(1)),
        Err(error) => Err(Failure::Message(error.to_string())),
    }
}

/// Opens the databases for changes; `root` may change each of them.
fn open(
    context: &Context,
    options: &ChangeOptions,
    databases: Vec<&Database>,
    root: &str,
) -> Result<Directory, Failure> {
    let mut parts = Vec::new();
    for database in databases {
        let store = context.open(database, Access::Write)?;
        parts.push(DatabaseOptions {
            root: Some(RootAccount {
                dn: root.to_owned(),
                password: None,
            }),
            ..DatabaseOptions::new(store)
        });
    }
    let directory = Directory::open(DirectoryOptions {
        server_id: options.server_id(&context.settings),
        ..DirectoryOptions::new(Arc::clone(&context.schema), parts)
    });
    directory.map_err(|error| Failure::Message(error.to_string()))
}

/// Prints an event in slapd's words.
fn report(event: ModifyEvent<'_>, verbose: bool) {
    match event {
        ModifyEvent::Applied { kind, dn } if verbose => {
            eprintln!("{}: \"{dn}\"", done(kind));
        }
        ModifyEvent::Applied { .. } => {}
        ModifyEvent::Unreadable(error) => {
            eprintln!("{}", error.kind);
            eprintln!("slapmodify: could not parse entry (line={})", error.line);
        }
        ModifyEvent::Refused {
            dn, line, result, ..
        } if result.code == ResultCode::NoSuchObject => {
            eprintln!("slapmodify: no such entry \"{dn}\" in database (lineno={line})");
        }
        ModifyEvent::Refused {
            kind,
            dn,
            line,
            result,
        } => {
            let (verb, code) = (verb(kind), result.code.number());
            eprintln!(
                "slapmodify: could not {verb} entry dn=\"{dn}\" (line={line}): ({code}) {}",
                result.diagnostic
            );
        }
    }
}

const fn done(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "added",
        ChangeKind::Delete => "delete",
        ChangeKind::Modify => "modify",
        ChangeKind::ModifyDn => "modrdn",
    }
}

const fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "add",
        ChangeKind::Delete => "delete",
        ChangeKind::Modify => "modify",
        ChangeKind::ModifyDn => "rename",
    }
}
