//! Flags that set settings: arguments of clap made from the settings table.
//!
//! ```text
//!   row of the table --> argument of clap: name, help, default, check
//!   values           --> Layer, on top of the file of --config and of the environment
//! ```

use std::fmt::Debug;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use fulgurite_config::{
    ConfigError, DatabaseChoice, Flag, FlagForm, FlagGroup, Info, Layer, Settings,
};
use fulgurite_server::with_seed_configuration;

/// Returns the settings of `flags`, which override the file of --config, which overrides the
/// environment. If these declare several databases, `choice` says whether the command needs one.
/// Changes of `cn=config` in the LDIF files of a start are made.
pub(crate) fn settings(
    flags: Layer,
    config: Option<&Path>,
    choice: DatabaseChoice,
) -> Result<Settings, ConfigError> {
    let file = config.map(Layer::from_file).transpose()?;
    settings_over(flags, file.unwrap_or_default(), choice)
}

/// Returns the settings of flags over those of a file.
fn settings_over(
    flags: Layer,
    file: Layer,
    choice: DatabaseChoice,
) -> Result<Settings, ConfigError> {
    let environment = Layer::from_environment(variables())?;
    let chosen = flags.flags_over(file.over(environment), choice)?;
    chosen.settings(with_seed_configuration)
}

/// Returns the variables of the environment that are text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The groups of flags that a command takes, and the databases that it works on.
pub(crate) trait TakesFlags: Debug {
    const GROUPS: &'static [FlagGroup];
    const CHOICE: DatabaseChoice = DatabaseChoice::One;
}

/// Flags of commands that open a store.
#[derive(Debug)]
pub(crate) struct OfStore;

/// Flags of commands on a store that `--suffix` may choose.
#[derive(Debug)]
pub(crate) struct OfChange;

/// Flags of commands that make a store.
#[derive(Debug)]
pub(crate) struct OfNewStore;

/// Flags of the server: all of them.
#[derive(Debug)]
pub(crate) struct OfServer;

impl TakesFlags for OfStore {
    const GROUPS: &'static [FlagGroup] = &[FlagGroup::Store, FlagGroup::Schema];
}

impl TakesFlags for OfChange {
    const GROUPS: &'static [FlagGroup] = &[FlagGroup::Store, FlagGroup::Suffix, FlagGroup::Schema];
}

impl TakesFlags for OfNewStore {
    const GROUPS: &'static [FlagGroup] = &[
        FlagGroup::Store,
        FlagGroup::Suffix,
        FlagGroup::Schema,
        FlagGroup::Index,
    ];
}

impl TakesFlags for OfServer {
    const CHOICE: DatabaseChoice = DatabaseChoice::All;
    const GROUPS: &'static [FlagGroup] = &[
        FlagGroup::Store,
        FlagGroup::Suffix,
        FlagGroup::Schema,
        FlagGroup::Index,
        FlagGroup::Server,
    ];
}

/// The flags of a command that set settings, with their values.
#[derive(Debug)]
pub(crate) struct SettingFlags<G> {
    /// The file of --config.
    pub(crate) config: Option<PathBuf>,
    given: Vec<GivenFlag>,
    groups: PhantomData<G>,
}

/// A flag of the command line with its values; a switch has none.
#[derive(Debug)]
struct GivenFlag {
    info: &'static Info,
    values: Vec<String>,
}

impl<G: TakesFlags> SettingFlags<G> {
    /// Returns the settings of the flags, the file of --config and the environment.
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        settings(self.layer()?, self.config.as_deref(), G::CHOICE)
    }

    /// Returns the settings with a changed file in place of that of `--config`.
    pub(crate) fn settings_with(&self, file: Layer) -> Result<Settings, ConfigError> {
        settings_over(self.layer()?, file, G::CHOICE)
    }
}

impl<G> SettingFlags<G> {
    /// Returns the settings of the flags alone.
    pub(crate) fn layer(&self) -> Result<Layer, ConfigError> {
        let mut layer = Layer::default();
        for flag in &self.given {
            layer.set_from_flag(flag.info, &flag.values)?;
        }
        Ok(layer)
    }

    /// Returns true if the command line has a flag of the group.
    pub(crate) fn has(&self, group: FlagGroup) -> bool {
        let mut flags = self.given.iter().filter_map(|flag| flag.info.flag);
        flags.any(|flag| flag.group == group)
    }

    /// Returns the path that the command line gives for a key.
    pub(crate) fn path(&self, key: &str) -> Option<PathBuf> {
        let flag = self.given.iter().find(|flag| flag.info.key == Some(key))?;
        flag.values.first().map(PathBuf::from)
    }
}

impl<G: TakesFlags> Args for SettingFlags<G> {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("Settings from this TOML file; flags override it");
        let flags = fulgurite_config::flags().filter_map(|(heading, info)| {
            let (key, flag) = (info.key?, info.flag?);
            let is_taken = G::GROUPS.contains(&flag.group);
            is_taken.then(|| argument(info, key, flag).help_heading(heading))
        });
        command.arg(config).args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: TakesFlags> FromArgMatches for SettingFlags<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = fulgurite_config::flags().filter_map(|(_, info)| {
            let (key, flag) = (info.key?, info.flag?);
            let is_taken = G::GROUPS.contains(&flag.group);
            is_taken.then(|| given(matches, info, key, flag))?
        });
        Ok(Self {
            config: matches.get_one("config").cloned(),
            given: given.collect(),
            groups: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns a flag of the table as an argument of clap.
fn argument(info: &'static Info, key: &'static str, flag: Flag) -> Arg {
    let check = move |text: &str| (info.check)(text).map(|()| text.to_owned());
    let help = HelpText::new(info, key, flag);
    let argument = Arg::new(key)
        .long(flag.name.trim_start_matches('-'))
        .help(help.short)
        .long_help(help.long);
    match flag.form {
        FlagForm::Value(name) => argument.value_name(name).value_parser(check),
        FlagForm::Repeated(name) => {
            let argument = argument.value_name(name).value_parser(check);
            argument.action(ArgAction::Append)
        }
        FlagForm::Switch(_) => argument.action(ArgAction::SetTrue),
    }
}

/// Returns a flag of the table if the command line has it.
fn given(
    matches: &ArgMatches,
    info: &'static Info,
    key: &'static str,
    flag: Flag,
) -> Option<GivenFlag> {
    let values = match flag.form {
        FlagForm::Switch(_) => matches.get_flag(key).then(Vec::new)?,
        _ => matches.get_many::<String>(key)?.cloned().collect(),
    };
    Some(GivenFlag { info, values })
}

/// The help of a flag: for `-h` its first sentence, for `--help` all sentences and its other names.
struct HelpText {
    short: String,
    long: String,
}

impl HelpText {
    fn new(info: &Info, key: &str, flag: Flag) -> Self {
        let text = info.flag_text();
        let (first, _) = text.split_once(". ").unwrap_or((&text, ""));
        let first = first.trim_end_matches('.');
        let (after_first, after_all) = match flag.form {
            FlagForm::Repeated(_) => (". Repeatable", " Repeatable."),
            _ => ("", ""),
        };
        let default = match flag.form {
            FlagForm::Switch(_) => None,
            _ => (info.default)().filter(|value| value != "[]"),
        };
        let default = default.map_or_else(String::new, |value| {
            format!(" [default: {}]", value.trim_matches('"'))
        });
        let variables: Vec<String> = info.variables().collect();
        Self {
            short: format!("{first}{after_first}{default}"),
            long: format!(
                "{text}{after_all}\n\n[env: {}] [file: {key}]{default}",
                variables.join(" or ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_config::Origin;

    fn serve() -> Command {
        SettingFlags::<OfServer>::augment_args(Command::new("serve"))
    }

    fn flags(words: &[&str]) -> Result<SettingFlags<OfServer>, clap::Error> {
        let words = ["serve"].iter().chain(words);
        SettingFlags::from_arg_matches(&serve().try_get_matches_from(words)?)
    }

    /// Returns values that a setting takes. The first is not its default.
    fn values(info: &Info) -> Vec<&'static str> {
        let candidates = [
            "7",
            "8",
            "9",
            "debug",
            "error",
            "warn",
            "no-sync",
            "no-meta-sync",
            "full",
            "true",
            "false",
            "l:eq",
            "l:sub",
            "l:pres",
            "ldap://127.0.0.1:7",
            "ldap://127.0.0.1:8",
            "ldap://127.0.0.1:9",
            "127.0.0.1:7",
            "127.0.0.1:8",
            "127.0.0.1:9",
            "text",
            "json",
        ];
        let fit = candidates
            .into_iter()
            .filter(|text| (info.check)(text).is_ok());
        fit.collect()
    }

    /// Returns the origins and values of a setting in force.
    fn shown(layers: [Layer; 3], info: &Info) -> Vec<(Origin, String)> {
        let [flags, file, environment] = layers;
        let mut all = flags.over(file).over(environment);
        if all.first.content.root_dn.is_none() {
            // A root password needs a name.
            all.set("root.dn", "cn=root", &Origin::Default).unwrap();
        }
        let settings = Settings::new(all).unwrap();
        let lines = settings.shown().into_iter();
        lines
            .filter(|line| Some(line.key) == info.key && !line.group.starts_with("cn="))
            .map(|line| (line.origin, line.value))
            .collect()
    }

    /// Returns the value that comes from an origin.
    fn value_from(shown: &[(Origin, String)], is_wanted: impl Fn(&Origin) -> bool) -> String {
        let line = shown.iter().find(|(origin, _)| is_wanted(origin));
        line.unwrap_or_else(|| panic!("not from there: {shown:?}"))
            .1
            .clone()
    }

    #[test]
    fn every_flag_wins_over_the_file_and_the_file_over_the_variable() {
        let mut count = 0;
        for (_, info) in fulgurite_config::flags() {
            let (key, flag) = (info.key.unwrap(), info.flag.unwrap());
            let values = values(info);
            let [by_flag, by_file, by_variable, ..] = [&values[..], &values[..]].concat()[..]
            else {
                panic!("{key}: give the test a value");
            };
            let (by_flag, words) = match flag.form {
                FlagForm::Switch(value) => (value, vec![flag.name]),
                _ => (by_flag, vec![flag.name, by_flag]),
            };
            let on_line = || flags(&words).unwrap().layer().unwrap();
            let line = match by_file.split_once(':') {
                Some((attribute, kinds)) if key == "index" => {
                    format!("index.{attribute} = \"{kinds}\"")
                }
                _ => format!("{key} = \"{by_file}\""),
            };
            let file = || Layer::from_toml(&line, Path::new("x.toml")).unwrap();
            let name = info.variables().next().unwrap();
            let variable = [(name.clone(), by_variable.to_owned())];
            let environment = || Layer::from_environment(variable.clone()).unwrap();
            let nothing = Layer::default;

            let is_flag = |origin: &Origin| *origin == Origin::Flag(flag.name);
            let is_file = |origin: &Origin| matches!(origin, Origin::File { .. });
            let is_variable = |origin: &Origin| *origin == Origin::Variable(name.clone());
            let all = shown([on_line(), file(), environment()], info);
            assert_eq!(
                value_from(&all, is_flag),
                value_from(&shown([on_line(), nothing(), nothing()], info), is_flag)
            );
            assert!(
                !all.iter().any(|(origin, _)| is_file(origin)),
                "{key}: {all:?}"
            );
            assert!(
                !all.iter().any(|(origin, _)| is_variable(origin)),
                "{key}: {all:?}"
            );
            let two = shown([nothing(), file(), environment()], info);
            value_from(&two, is_file);
            assert!(
                !two.iter().any(|(origin, _)| is_variable(origin)),
                "{key}: {two:?}"
            );
            let one = shown([nothing(), nothing(), environment()], info);
            value_from(&one, is_variable);
            if !matches!(flag.form, FlagForm::Switch(_)) {
                let value = value_from(&all, is_flag);
                assert!(value.contains(by_flag), "{key}: {value}");
            }
            count += 1;
        }
        assert!(count >= 16, "{count} flags");
    }

    #[test]
    fn a_value_that_the_setting_does_not_take_is_refused_with_its_reason() {
        for (words, reason) in [
            (["--threads", "0"], "a number from 1 to 1024, or \"cores\""),
            (["--connections", "0"], "0 would allow nothing"),
            (["--size-limit", "few"], "few"),
            (["--durability", "some"], "full"),
            (["--index", "mail"], "ATTRIBUTE:KIND"),
            (["--map-bytes-max", "1Q"], "1Q"),
            (["--listen", "http://x"], "http://x"),
        ] {
            let error = flags(&words).unwrap_err().to_string();
            assert!(
                error.contains(&format!("for '{}", words[0])) && error.contains(reason),
                "{error}"
            );
        }
    }

    #[test]
    fn help_comes_from_the_table() {
        let help = |long: bool| {
            let mut command = serve();
            let help = match long {
                true => command.render_long_help(),
                false => command.render_help(),
            };
            let help = help.to_string();
            help.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (short, long) = (help(false), help(true));
        assert!(short.contains("or `unlimited` [default: 500]"), "{short}");
        assert!(
            long.contains("[env: FULGURITE_ROOT_DN or FULGURITE_ADMIN_DN] [file: root.dn]"),
            "{long}"
        );
        for (_, info) in fulgurite_config::flags() {
            let name = info.flag.unwrap().name;
            assert!(long.contains(name), "{name}");
        }
    }

    #[test]
    fn commands_take_their_groups() {
        let takes = |command: Command, name: &str| {
            command
                .get_arguments()
                .any(|argument| argument.get_long() == Some(name))
        };
        let export = || SettingFlags::<OfStore>::augment_args(Command::new("export"));
        let load = || SettingFlags::<OfNewStore>::augment_args(Command::new("load"));
        assert!(takes(export(), "config") && takes(export(), "data"));
        assert!(!takes(export(), "suffix") && !takes(export(), "index"));
        assert!(takes(load(), "suffix") && takes(load(), "no-default-indexes"));
        assert!(!takes(load(), "listen") && takes(serve(), "listen"));
    }

    #[test]
    fn lists_and_switches_keep_their_forms() {
        let flags = flags(&[
            "--listen",
            "ldap://a",
            "--listen",
            "ldap://b",
            "--no-default-indexes",
        ]);
        let flags = flags.unwrap();
        assert!(flags.has(FlagGroup::Index) && !flags.has(FlagGroup::Schema));
        let settings = Settings::new(flags.layer().unwrap()).unwrap();
        let urls: Vec<&str> = settings
            .global
            .listen
            .iter()
            .map(|url| url.text.as_str())
            .collect();
        assert_eq!(urls, ["ldap://a", "ldap://b"]);
        assert!(settings.first_store().unwrap().indexes().is_empty());
    }

    #[test]
    fn records_of_a_start_count_all_databases_before_one_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let ldif = folder.path().join("ldif");
        std::fs::create_dir(&ldif).unwrap();
        let record = "dn: olcDatabase={2}mdb,cn=config\nchangetype: modify\n\
             replace: olcSizeLimit\nolcSizeLimit: 77\n";
        std::fs::write(ldif.join("10.ldif"), record).unwrap();
        let file = folder.path().join("two.toml");
        let text = format!(
            "start.ldif_directory = {ldif:?}\n\
             [[database]]\nsuffix = \"o=one\"\ndata = \"/one\"\n\
             [[database]]\nsuffix = \"o=two\"\ndata = \"/two\"\n"
        );
        std::fs::write(&file, text).unwrap();
        let bound_of = |suffix: &str| {
            let mut flags = Layer::default();
            flags.set_flag("--suffix", "suffix", suffix).unwrap();
            let settings = settings(flags, Some(&file), DatabaseChoice::One).unwrap();
            let [database] = settings.databases.as_slice() else {
                panic!("{:?}", settings.databases);
            };
            assert_eq!(database.suffix().unwrap(), suffix);
            database.policy.size.soft
        };
        assert_eq!(bound_of("o=one"), Some(fulgurite_config::Limit::At(500)));
        assert_eq!(bound_of("o=two"), Some(fulgurite_config::Limit::At(77)));
    }
}
