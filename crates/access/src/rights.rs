//! Sets of privileges, and the levels that name the usual sets.

use std::fmt;
use std::str::FromStr;

/// Access levels; each includes those below it (`slapd.access`, section "The access field").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing, not even that the thing exists.
    #[default]
    None,
    /// Its existence: errors may disclose it.
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
    /// Changes that the data model forbids.
    Manage,
}

/// A set of privileges.
///
/// ```text
///   m manage   w = a + z   a add   z delete   i increment   r read   s search   c compare   x auth   d disclose
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rights(u16);

/// Privileges and their letters, in the order in which they are written.
const LETTERS: [(Rights, char); 10] = [
    (Rights::MANAGE, 'm'),
    (Rights::WRITE, 'w'),
    (Rights::ADD, 'a'),
    (Rights::DELETE, 'z'),
    (Rights::INCREMENT, 'i'),
    (Rights::READ, 'r'),
    (Rights::SEARCH, 's'),
    (Rights::COMPARE, 'c'),
    (Rights::AUTH, 'x'),
    (Rights::DISCLOSE, 'd'),
];

impl Level {
    /// Returns the keyword of the rule language.
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
            Level::Manage => "manage",
        }
    }

    /// Every level, lowest first.
    pub const ALL: [Level; 8] = [
        Level::None,
        Level::Disclose,
        Level::Auth,
        Level::Compare,
        Level::Search,
        Level::Read,
        Level::Write,
        Level::Manage,
    ];

    /// Returns the privileges of the level.
    #[must_use]
    pub fn rights(self) -> Rights {
        let own = match self {
            Level::None => return Rights::NONE,
            Level::Disclose => Rights::DISCLOSE,
            Level::Auth => Rights::AUTH,
            Level::Compare => Rights::COMPARE,
            Level::Search => Rights::SEARCH,
            Level::Read => Rights::READ,
            Level::Write => Rights::WRITE,
            Level::Manage => Rights::MANAGE,
        };
        let below = Level::ALL.into_iter().rev().find(|below| *below < self);
        own | below.unwrap_or_default().rights()
    }
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

impl Rights {
    /// None at all.
    pub const NONE: Rights = Rights(0);
    /// `d`: errors may disclose that it exists.
    pub const DISCLOSE: Rights = Rights(1);
    /// `x`: authentication.
    pub const AUTH: Rights = Rights(1 << 1);
    /// `c`: comparing.
    pub const COMPARE: Rights = Rights(1 << 2);
    /// `s`: use in filters, and as a search base.
    pub const SEARCH: Rights = Rights(1 << 3);
    /// `r`: seeing.
    pub const READ: Rights = Rights(1 << 4);
    /// `a`: adding.
    pub const ADD: Rights = Rights(1 << 5);
    /// `z`: deleting.
    pub const DELETE: Rights = Rights(1 << 6);
    /// `i`: incrementing. A requester with both add and delete may also increment: see
    /// [`Rights::increments`].
    pub const INCREMENT: Rights = Rights(1 << 7);
    /// `m`: changes that the data model forbids.
    pub const MANAGE: Rights = Rights(1 << 8);
    /// `w`: adding and deleting.
    pub const WRITE: Rights = Rights(Rights::ADD.0 | Rights::DELETE.0);
    /// All of them, as [`Level::Manage`] gives them.
    pub const ALL: Rights = Rights(((1 << 9) - 1) & !Rights::INCREMENT.0);

    /// Returns true if every privilege of `wanted` is among them.
    #[must_use]
    pub fn allows(self, wanted: Rights) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Returns true if values may be incremented (RFC 4525).
    #[must_use]
    pub fn increments(self) -> bool {
        self.allows(Rights::INCREMENT) || self.allows(Rights::WRITE)
    }

    /// Returns the privilege of a letter; `0` is none.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Rights> {
        let letter = letter.to_ascii_lowercase();
        if letter == '0' {
            return Some(Rights::NONE);
        }
        let found = LETTERS.into_iter().find(|(_, of)| *of == letter);
        found.map(|(rights, _)| rights)
    }

    /// Returns these privileges without those of `other`.
    #[must_use]
    pub fn without(self, other: Rights) -> Rights {
        Rights(self.0 & !other.0)
    }

    /// Returns the highest level whose own privilege is among them, whatever holes there are below
    /// it.
    #[must_use]
    pub fn level(self) -> Level {
        let own = |level: &Level| {
            let below = Level::ALL.into_iter().rev().find(|below| below < level);
            let own = level.rights().without(below.unwrap_or_default().rights());
            self.0 & own.0 != 0
        };
        Level::ALL.into_iter().rev().find(own).unwrap_or_default()
    }
}

impl std::ops::BitOr for Rights {
    type Output = Rights;

    fn bitor(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}

/// Writes rights as rules do: `=rscxd`, and `=0` for none.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("=")?;
        if *self == Rights::NONE {
            return f.write_str("0");
        }
        let mut left = *self;
        for (rights, letter) in LETTERS {
            if left.allows(rights) {
                write!(f, "{letter}")?;
                left = left.without(rights);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_sets_and_sets_are_written_as_letters() {
        let written = |level: Level| level.rights().to_string();
        assert_eq!(
            Level::ALL.map(written),
            [
                "=0", "=d", "=xd", "=cxd", "=scxd", "=rscxd", "=wrscxd", "=mwrscxd"
            ]
        );
        assert_eq!((Rights::ADD | Rights::READ).to_string(), "=ar");
        assert_eq!(Rights::of_letter('W'), Some(Rights::WRITE));
        assert_eq!(Rights::of_letter('q'), None);
        for level in Level::ALL {
            assert_eq!(level.rights().level(), level);
            assert_eq!(level.keyword().parse(), Ok(level));
        }
        assert_eq!((Rights::ADD | Rights::DISCLOSE).level(), Level::Write);
        assert!(Rights::WRITE.increments() && Rights::INCREMENT.increments());
        assert!(!Rights::ADD.increments());
    }
}
