//! `fulgurite config` and `fulgurite check-config`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_config::{DatabaseChoice, Layer, Origin, Settings};
use fulgurite_server::{check_settings, check_tls, store_options};
use fulgurite_store::{Store, StoreOptions};

use super::stored_suffixes::with_stored_suffixes;
use super::{config_changes, unless_pipe_closed};
use crate::arguments::tools::{
    CheckConfig, Config, ConfigAction, ConfigFlags, ConvertConfig, ShowConfig,
};
use crate::flags;
use crate::slapd_places;

pub(crate) fn run(command: Config) -> anyhow::Result<()> {
    match command.action {
        ConfigAction::Apply(command) => config_changes::apply(&command),
        ConfigAction::Undo(command) => config_changes::undo(&command),
        ConfigAction::Check(command) => check(command),
        ConfigAction::Convert(command) => convert(&command),
        ConfigAction::Show(command) => show(command),
    }
}

/// `config check`: prints notes and warnings, and fails at the first error.
pub(crate) fn check(command: CheckConfig) -> anyhow::Result<()> {
    let settings = read(command.config, command.file)?;
    // As `serve` does.
    let settings = match command.no_stores {
        true => settings,
        false => with_stored_suffixes(settings),
    };
    for note in &settings.notes {
        let kind = if note.warning { "warning" } else { "note" };
        println!("{}: {kind}: {}", note.origin, note.text);
    }
    let schema = check_settings(&settings)?;
    check_tls(&settings)?;
    if !command.no_stores {
        for database in settings.served_stores() {
            let directory = database.directory()?;
            let options = StoreOptions {
                read_only: true,
                indexes: None,
                ..store_options(database)?
            };
            if !Store::exists(directory) {
                println!("note: no store exists in {} yet", directory.display());
                continue;
            }
            Store::open(directory, &options, Arc::clone(&schema))
                .with_context(|| format!("the store in {}", directory.display()))?;
        }
    }
    println!("the configuration is valid");
    Ok(())
}

/// `config convert`: the configuration of slapd as TOML.
fn convert(command: &ConvertConfig) -> anyhow::Result<()> {
    let given = command
        .slapd_dir
        .as_deref()
        .or(command.slapd_conf.as_deref());
    let installed = || -> Option<&Path> { slapd_places::installed() };
    let place = given.or_else(installed);
    let place = place.context("slapd's configuration was not found: use -F DIR or -f FILE")?;
    let layer = slapd_places::layer_at(place)?;
    // A file that no server takes must not come out.
    check_settings(&Settings::new(layer.clone())?)?;
    let printed = io::stdout().lock().write_all(layer.to_toml().as_bytes());
    unless_pipe_closed(printed.map_err(Into::into))
}

/// `config show`: the given settings, or all settings with `--resolved`.
fn show(command: ShowConfig) -> anyhow::Result<()> {
    let settings = read(command.config, command.file)?;
    let shown = settings.shown().into_iter();
    let lines = shown.filter(|line| command.resolved || line.origin != Origin::Default);
    let mut out = io::stdout().lock();
    let mut group = String::new();
    let printed = lines.into_iter().try_for_each(|line| {
        if line.group != group {
            group.clone_from(&line.group);
            writeln!(out, "\n[{group}]")?;
        }
        let value = match line.value.is_empty() {
            true => "(not set)",
            false => line.value.as_str(),
        };
        writeln!(out, "{} = {value}    # {}", line.key, line.origin)
    });
    unless_pipe_closed(printed.map_err(Into::into))
}

/// Returns the settings of the file over those of the environment.
fn read(flags: ConfigFlags, file: Option<PathBuf>) -> anyhow::Result<Settings> {
    let named = file
        .or(flags.config)
        .or(flags.slapd_conf)
        .or(flags.slapd_dir);
    if let Some(path) = &named
        && !path.exists()
    {
        bail!("no configuration exists at {}", path.display());
    }
    Ok(flags::settings(
        Layer::default(),
        named.as_deref(),
        DatabaseChoice::All,
    )?)
}
