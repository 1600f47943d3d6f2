//! Numbers with units and numbers that may be "unlimited", as people write them.

/// Reads a number of bytes: `4194304`, `4 MiB`, `64KiB`, `1GiB`, `2 TiB`.
///
/// # Errors
/// A clause that says which value would be right, without the key's name.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim().chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.trim().split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(bytes_expected(text)),
    };
    let number: u64 = number.parse().map_err(|_| bytes_expected(text))?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("\"{text}\" is more bytes than can be counted"))
}

fn bytes_expected(text: &str) -> String {
    format!("\"{text}\" is not a number of bytes such as 4194304, \"64 KiB\" or \"4 MiB\"")
}

/// Reads a limit: a whole number above zero, or `unlimited` (also `none` and `-1`), which is
/// `None`.
///
/// # Errors
/// A clause that says which value would be right, without the key's name.
pub fn parse_limit(text: &str) -> Result<Option<u32>, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "unlimited" | "none" | "-1" => Ok(None),
        "0" => Err("0 would allow nothing; write \"unlimited\" for no limit".to_owned()),
        number => number
            .parse()
            .map(Some)
            .map_err(|_| format!("\"{text}\" is neither a whole number nor \"unlimited\"")),
    }
}

/// Reads a whole number as C's `strtol` does with base 0: decimal, `0x...`, or octal after `0`. The
/// whole text must be a number.
pub(crate) fn parse_c_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        unsigned(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        unsigned(digits, 8)
    } else {
        unsigned(digits, 10)
    }?;
    Some(if negative { -number } else { number })
}

fn unsigned(digits: &str, radix: u32) -> Option<i64> {
    let signless = !digits.starts_with(['+', '-']);
    i64::from_str_radix(digits, radix).ok().filter(|_| signless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_with_and_without_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("64 KiB"), Ok(65_536));
        assert_eq!(parse_bytes("1g"), Ok(1 << 30));
        assert_eq!(parse_bytes("2TiB"), Ok(2 << 40));
        assert!(parse_bytes("4 MB/s").is_err());
        assert!(parse_bytes("MiB").is_err());
        assert!(
            parse_bytes("99999999999 TiB")
                .unwrap_err()
                .contains("more bytes")
        );
    }

    #[test]
    fn limits() {
        assert_eq!(parse_limit("500"), Ok(Some(500)));
        assert_eq!(parse_limit("Unlimited"), Ok(None));
        assert!(parse_limit("0").unwrap_err().contains("unlimited"));
        assert!(parse_limit("many").is_err());
    }
}
