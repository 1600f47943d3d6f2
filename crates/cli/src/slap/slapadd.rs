//! slapadd: adds LDIF to a database.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_config::{ConfigAddition, Database, Settings};
use fulgurite_directory::{Author, SystemClock, SystemEntropy};
use fulgurite_directory_tools::{
    AddEvent, AddOptions, Refusal, add, builtin_with, note_of_left_out,
};
use fulgurite_schema::ViolationKind;
use fulgurite_server::check_unfinished_settings;

use super::context::{Access, Context};
use super::failure::Failure;
use super::options::{SharedOptions, number};
use fulgurite_terminal::getopt::CommandLine;

/// The largest server id.
const SERVER_ID_MAX: u16 = 4095;

/// Options of slapadd and of slapmodify.
#[derive(Debug, Default)]
pub(super) struct ChangeOptions {
    pub(super) common: SharedOptions,
    pub(super) server_id: Option<u16>,
    pub(super) from_line: u64,
    pub(super) dry_run: bool,
    pub(super) write_context: bool,
}

impl ChangeOptions {
    pub(super) fn of(line: &CommandLine) -> Result<ChangeOptions, Failure> {
        let mut options = ChangeOptions::default();
        for given in &line.options {
            match given.letter {
                'j' => options.from_line = number(&given.value)?,
                's' => options.common.schema_check = false,
                'S' => {
                    let id: u16 = number(&given.value)?;
                    if id > SERVER_ID_MAX {
                        return Err(Failure::Usage);
                    }
                    options.server_id = Some(id);
                }
                'u' => options.dry_run = true,
                'w' => options.write_context = true,
                // No effect: slapadd always uses one transaction, and bulk loading for an empty
                // database.
                'q' => {}
                _ => drop(options.common.take(given)?),
            }
        }
        if !line.operands.is_empty() {
            return Err(Failure::Usage);
        }
        Ok(options)
    }

    /// Returns the file of `-l`, or standard input.
    pub(super) fn input(&self) -> Result<Box<dyn BufRead>, Failure> {
        input(self.common.file.as_ref())
    }

    /// Returns the server id in CSNs: `-S`, or the first configured one.
    pub(super) fn server_id(&self, settings: &Settings) -> u16 {
        let first = settings.global.server_ids.first();
        self.server_id
            .or_else(|| first.map(|server| server.id))
            .unwrap_or(0)
    }
}

/// Opens a file, or standard input.
fn input(file: Option<&PathBuf>) -> Result<Box<dyn BufRead>, Failure> {
    let Some(path) = file else {
        return Ok(Box::new(BufReader::new(io::stdin())));
    };
    match File::open(path) {
        Ok(file) => Ok(Box::new(BufReader::with_capacity(1 << 18, file))),
        Err(error) => {
            eprintln!("{}: {}", path.display(), super::failure::reason(&error));
            Err(Failure::Reported(1))
        }
    }
}

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let options = ChangeOptions::of(line)?;
    if let Some(directory) = &options.common.config_dir
        && options.common.config_file.is_none()
        && options.common.choice.is_configuration()
    {
        return add_configuration(&options, directory);
    }
    let context = Context::read(&options.common)?;
    let input = options.input()?;
    let databases = context.databases(&options.common)?;
    let number = databases
        .first()
        .map_or(0, |database| context.number_of(database));
    let suffix = (databases.first())
        .and_then(|database| database.suffix_if_set())
        .unwrap_or_default()
        .to_owned();
    let stores = context.open_all(&options.common, Access::Fill)?;
    let settings = AddOptions {
        schema: Arc::clone(&context.schema),
        author: author(&options, &context, &databases),
        check_schema: options.common.schema_check,
        check_values: options.common.value_check,
        dry_run: options.dry_run,
        continue_on_error: options.common.continue_on_error,
        from_line: options.from_line,
        write_context: options.write_context,
        clock: Arc::new(SystemClock::default()),
        entropy: Arc::new(SystemEntropy),
    };
    let mut is_first_missing = true;
    let summary = add(&stores, input, &settings, &mut |event| match event {
        AddEvent::Added { dn, id } if options.common.verbose => match id {
            Some(id) => eprintln!("added: \"{dn}\" ({:08x})", id.0),
            None => eprintln!("added: \"{dn}\""),
        },
        AddEvent::Added { .. } => {}
        AddEvent::Refused(refusal) => print_refusal(&refusal, number, &suffix),
        AddEvent::Missing { dn, id } => {
            if std::mem::take(&mut is_first_missing) {
                eprintln!("Error, entries missing!");
            }
            eprintln!("  entry {}: {dn}", id.0);
        }
    });
    if let Ok(summary) = &summary
        && let Some(note) = note_of_left_out(summary.left_out)
    {
        eprintln!("{note}");
    }
    match summary {
        Ok(summary) if summary.is_complete() => Ok(()),
        Ok(_) => Err(Failure::Reported(1)),
        Err(error) => Err(Failure::Message(error.to_string())),
    }
}

/// Returns the author of new entries: the root of the first database.
fn author(options: &ChangeOptions, context: &Context, databases: &[&Database]) -> Author {
    let first = databases.first();
    let root = first.and_then(|database| database.content.root_dn.value.clone());
    Author {
        name: root.unwrap_or_default(),
        server_id: options.server_id(&context.settings),
        last_mod: first.is_none_or(|database| *database.policy.last_mod),
        computed: (databases.iter())
            .flat_map(|database| database.computed_attributes())
            .collect(),
    }
}

/// Adds entries to the configuration directory if the resulting configuration is valid.
fn add_configuration(options: &ChangeOptions, directory: &Path) -> Result<(), Failure> {
    let bad = |error: &dyn std::fmt::Display| {
        eprintln!("{error}");
        Failure::Message("could not add to the configuration!".to_owned())
    };
    if !directory.is_dir() {
        eprintln!("invalid config directory {}, error 2", directory.display());
        return Err(Failure::Message("bad configuration directory!".to_owned()));
    }
    let mut text = Vec::new();
    let mut input = options.input()?;
    input.read_to_end(&mut text).map_err(|error| bad(&error))?;
    let addition = ConfigAddition::read(directory, text).map_err(|error| bad(&error))?;
    let settings = addition.layer().and_then(Settings::new);
    let settings = settings.map_err(|error| bad(&error))?;
    // More pieces may follow, such as definitions of attributes in names.
    check_unfinished_settings(&settings).map_err(|error| bad(&error))?;
    if options.common.verbose {
        addition.names().for_each(|dn| eprintln!("added: \"{dn}\""));
    }
    match options.dry_run {
        true => Ok(()),
        false => addition.keep().map_err(|error| bad(&error)),
    }
}

/// Prints the reason why a record was not added, in the words that scripts search for.
fn print_refusal(refusal: &Refusal, number: usize, suffix: &str) {
    match refusal {
        Refusal::Ldif(error) => {
            eprintln!("{}", error.kind);
            eprintln!("slapadd: could not parse entry (line={})", error.line);
        }
        Refusal::Unreadable { line, reason } => {
            eprintln!("<= str2entry: {reason}");
            eprintln!("slapadd: could not parse entry (line={line})");
        }
        Refusal::NoDatabase { line, dn } => eprintln!(
            "slapadd: line {line}: database #{number} ({suffix}) not configured to hold \"{dn}\"; no database \
             configured for that naming context"
        ),
        Refusal::NoObjectClass { line, dn } => {
            eprintln!("slapadd: dn=\"{dn}\" (line={line}): no objectClass attribute");
        }
        Refusal::Schema {
            line,
            dn,
            kind: kind @ (ViolationKind::InvalidSyntax | ViolationKind::UndefinedAttributeType),
            text,
        } => {
            eprintln!("<= str2entry: entry \"{dn}\": {text}");
            let name = text.split(':').next().unwrap_or_default();
            let undefined = *kind == ViolationKind::UndefinedAttributeType;
            if let Some(part) = undefined.then(|| builtin_with(name)).flatten() {
                let part = part.name();
                eprintln!("slapadd: {part}.schema defines {name} and is built in: include it");
            }
            eprintln!("slapadd: could not parse entry (line={line})");
        }
        Refusal::Schema {
            line,
            dn,
            kind,
            text,
        } => {
            eprintln!(
                "slapadd: dn=\"{dn}\" (line={line}): ({}) {text}",
                super::texts::code(*kind)
            );
        }
        Refusal::Exists { line, dn } => eprintln!(
            "slapadd: could not add entry dn=\"{dn}\" (line={line}): the entry exists already"
        ),
        Refusal::Store { line, dn, source } => {
            eprintln!("slapadd: could not add entry dn=\"{dn}\" (line={line}): {source}");
        }
    }
}
