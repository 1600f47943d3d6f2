//! `:< file:///path`: values kept in separate files.

use std::fs::File;
use std::io::Read;

use crate::error::LdifErrorKind;

/// Appends the content of the file that `url` names, `room` bytes at most.
pub(crate) fn append_file(url: &[u8], room: usize, out: &mut Vec<u8>) -> Result<(), LdifErrorKind> {
    let path = file_path(url)
        .ok_or_else(|| LdifErrorKind::Url(String::from_utf8_lossy(url).into_owned()))?;
    let before = out.len();
    let file = File::open(&path);
    let read = file.and_then(|file| file.take(room as u64 + 1).read_to_end(out));
    if let Err(cause) = read {
        return Err(LdifErrorKind::ValueFile { path, cause });
    }
    if out.len() - before > room {
        Err(LdifErrorKind::TooLong(room))
    } else {
        Ok(())
    }
}

/// Returns the path of a `file:` URL of this machine (RFC 8089), percent-decoded.
fn file_path(url: &[u8]) -> Option<String> {
    let rest = url.strip_prefix(b"file://")?;
    let rest = rest.strip_prefix(b"localhost").unwrap_or(rest);
    if rest.first() != Some(&b'/') {
        return None;
    }
    let mut path = Vec::with_capacity(rest.len());
    let mut bytes = rest.iter().copied();
    while let Some(byte) = bytes.next() {
        path.push(match byte {
            b'%' => hex_digit(bytes.next()?)? * 16 + hex_digit(bytes.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(path).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_files_only() {
        assert_eq!(file_path(b"file:///tmp/a%20b").as_deref(), Some("/tmp/a b"));
        assert_eq!(
            file_path(b"file://localhost/tmp/a").as_deref(),
            Some("/tmp/a")
        );
        for wrong in [
            "file://host/tmp/a",
            "http://host/a",
            "/tmp/a",
            "file:///a%2",
            "file:///a%zz",
            "file:///%ff",
        ] {
            assert_eq!(file_path(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_file_may_not_exceed_the_room() {
        let url = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let mut out = Vec::new();
        append_file(url.as_bytes(), 1 << 20, &mut out).unwrap();
        assert!(out.starts_with(b"[package]"));
        assert!(matches!(
            append_file(url.as_bytes(), 10, &mut Vec::new()),
            Err(LdifErrorKind::TooLong(10))
        ));
    }
}
