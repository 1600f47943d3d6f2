//! slapd: the server, with its options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use fulgurite_config::{ConfigError, Layer, Settings, Sourced, Value};
use fulgurite_server::{AddressFamilies, Hangup, Service, ServiceOptions, SettingsSource};

use super::failure::Failure;
use super::options::SharedOptions;
use super::options::text;
use super::{context, levels};
use crate::detach;
use crate::lock::DataLock;
use crate::logging::{self, Destinations, Facility, Selection, Selections, SystemLog};
use crate::privileges::{Privileges, change_root};
use fulgurite_terminal::getopt::CommandLine;

/// The level of lines about operations.
const STATS: u32 = 0x100;

/// Environment variables of settings for which slapd has no word.
const VARIABLES: [(&str, &str); 11] = [
    ("FULGURITE_LIMITS_BIND_DELAY", "limits.bind_delay"),
    ("FULGURITE_METRICS_LISTEN", "metrics.listen"),
    ("FULGURITE_METRICS_TOKEN_FILE", "metrics.token_file"),
    ("FULGURITE_METRICS_TLS", "metrics.tls"),
    ("FULGURITE_CONSOLE_LISTEN", "console.listen"),
    ("FULGURITE_CONSOLE_TLS", "console.tls"),
    ("FULGURITE_CONSOLE_HOSTS", "console.hosts"),
    ("FULGURITE_LOG_FORMAT", "log.format"),
    ("FULGURITE_BACKUP_TO", "backup.to"),
    ("FULGURITE_BACKUP_EVERY", "backup.every"),
    ("FULGURITE_BACKUP_KEEP", "backup.keep"),
];

/// Options of slapd.
#[derive(Debug, Default)]
struct Options {
    common: SharedOptions,
    /// `-h`.
    urls: Option<String>,
    user: Option<String>,
    group: Option<String>,
    root: Option<PathBuf>,
    /// `-n`.
    name: Option<String>,
    /// `-s`.
    syslog_level: Option<u32>,
    /// `-l`.
    facility: Option<Facility>,
    /// `-4` or `-6`; the last one counts.
    families: AddressFamilies,
    /// `-V`, repeatable.
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
                'n' => options.name = value(),
                's' => options.syslog_level = Some(syslog_level(&text(&given.value))?),
                'l' => options.facility = Some(facility(&text(&given.value))?),
                '4' => options.families = AddressFamilies::V4,
                '6' => options.families = AddressFamilies::V6,
                // Accepted and ignored: replica cookies and service location.
                'c' | 'i' | 'o' => {}
                _ => drop(options.common.take(given)?),
            }
        }
        if !line.operands.is_empty() {
            return Err(Failure::Usage);
        }
        Ok(options)
    }

    /// Returns the settings in force: the configuration, overridden by `-h` and `-d`.
    fn settings(&self) -> Result<Settings, ConfigError> {
        self.settings_with(context::layer(&self.common)?)
    }

    /// Returns the settings with another configuration.
    fn settings_with(&self, layer: Layer) -> Result<Settings, ConfigError> {
        let mut flags = Layer::default();
        let urls = self.urls.as_deref().unwrap_or("ldap:///");
        let urls = urls.split_whitespace().map(str::to_owned);
        flags.set_flag_list("-h", "listen", urls)?;
        let level = self.common.debug.unwrap_or(0);
        flags.set_flag("-d", "log.level", levels::log_level(level).as_str())?;
        let operations = (level | self.system_levels(layer.global.log_mask.as_ref())) & STATS != 0;
        flags.set_flag("-d", "log.operations", Value::Truth(operations))?;
        for (variable, key) in VARIABLES {
            if let Ok(value) = std::env::var(variable) {
                flags.set_flag(variable, key, value.as_str())?;
            }
        }
        Settings::new(flags.over(layer))
    }

    /// Writes the configuration file into the configuration directory, if both are given. The
    /// server then runs from the directory, as slapd. Returns true if it has written.
    fn convert(&mut self) -> Result<bool, Failure> {
        let (Some(_), Some(directory)) = (&self.common.config_file, &self.common.config_dir) else {
            return Ok(false);
        };
        let failed = |error: &dyn std::fmt::Display| Failure::Message(error.to_string());
        let shown = directory.display();
        let mut held = std::fs::read_dir(directory).map_err(|error| {
            let code = error.raw_os_error().unwrap_or_default();
            failed(&format_args!(
                "invalid config directory {shown}, error {code}"
            ))
        })?;
        if held.next().is_some() {
            let text = format!("expected directory {shown} to be empty!");
            return Err(Failure::Message(text));
        }
        let layer = context::layer(&self.common);
        let settings = layer.and_then(Settings::new);
        let settings = settings.map_err(|error| failed(&error))?;
        context::print_notes(&settings);
        let written = settings.write_config_dir(directory);
        written.map_err(|error| failed(&error))?;
        self.common.config_file = None;
        Ok(true)
    }

    /// Lets `cn=config` change in memory if the configuration is a file, as in slapd. A file that
    /// no directory could hold stays fixed.
    fn allow_changes(&self, settings: &mut Settings) {
        if settings.files.is_some() {
            return;
        }
        let name = self.common.config_file.as_deref();
        let name = name.unwrap_or(Path::new("slapd.conf"));
        match settings.config_files(name) {
            Ok(files) => settings.files = Some(Arc::new(files)),
            Err(error) => tracing::warn!("cn=config cannot change: {error}"),
        }
    }

    /// Returns the level of the system's log: `loglevel`, else `-s`, else lines about operations.
    fn system_levels(&self, configured: Option<&Sourced<u32>>) -> u32 {
        let said = configured.map(|said| said.value).or(self.syslog_level);
        match SystemLog::exists() {
            true => said.unwrap_or(STATS),
            false => 0,
        }
    }

    /// Begins to log. In the foreground the level of `-d` applies to standard error and to the file
    /// of `logfile`. The system's log has its own level.
    fn begin_log(&self, settings: &Settings) -> Result<(), Failure> {
        let name = self.name.clone().unwrap_or_else(program);
        let system = SystemLog {
            name,
            facility: self.facility.unwrap_or(Facility::Local4),
        };
        let selections = self.selections(settings);
        let file = settings.global.log_file.value.clone();
        let places = Destinations {
            format: selections.format,
            terminal: selections.terminal,
            file: selections.file,
            system: SystemLog::exists().then_some((system, selections.system)),
        };
        logging::begin_with(places).map_err(|error| {
            let file = file.unwrap_or_default();
            Failure::Message(format!(
                "cannot open the log file {}: {error}",
                file.display()
            ))
        })
    }

    /// Returns the events that each destination gets.
    fn selections(&self, settings: &Settings) -> Selections {
        let level = self.common.debug;
        let terminal = Selection {
            level: *settings.global.log_level,
            operations: level.unwrap_or(0) & STATS != 0,
        };
        let log_mask = &settings.global.log_mask;
        let configured = Some(log_mask).filter(|mask| !mask.is_default());
        let mask = self.system_levels(configured);
        let system = Selection {
            level: levels::log_level(mask),
            operations: mask & STATS != 0,
        };
        let file = settings.global.log_file.value.clone();
        Selections {
            format: *settings.global.log_format,
            // Also in the background: until the server is ready, errors go to the process that
            // started it.
            terminal: Some(terminal),
            file: file
                .filter(|_| level.is_some())
                .map(|path| (path, terminal)),
            system: (mask != 0).then_some(system),
        }
    }
}

impl SettingsSource for &Options {
    fn read(&self, changed: Option<Layer>) -> Result<Settings, ConfigError> {
        match changed {
            Some(layer) => self.settings_with(layer),
            None => self.settings(),
        }
    }

    fn in_force(&self, settings: &Settings) {
        if let Err(error) = logging::change(self.selections(settings)) {
            tracing::error!("the log stays where it is: {error}");
        }
    }
}

/// Returns the name of this program from its command line.
fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from);
    let name = called.as_deref().and_then(std::path::Path::file_name);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    // Monitoring looks for the name slapd.
    name.filter(|name| name != "fulgurite")
        .unwrap_or_else(|| "slapd".to_owned())
}

fn syslog_level(words: &str) -> Result<u32, Failure> {
    levels::parse(words).map_err(|wrong| {
        eprintln!("unrecognized log level \"{wrong}\"");
        Failure::Reported(1)
    })
}

fn facility(name: &str) -> Result<Facility, Failure> {
    logging::facility(name).ok_or_else(|| {
        eprintln!("slapd: -l: \"{name}\" is none of LOCAL0 to LOCAL7, USER and DAEMON");
        Failure::Reported(1)
    })
}

/// Runs the server. `command_line` is that of the whole program, used to start it again.
pub(super) fn run(line: &CommandLine, command_line: &[OsString]) -> Result<ExitCode, Failure> {
    let mut options = Options::of(line)?;
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
    serve(&mut options, in_foreground)?;
    Ok(ExitCode::SUCCESS)
}

fn serve(options: &mut Options, in_foreground: bool) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Message(error.to_string());
    let privileges = Privileges::find(options.user.as_deref(), options.group.as_deref());
    let privileges =
        privileges.map_err(|error| Failure::Message(crate::commands::one_line(&error)))?;
    if let Some(root) = &options.root {
        change_root(root).map_err(|error| Failure::Message(crate::commands::one_line(&error)))?;
    }
    let is_new = !options.only_check && options.convert()?;
    let options = &*options;
    let mut settings = options.settings().map_err(|error| failed(&error))?;
    options.begin_log(&settings)?;
    if !is_new {
        context::print_notes(&settings);
    }
    if options.only_check {
        eprintln!("config file testing succeeded");
        return Ok(());
    }
    options.allow_changes(&mut settings);
    let service_options = ServiceOptions {
        hangup: Hangup::Stop,
        make_folders: false,
        families: options.families,
    };
    // Listeners that need root are open by then; the files of the stores must belong to the user.
    let between = || match privileges.is_set() {
        true => privileges
            .take()
            .map_err(|error| crate::commands::one_line(&error)),
        false => Ok(()),
    };
    let lock = settings
        .files
        .as_ref()
        .map(|files| DataLock::take(files.directory()));
    if let Some(Err(error)) = &lock {
        tracing::warn!("{}", crate::commands::one_line(error));
    }
    let service = Service::start_after(settings, service_options, between, options);
    let service = service.map_err(|error| failed(&error))?;
    for url in service.console_urls() {
        tracing::info!("console in the browser at {url}");
    }
    for url in service.metrics_urls() {
        tracing::info!("metrics and probes at {url}");
    }
    tracing::info!("slapd starting");
    if !in_foreground {
        detach::report_ready().map_err(|error| failed(&error))?;
    }
    service.run().map_err(|error| failed(&error))?;
    tracing::info!("slapd stopped.");
    Ok(())
}
