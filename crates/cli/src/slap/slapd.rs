//! slapd: the server, with its options.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use fulgurite_config::{ConfigError, Settings};
use fulgurite_server::{Hangup, Service, ServiceOptions};

use super::getopt::{CommandLine, text};
use super::options::Common;
use super::{Failure, context, levels};
use crate::detach;
use crate::flags::Flags;
use crate::logging;
use crate::privileges::{Privileges, confine};

/// The level of the lines that name each operation.
const STATS: u32 = 0x100;

/// Options of slapd.
#[derive(Debug, Default)]
struct Options {
    common: Common,
    /// `-h`.
    urls: Option<String>,
    user: Option<String>,
    group: Option<String>,
    root: Option<PathBuf>,
    /// `-V`, so many times.
    versions: u8,
    /// `-t`.
    only_check: bool,
}

impl Options {
    fn of(line: &CommandLine) -> Result<Options, Failure> {
        let mut options = Options::default();
        for given in &line.options {
            let value = || Some(text(&given.value));
            match given.letter {
                'h' => options.urls = value(),
                'u' => options.user = value(),
                'g' => options.group = value(),
                'r' => options.root = Some(PathBuf::from(&given.value)),
                'V' => options.versions = options.versions.saturating_add(1),
                't' => options.only_check = true,
                // Cookies of replicas, syslog, service names: nothing that would change what is served. Families of
                // addresses follow from the URLs.
                'c' | 'l' | 'n' | 's' | 'i' | '4' | '6' => {}
                'o' => {}
                _ => drop(options.common.take(given)?),
            }
        }
        if !line.operands.is_empty() {
            return Err(Failure::Usage);
        }
        Ok(options)
    }

    /// The settings that hold: those configured, with `-h` and `-d` over them.
    fn settings(&self) -> Result<Settings, ConfigError> {
        let mut flags = Flags::default();
        let urls = self.urls.as_deref().unwrap_or("ldap:///");
        let urls: Vec<&str> = urls.split_whitespace().collect();
        flags.say_all("-h", "listen", &urls, |url| (*url).to_owned())?;
        let level = self.common.debug.unwrap_or(0);
        flags.say("-d", "log.level", Some(levels::log_level(level).as_str()))?;
        let operations = level & STATS != 0;
        flags.say("-d", "log.operations", Some(operations.to_string()))?;
        Settings::new(flags.0.over(context::layer(&self.common)?))
    }
}

/// Runs the server; `command_line` is that of the whole program, to be started again by.
pub(super) fn run(line: &CommandLine, command_line: &[OsString]) -> Result<ExitCode, Failure> {
    let options = Options::of(line)?;
    if options.versions > 0 {
        eprintln!("@(#) slapd (fulgurite {})\n", env!("CARGO_PKG_VERSION"));
    }
    if options.versions > 1 {
        return Ok(ExitCode::SUCCESS);
    }
    let in_foreground = options.common.debug.is_some();
    if !in_foreground && !options.only_check && !detach::is_in_background() {
        return detach::go_into_background(command_line)
            .map_err(|error| Failure::Message(format!("cannot go into the background: {error}")));
    }
    if detach::is_in_background() {
        detach::leave_terminal().map_err(|error| Failure::Message(error.to_string()))?;
    }
    serve(&options, in_foreground)?;
    Ok(ExitCode::SUCCESS)
}

fn serve(options: &Options, in_foreground: bool) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Message(error.to_string());
    let privileges = Privileges::find(options.user.as_deref(), options.group.as_deref());
    let privileges =
        privileges.map_err(|error| Failure::Message(crate::commands::one_line(&error)))?;
    if let Some(root) = &options.root {
        confine(root).map_err(|error| Failure::Message(crate::commands::one_line(&error)))?;
    }
    let settings = options.settings().map_err(|error| failed(&error))?;
    logging::begin(*settings.global.log_level);
    context::tell_notes(&settings);
    if options.only_check {
        eprintln!("config file testing succeeded");
        return Ok(());
    }
    let service_options = ServiceOptions {
        hangup: Hangup::Stop,
        make_folders: false,
    };
    // What only root may open is open then; the files of the stores are to be the user's.
    let between = || match privileges.are_given() {
        true => privileges
            .take()
            .map_err(|error| crate::commands::one_line(&error)),
        false => Ok(()),
    };
    let read = || options.settings();
    let service = Service::start_after(settings, service_options, between, read);
    let service = service.map_err(|error| failed(&error))?;
    tracing::info!("slapd starting");
    if !in_foreground {
        detach::say_ready().map_err(|error| failed(&error))?;
    }
    service.run().map_err(|error| failed(&error))?;
    tracing::info!("slapd stopped.");
    Ok(())
}
