//! How much a subject may do, as one scale.

use std::str::FromStr;

/// Access levels; each includes those below it (`slapd.access`, section "The access field").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing, not even that the thing exists.
    #[default]
    None,
    /// That it exists: errors may tell.
    Disclose,
    /// Its use for authentication, without seeing it.
    Auth,
    /// Comparing a value.
    Compare,
    /// Its use in a search filter; on an entry, its use as a search base.
    Search,
    /// Seeing it.
    Read,
    /// Changing it.
    Write,
}

impl Level {
    /// The keyword of the rule language.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Disclose => "disclose",
            Level::Auth => "auth",
            Level::Compare => "compare",
            Level::Search => "search",
            Level::Read => "read",
            Level::Write => "write",
        }
    }

    /// Every level, lowest first.
    pub const ALL: [Level; 7] = [
        Level::None,
        Level::Disclose,
        Level::Auth,
        Level::Compare,
        Level::Search,
        Level::Read,
        Level::Write,
    ];
}

impl FromStr for Level {
    type Err = ();

    fn from_str(text: &str) -> Result<Level, ()> {
        Level::ALL
            .into_iter()
            .find(|level| level.keyword().eq_ignore_ascii_case(text))
            .ok_or(())
    }
}
