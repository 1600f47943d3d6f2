//! Flags of the command line that set settings.

/// A flag of the command line that sets a setting.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, with its dashes.
    pub name: &'static str,
    /// The form of its values.
    pub form: FlagForm,
    /// The commands that have it.
    pub group: FlagGroup,
    /// Its text where the text of the setting does not fit.
    pub help: Option<&'static str>,
}

/// The form of a flag's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagForm {
    /// One value, with its name in the help.
    Value(&'static str),
    /// A list with one item each time, with its name in the help.
    Repeated(&'static str),
    /// No value on the command line; this one is set.
    Switch(&'static str),
}

/// Flags that a command has together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagGroup {
    /// The files of the store.
    Store,
    /// The name of its first entry.
    Suffix,
    /// The schema.
    Schema,
    /// The indexes of a new store.
    Index,
    /// The server.
    Server,
}

impl Flag {
    /// Returns a flag of the server with one value.
    pub(crate) const fn value(name: &'static str, value_name: &'static str) -> Self {
        Self::new(name, FlagForm::Value(value_name))
    }

    /// Returns a flag of the server that adds an item to a list each time.
    pub(crate) const fn repeated(name: &'static str, value_name: &'static str) -> Self {
        Self::new(name, FlagForm::Repeated(value_name))
    }

    /// Returns a flag of the server that sets one truth value.
    pub(crate) const fn switch(name: &'static str, value: bool) -> Self {
        Self::new(name, FlagForm::Switch(if value { "true" } else { "false" }))
    }

    const fn new(name: &'static str, form: FlagForm) -> Self {
        Self {
            name,
            form,
            group: FlagGroup::Server,
            help: None,
        }
    }

    /// Sets the group of the flag.
    pub(crate) const fn of(mut self, group: FlagGroup) -> Self {
        self.group = group;
        self
    }

    /// Sets the text of the flag.
    pub(crate) const fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }
}
