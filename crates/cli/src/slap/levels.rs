//! Levels of `-d`: numbers, names, and the table of them.

use fulgurite_config::LogLevel;

/// Names of the bits for `loglevel` and `-d`.
const NAMES: &[(&str, u32)] = &[
    ("Any", u32::MAX),
    ("Trace", 0x1),
    ("Packets", 0x2),
    ("Args", 0x4),
    ("Conns", 0x8),
    ("BER", 0x10),
    ("Filter", 0x20),
    ("Config", 0x40),
    ("ACL", 0x80),
    ("Stats", 0x100),
    ("Stats2", 0x200),
    ("Shell", 0x400),
    ("Parse", 0x800),
    ("Sync", 0x4000),
    ("None", 0x8000),
];

/// Parses one `-d`: numbers (also hexadecimal and negative) and names, separated by commas.
///
/// # Errors
/// The part that is neither a number nor a name.
pub(crate) fn parse(text: &str) -> Result<u32, String> {
    text.split(',').try_fold(0, |mask, part| {
        let part = part.trim();
        let bits = number(part)
            .or_else(|| named(part))
            .ok_or_else(|| part.to_owned())?;
        Ok(mask | bits)
    })
}

fn number(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u32::from_str_radix(digits, 16).ok();
    }
    let number: i64 = text.parse().ok()?;
    u32::try_from(number)
        .or_else(|_| i32::try_from(number).map(i32::cast_unsigned))
        .ok()
}

fn named(text: &str) -> Option<u32> {
    let mut names = NAMES.iter();
    names
        .find(|(name, _)| name.eq_ignore_ascii_case(text))
        .map(|(_, bits)| *bits)
}

/// Returns the table of `-d ?`.
pub(crate) fn table() -> String {
    let mut text = "Installed log subsystems:\n\n".to_owned();
    for (name, bits) in NAMES {
        let signed = bits.cast_signed();
        text.push_str(&format!("\t{name:<30} ({signed}, {bits:#x})\n"));
    }
    text.push_str("\nNOTE: custom log subsystems may be later installed by specific code\n\n");
    text
}

/// Maps a level of slapd to a level of this program's log.
pub(crate) fn log_level(mask: u32) -> LogLevel {
    match mask {
        0 => LogLevel::Warn,
        mask => fulgurite_config::log_level(mask),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names() {
        assert_eq!(parse("0x105"), Ok(0x105));
        assert_eq!(parse("-1"), Ok(u32::MAX));
        assert_eq!(parse("stats,ACL,1"), Ok(0x181));
        assert_eq!(parse("stats,bogus"), Err("bogus".to_owned()));
        assert_eq!(parse(""), Err(String::new()));
        assert!(table().contains("\tStats                          (256, 0x100)\n"));
    }
}
