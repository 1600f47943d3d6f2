//! slapd's log levels: names, numbers, and this server's level for each.

use crate::quantity::parse_c_int;
use fulgurite_policy::LogLevel;

/// The level at which slapd logs each operation.
pub const STATS: u32 = 0x100;

/// The mask of all levels.
const ANY: u32 = u32::MAX;

/// The level of messages that are always logged.
const NONE: u32 = 0x8000;

const NAMES: [(&str, u32); 16] = [
    ("any", ANY),
    ("trace", 0x1),
    ("packets", 0x2),
    ("args", 0x4),
    ("conns", 0x8),
    ("BER", 0x10),
    ("filter", 0x20),
    ("config", 0x40),
    ("ACL", 0x80),
    ("stats", STATS),
    ("stats2", 0x200),
    ("shell", 0x400),
    ("parse", 0x800),
    ("cache", 0x1000),
    ("sync", 0x4000),
    ("none", NONE),
];

/// The error of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelError {
    /// No level has that name.
    UnknownName,
    /// The word begins like a number and is none.
    InvalidNumber,
}

/// Reads one level: a name in any case of letters, or a number, decimal or `0x...`.
///
/// # Errors
/// [`LevelError`].
pub fn parse_level(word: &str) -> Result<u32, LevelError> {
    if word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '+') {
        let number = parse_c_int(word).and_then(|number| i32::try_from(number).ok());
        return number
            .map(i32::cast_unsigned)
            .ok_or(LevelError::InvalidNumber);
    }
    let known = NAMES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word));
    known
        .map(|(_, level)| *level)
        .ok_or(LevelError::UnknownName)
}

/// Returns the names of the levels in a mask, and the bits without a name as a number.
pub fn level_names(mask: u32) -> Vec<String> {
    if mask == ANY {
        return vec!["any".to_owned()];
    }
    let mut rest = mask;
    let mut names = Vec::new();
    for (name, level) in NAMES.into_iter().filter(|(_, level)| *level != ANY) {
        if mask & level == level {
            rest &= !level;
            names.push(title(name));
        }
    }
    if rest != 0 || mask == 0 {
        names.push(rest.to_string());
    }
    names
}

/// Returns a name as slapd writes it in `cn=config`.
fn title(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns this server's level for a mask. Lines for operations do not depend on it.
pub fn log_level(mask: u32) -> LogLevel {
    const QUIET: u32 = STATS | 0x200 | 0x4000 | NONE;
    match mask {
        ANY => LogLevel::Trace,
        mask if mask & !QUIET != 0 => LogLevel::Debug,
        _ => LogLevel::Info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!(parse_level("Stats"), Ok(STATS));
        assert_eq!(parse_level("0x100"), Ok(256));
        assert_eq!(parse_level("-1"), Ok(ANY));
        assert_eq!(parse_level("foo"), Err(LevelError::UnknownName));
        assert_eq!(parse_level("0x"), Err(LevelError::InvalidNumber));
        assert_eq!(parse_level("99999999999"), Err(LevelError::InvalidNumber));
        assert_eq!(level_names(0x4100), ["Stats", "Sync"]);
        assert_eq!(level_names(ANY), ["any"]);
        assert_eq!(level_names(0), ["0"]);
        assert_eq!(log_level(256), LogLevel::Info);
        assert_eq!(log_level(1), LogLevel::Debug);
    }
}
