//! slaptest: checks a configuration.

use super::context::{Access, Context};
use super::failure::Failure;
use super::options::SharedOptions;
use fulgurite_terminal::getopt::CommandLine;

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let mut common = SharedOptions::default();
    let (mut without_stores, mut quiet) = (false, false);
    for given in &line.options {
        match given.letter {
            'u' => without_stores = true,
            'Q' => quiet = true,
            _ => drop(common.take(given)?),
        }
    }
    if !line.operands.is_empty() {
        return Err(Failure::Usage);
    }
    // With a file, the directory is the destination of the conversion.
    let target = match common.config_file {
        Some(_) => common.config_dir.take(),
        None => None,
    };
    if let Some(target) = target.as_ref().filter(|target| !target.is_dir()) {
        if !quiet {
            eprintln!("invalid config directory {}, error 2", target.display());
        }
        return Err(Failure::Message("bad configuration directory!".to_owned()));
    }
    let context = Context::read_quietly(&common, quiet)?;
    // As in slapd, the conversion is complete before the databases are opened.
    if let Some(target) = target {
        let written = context.settings.write_config_dir(&target);
        written.map_err(|error| Failure::Message(error.to_string()))?;
    }
    if !without_stores {
        for database in context.settings.served_stores() {
            if context.open(database, Access::Read).is_err() {
                eprintln!("slap_startup failed (test would succeed using the -u switch)");
                return Err(Failure::Reported(1));
            }
        }
    }
    if !quiet {
        eprintln!("config file testing succeeded");
    }
    Ok(())
}
