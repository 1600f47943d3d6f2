//! Numbers as text, without the formatting machinery of the standard library. The machinery is
//! larger than all the code that needs it here.

use alloc::string::String;

/// Returns a number as text in a base up to 16. Spaces before it make it as wide as wanted.
#[must_use]
pub fn number_text(number: u64, base: u64, width: usize) -> String {
    debug_assert!((2..=16).contains(&base));
    let mut text = String::new();
    let mut rest = number;
    loop {
        let (quotient, digit) = match (rest.checked_div(base), rest.checked_rem(base)) {
            (Some(quotient), Some(digit)) => (quotient, digit),
            _ => (0, 0),
        };
        text.insert(0, char::from_digit(digit as u32, 16).unwrap_or('?'));
        rest = quotient;
        if rest == 0 {
            break;
        }
    }
    while text.len() < width {
        text.insert(0, ' ');
    }
    text
}

/// Returns texts one behind the other.
#[must_use]
pub fn joined(texts: &[&str]) -> String {
    let mut whole = String::new();
    for text in texts {
        whole.push_str(text);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 4095, 123_456_789, u64::MAX] {
            assert_eq!(number_text(number, 10, 0), format!("{number}"));
            assert_eq!(number_text(number, 16, 0), format!("{number:x}"));
            assert_eq!(number_text(number, 10, 10), format!("{number:10}"));
        }
    }
}
