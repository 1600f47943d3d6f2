//! Permissions of files.

use crate::setting::{Setting, Value, number_text};

/// Permissions of the files of a database, as `open(2)` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(pub u32);

impl Setting for FileMode {
    const KIND: &'static str = "permissions, such as \"0600\" or \"-rw-------\"";

    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        parse_mode(&text).ok_or_else(|| {
            format!("\"{text}\" is no file mode; write one like \"0600\" or \"-rw-------\"")
        })
    }

    fn show(&self) -> String {
        format!("{:04o}", self.0)
    }
}

/// Reads `0600`, `600` or `-rw-------`.
pub(crate) fn parse_mode(text: &str) -> Option<FileMode> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return u32::from_str_radix(text, 8)
            .ok()
            .filter(|mode| *mode <= 0o7777)
            .map(FileMode);
    }
    let letters = text.strip_prefix('-')?;
    let all = "rwxrwxrwx";
    if letters.len() != all.len() {
        return None;
    }
    let mut mode = 0;
    for (letter, known) in letters.chars().zip(all.chars()) {
        mode = mode << 1 | u32::from(letter == known);
        if letter != known && letter != '-' {
            return None;
        }
    }
    Some(FileMode(mode))
}
