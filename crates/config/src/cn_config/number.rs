//! Numbers in braces before values: `{1}mdb`.

/// Returns a value without its number.
pub(crate) fn without_number(value: &str) -> &str {
    let rest = value
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'));
    match rest {
        Some((number, rest)) if number.parse::<i32>().is_ok() => rest,
        _ => value,
    }
}

/// Returns the number before a value.
pub(crate) fn number_of(value: &str) -> Option<i32> {
    let (number, _) = value.strip_prefix('{')?.split_once('}')?;
    number.parse().ok()
}
