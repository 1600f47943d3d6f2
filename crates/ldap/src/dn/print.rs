//! DN text from its parts.

use std::fmt::Write;

use super::{Rdn, ValueForm};

/// Appends a DN, leaf first.
pub fn write(out: &mut String, rdns: &[Rdn<'_>]) {
    for (number, rdn) in rdns.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        write_rdn(out, rdn);
    }
}

/// Appends one RDN.
pub fn write_rdn(out: &mut String, rdn: &Rdn<'_>) {
    for (number, ava) in rdn.iter().enumerate() {
        if number > 0 {
            out.push('+');
        }
        out.push_str(ava.attribute);
        out.push('=');
        match ava.form {
            ValueForm::Plain => write_value_escaped(out, &ava.value),
            ValueForm::Ber => {
                out.push('#');
                ava.value.iter().for_each(|&byte| push_hex(out, byte));
            }
        }
    }
}

/// Appends a value so that [`super::parse`], and any other parser of RFC 4514, reads it back.
///
/// Escapes are pairs of hexadecimal digits (`\2C`), the form that is the same for every character.
/// The special characters, NUL and bytes that are not UTF-8 are escaped. So are a space or `#` at
/// the beginning and a space at the end. Values without any of these are copied whole.
pub fn write_value_escaped(out: &mut String, value: &[u8]) {
    let first = out.len();
    for chunk in value.utf8_chunks() {
        let mut text = chunk.valid();
        while let Some(at) = text.find(is_special) {
            let (plain, rest) = text.split_at(at);
            out.push_str(plain);
            let mut characters = rest.chars();
            if let Some(special) = characters.next() {
                push_escaped(out, special);
            }
            text = characters.as_str();
        }
        out.push_str(text);
        for &byte in chunk.invalid() {
            out.push('\\');
            push_hex(out, byte);
        }
    }
    if out.ends_with(' ') && out.len() > first {
        out.pop();
        out.push_str("\\20");
    }
    match out.get(first..).and_then(|written| written.chars().next()) {
        Some(' ') => out.replace_range(first..=first, "\\20"),
        Some('#') => out.replace_range(first..=first, "\\23"),
        _ => {}
    }
}

const fn is_special(character: char) -> bool {
    matches!(
        character,
        '"' | '+' | ',' | ';' | '<' | '=' | '>' | '\\' | '\0' | '\n' | '\r' | '\t'
    )
}

fn push_escaped(out: &mut String, special: char) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\{:02X}", u32::from(special));
}

fn push_hex(out: &mut String, byte: u8) {
    let _ = write!(out, "{byte:02X}");
}
