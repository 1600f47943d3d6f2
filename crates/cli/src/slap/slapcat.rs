//! slapcat: writes a database as LDIF. slapschema shares its options.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use fulgurite_config::ConfigEntry;
use fulgurite_directory_tools::{CatOptions, CatScope, cat};
use fulgurite_ldap::{FilterBuf, LdapUrl};
use fulgurite_ldif::{Writer, WriterOptions};
use fulgurite_schema::{Dn, Entry, EntrySubject, Filter, Schema};

use super::context::{Access, Context};
use super::failure::Failure;
use super::options::SharedOptions;
use super::options::text;
use fulgurite_terminal::getopt::CommandLine;

/// Default columns of a line.
const COLUMNS: usize = 78;

/// Options of slapcat and of slapschema.
#[derive(Debug, Default)]
pub(super) struct ReadOptions {
    pub(super) common: SharedOptions,
    filter: Option<String>,
    subtree: Option<String>,
    url: Option<String>,
}

impl ReadOptions {
    pub(super) fn of(line: &CommandLine) -> Result<ReadOptions, Failure> {
        let mut options = ReadOptions::default();
        for given in &line.options {
            let value = || Some(text(&given.value));
            match given.letter {
                'a' => options.filter = value(),
                's' => options.subtree = value(),
                'H' => options.url = value(),
                _ => drop(options.common.take(given)?),
            }
        }
        let is_twice =
            options.url.is_some() && (options.filter.is_some() || options.subtree.is_some());
        if !line.operands.is_empty() || is_twice {
            return Err(Failure::Usage);
        }
        Ok(options)
    }

    /// Returns the selection of entries.
    pub(super) fn selection(&self, context: &Context) -> Result<CatOptions, Failure> {
        let mut chosen = CatOptions {
            ids: self.common.verbose,
            ldif: WriterOptions {
                columns: self.common.wrap.unwrap_or(Some(COLUMNS)),
                ..WriterOptions::default()
            },
            ..CatOptions::default()
        };
        let (filter, subtree) = match &self.url {
            None => (self.filter.clone(), self.subtree.clone()),
            Some(url) => {
                let url = LdapUrl::parse(url).map_err(|_| Failure::Usage)?;
                chosen.scope = url.scope.map_or(CatScope::Base, CatScope::from);
                (url.filter, Some(url.dn).filter(|dn| !dn.is_empty()))
            }
        };
        if let Some(text) = filter {
            let Ok(filter) = FilterBuf::parse(&text) else {
                eprintln!("Invalid filter '{text}'");
                return Err(Failure::Reported(1));
            };
            chosen.filter = Some(Filter::resolve(&context.schema, &filter.filter()));
        }
        if let Some(text) = subtree {
            let Some(dn) = context.dn(&text) else {
                eprintln!("Invalid subtree DN '{text}'");
                return Err(Failure::Reported(1));
            };
            chosen.subtree = Some(dn);
        }
        Ok(chosen)
    }

    /// Opens the file of `-l`, or standard output.
    pub(super) fn output(&self) -> Result<Box<dyn Write>, Failure> {
        let Some(path) = &self.common.file else {
            return Ok(Box::new(BufWriter::with_capacity(1 << 18, io::stdout())));
        };
        match File::create(path) {
            Ok(file) => Ok(Box::new(BufWriter::with_capacity(1 << 18, file))),
            Err(error) => {
                eprintln!("{}: {}", path.display(), super::failure::reason(&error));
                Err(Failure::Reported(1))
            }
        }
    }
}

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let options = ReadOptions::of(line)?;
    let context = Context::read(&options.common)?;
    let selection = options.selection(&context)?;
    let output = options.output()?;
    let failed = |error: &anyhow::Error| Failure::Message(crate::commands::one_line(error));
    if options.common.choice.is_configuration() && options.common.config_dir.is_some() {
        let written = write_configuration(&context, output, &selection);
        let written = crate::commands::unless_pipe_closed(written.map_err(Into::into));
        return written.map_err(|error| failed(&error));
    }
    let stores = context.open_all(&options.common, Access::Read)?;
    let written = cat(&stores, output, &selection).map(|_| ());
    let written = crate::commands::unless_pipe_closed(written.map_err(Into::into));
    written.map_err(|error| failed(&error))
}

/// Writes the chosen entries of the configuration of a directory as LDIF.
fn write_configuration(
    context: &Context,
    output: impl Write,
    chosen: &CatOptions,
) -> io::Result<()> {
    let mut writer = Writer::with_options(output, chosen.ldif);
    let settings = &context.settings;
    let entries = match &settings.files {
        Some(files) => files.entries().map_err(io::Error::other)?,
        None => settings.config_entries(true),
    };
    for (at, entry) in entries.iter().enumerate() {
        if !is_chosen(&context.schema, chosen, entry) {
            continue;
        }
        if chosen.ids {
            writer.comment(&format!("id={:08x}", at + 1))?;
        }
        writer.name(&entry.dn)?;
        for (name, values) in &entry.attributes {
            for value in values {
                writer.value(name, value.as_bytes())?;
            }
        }
        writer.end()?;
    }
    writer.into_inner()?.flush()
}

/// Returns true for an entry of the configuration that the options choose.
fn is_chosen(schema: &Schema, chosen: &CatOptions, entry: &ConfigEntry) -> bool {
    let Ok(dn) = Dn::parse(schema, &entry.dn) else {
        return chosen.subtree.is_none() && chosen.filter.is_none();
    };
    let subtree = chosen.subtree.as_ref();
    if !subtree.is_none_or(|base| chosen.scope.holds(&dn, base)) {
        return false;
    }
    let Some(filter) = &chosen.filter else {
        return true;
    };
    let mut tested = Entry::new(dn);
    for (name, values) in &entry.attributes {
        // No filter knows an attribute that the schema lacks.
        if let Ok(description) = schema.describe(name.as_bytes()) {
            let values = values.iter().map(|value| value.clone().into_bytes());
            values.for_each(|value| tested.push(&description, value));
        }
    }
    let subject = EntrySubject {
        schema,
        entry: &tested,
    };
    filter.test(schema, &subject).is_true()
}
