//! The parts of a row of the settings table.

use super::flag::Flag;
use crate::Note;
use crate::setting::Setting;
use crate::statement::{Section, Statement};

/// The part of a configuration that a directive may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Any part.
    Anywhere,
    /// Before the first database.
    Early,
    /// A database of type mdb, or its backend; slapd does not know the directive elsewhere.
    Store,
}

/// A directive of slapd.conf and its attribute in `cn=config`.
#[derive(Clone, Copy, Debug)]
pub struct Directive {
    /// Its word in slapd.conf, read in any case of letters.
    pub keyword: &'static str,
    /// Its attribute in `cn=config`; empty if there is none.
    pub olc: &'static str,
    /// The name of its arguments in messages.
    pub(crate) arguments: &'static str,
    /// Least number of arguments.
    pub(crate) least: usize,
    /// Greatest number of arguments; `None` for no bound.
    pub(crate) most: Option<usize>,
    /// The part of a configuration that it may be in.
    pub(crate) scope: Scope,
    /// Values in `cn=config` carry their places: `{0}`, `{1}` ...
    pub(crate) numbered: bool,
    /// All values in `cn=config` are arguments of one statement.
    pub(crate) joined: bool,
    /// A value in `cn=config` is one argument as it is, quotes included.
    pub(crate) whole: bool,
    /// Directives of a lower rank are read first from `cn=config`, because this one refers to them.
    pub(crate) rank: u8,
}

impl Directive {
    pub(crate) const fn new(
        keyword: &'static str,
        olc: &'static str,
        arguments: &'static str,
    ) -> Directive {
        Directive {
            keyword,
            olc,
            arguments,
            least: 1,
            most: Some(1),
            scope: Scope::Anywhere,
            numbered: false,
            joined: false,
            whole: false,
            rank: 0,
        }
    }

    /// Fails in slapd's words if the place or the number of arguments is wrong.
    pub(crate) fn check(&self, statement: &Statement, has_databases: bool) -> Result<(), String> {
        let typed = &statement.keyword;
        let count = statement.arguments.len();
        if self.scope == Scope::Early && has_databases {
            return Err(format!(
                "keyword <{typed}> must occur before any database declaration"
            ));
        }
        if count < self.least {
            return Err(format!(
                "keyword <{typed}> missing {} argument",
                self.arguments
            ));
        }
        if self.most.is_some_and(|most| count > most) {
            return Err(format!("<{typed}> extra cruft after {}.", self.arguments));
        }
        Ok(())
    }

    /// Returns true if the directive is known in that part of a configuration.
    pub(crate) fn is_known_in(&self, section: Section) -> bool {
        self.scope != Scope::Store || matches!(section, Section::Store | Section::Backend)
    }
}

/// The fields of a row that do not depend on its type.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The key in TOML files; `None` for a directive that has no setting.
    pub key: Option<&'static str>,
    /// The lines of its documentation.
    pub doc: &'static [&'static str],
    /// Its type, in words.
    pub kind: &'static str,
    /// The default as TOML; `None` if there is none.
    pub default: fn() -> Option<String>,
    /// The directive of slapd.
    pub directive: Option<Directive>,
    /// The flag of the command line.
    pub flag: Option<Flag>,
    /// Fails if a text is no value of the setting, or no item of the list.
    pub check: fn(&str) -> Result<(), String>,
    /// A second environment variable, without its prefix.
    pub variable: Option<&'static str>,
    /// A reload does not change the setting.
    pub fixed: bool,
    /// Examples as TOML.
    pub examples: &'static [&'static str],
    /// The first example is part of every installation.
    pub installed: bool,
}

/// The beginning of the names of all variables.
pub(crate) const VARIABLE_PREFIX: &str = "FULGURITE_";

impl Info {
    /// Returns the documentation as one line.
    #[must_use]
    pub fn text(&self) -> String {
        let lines: Vec<&str> = self.doc.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    }

    /// Returns the text of its flag.
    #[must_use]
    pub fn flag_text(&self) -> String {
        let own = self.flag.and_then(|flag| flag.help);
        own.map_or_else(|| self.text(), str::to_owned)
    }

    /// Returns the names of the environment variables that set it, the general one first.
    pub fn variables(&self) -> impl Iterator<Item = String> {
        let general = self
            .key
            .map(|key| key.replace('.', "_").to_ascii_uppercase());
        let second = self.variable.map(str::to_owned);
        let names = general.into_iter().chain(second);
        names.map(|name| format!("{VARIABLE_PREFIX}{name}"))
    }
}

/// Reads a statement into a layer; some statements set several fields, or add a note.
pub(crate) type Take<L> = fn(&mut L, &Statement, &mut Vec<Note>) -> Result<(), String>;

/// Reads a statement with a look at the settings before it.
pub(crate) type ReadIn<L, T> = fn(&L, &Statement) -> Result<T, String>;

/// Adds statements to one value: the value before the first one, and the function that adds one.
pub(crate) type Add<T> = (fn() -> T, fn(&mut T, &Statement) -> Result<(), String>);

/// The source of the values in `cn=config`.
pub(crate) enum Write<G, T> {
    /// The value itself.
    Value(fn(&T) -> Vec<String>),
    /// The group that the setting belongs to.
    Group(fn(&G) -> Vec<String>),
}

/// The typed part of a row: layer `L` and group `G` have a field of type `T`.
pub(crate) struct Spec<L, G, T> {
    pub(crate) info: Info,
    pub(crate) read: fn(&Statement) -> Result<T, String>,
    pub(crate) add: Option<Add<T>>,
    pub(crate) read_in: Option<ReadIn<L, T>>,
    pub(crate) take: Option<Take<L>>,
    pub(crate) write: Write<G, T>,
}

const NO_INFO: Info = Info {
    key: None,
    doc: &[],
    kind: "",
    default: || None,
    directive: None,
    flag: None,
    check: |_| Ok(()),
    variable: None,
    fixed: false,
    examples: &[],
    installed: false,
};

/// Returns the row of a setting that slapd does not have.
pub(crate) const fn own<L, G, T: Setting>() -> Spec<L, G, T> {
    Spec {
        info: NO_INFO,
        read: T::from_statement,
        add: None,
        read_in: None,
        take: None,
        write: Write::Group(|_| Vec::new()),
    }
}

/// Returns the row of a directive with one argument.
pub(crate) const fn slapd<L, G, T: Setting>(
    keyword: &'static str,
    olc: &'static str,
    arguments: &'static str,
) -> Spec<L, G, T> {
    let own = own();
    Spec {
        info: Info {
            directive: Some(Directive::new(keyword, olc, arguments)),
            ..NO_INFO
        },
        write: Write::Value(T::olc),
        ..own
    }
}

/// Returns the row of a directive of mdb databases with one argument.
pub(crate) const fn mdb<L, G, T: Setting>(
    keyword: &'static str,
    olc: &'static str,
    arguments: &'static str,
) -> Spec<L, G, T> {
    slapd(keyword, olc, arguments).within(Scope::Store)
}

impl<L, G, T> Spec<L, G, T> {
    const fn directive(mut self, change: Directive) -> Self {
        self.info.directive = Some(change);
        self
    }

    /// Returns the directive of the row; a row without one has no use for it.
    const fn its(&self) -> Directive {
        match self.info.directive {
            Some(directive) => directive,
            None => panic!("a row of the settings table changes a directive that it does not have"),
        }
    }

    /// Sets the bounds of the number of arguments.
    pub(crate) const fn taking(self, least: usize, most: Option<usize>) -> Self {
        let directive = Directive {
            least,
            most,
            ..self.its()
        };
        self.directive(directive)
    }

    /// Takes any number of arguments from one.
    pub(crate) const fn many(self) -> Self {
        self.taking(1, None)
    }

    /// Sets the part of a configuration.
    pub(crate) const fn within(self, scope: Scope) -> Self {
        let directive = Directive {
            scope,
            ..self.its()
        };
        self.directive(directive)
    }

    /// Numbers the values in `cn=config`.
    pub(crate) const fn numbered(self) -> Self {
        let directive = Directive {
            numbered: true,
            ..self.its()
        };
        self.directive(directive)
    }

    /// Takes a value in `cn=config` as one argument as it is.
    pub(crate) const fn whole(self) -> Self {
        let directive = Directive {
            whole: true,
            ..self.its()
        };
        self.directive(directive)
    }

    /// Reads the directive after those of a lower rank.
    pub(crate) const fn rank(self, rank: u8) -> Self {
        let directive = Directive { rank, ..self.its() };
        self.directive(directive)
    }

    /// Reads the arguments with a function of the row's own.
    pub(crate) const fn read(mut self, read: fn(&Statement) -> Result<T, String>) -> Self {
        self.read = read;
        self
    }

    /// Reads the arguments with a look at the settings before them.
    pub(crate) const fn read_in(mut self, read: ReadIn<L, T>) -> Self {
        self.read_in = Some(read);
        self
    }

    /// Adds each statement to one value.
    pub(crate) const fn adding(
        mut self,
        empty: fn() -> T,
        add: fn(&mut T, &Statement) -> Result<(), String>,
    ) -> Self {
        self.add = Some((empty, add));
        self.joined()
    }

    /// Reads all values in `cn=config` as arguments of one statement.
    pub(crate) const fn joined(self) -> Self {
        let directive = Directive {
            joined: true,
            ..self.its()
        };
        self.directive(directive)
    }

    /// Reads the statement with a function that may set several fields.
    pub(crate) const fn take(mut self, take: Take<L>) -> Self {
        self.take = Some(take);
        self
    }

    /// Writes the value in `cn=config` with a function of the row's own.
    pub(crate) const fn write(mut self, write: fn(&T) -> Vec<String>) -> Self {
        self.write = Write::Value(write);
        self
    }

    /// Writes values in `cn=config` that depend on other settings of the group.
    pub(crate) const fn write_group(mut self, write: fn(&G) -> Vec<String>) -> Self {
        self.write = Write::Group(write);
        self
    }

    /// Adds the flag of the command line.
    pub(crate) const fn flag(mut self, flag: Flag) -> Self {
        self.info.flag = Some(flag);
        self
    }

    /// Names a second environment variable, without its prefix.
    pub(crate) const fn variable(mut self, name: &'static str) -> Self {
        self.info.variable = Some(name);
        self
    }

    /// Marks a setting that a reload does not change.
    pub(crate) const fn fixed(mut self) -> Self {
        self.info.fixed = true;
        self
    }

    /// Gives examples as TOML.
    pub(crate) const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.info.examples = examples;
        self
    }

    /// Gives the value that the example file sets.
    pub(crate) const fn installed(mut self, examples: &'static [&'static str]) -> Self {
        self.info.installed = true;
        self.examples(examples)
    }
}

impl<L, G, T> Spec<L, G, T> {
    /// Reads the value of a statement.
    pub(crate) fn value(&self, layer: &L, statement: &Statement) -> Result<T, String> {
        match self.read_in {
            Some(read) => read(layer, statement),
            None => (self.read)(statement),
        }
    }
}

/// A row of the settings table: layer `L` and group `G` belong together.
pub(crate) struct Row<L, G> {
    pub(crate) info: Info,
    pub(crate) take: Take<L>,
    pub(crate) write: fn(&G) -> Vec<String>,
}

impl<L, G> Row<L, G> {
    /// Returns the row of a directive that has no setting.
    pub(crate) const fn bare(directive: Directive, take: Take<L>) -> Self {
        Row {
            info: Info {
                directive: Some(directive),
                ..NO_INFO
            },
            take,
            write: |_| Vec::new(),
        }
    }
}
