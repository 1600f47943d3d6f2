//! One logical line of a record: its name and its value.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memchr;

use crate::error::LdifErrorKind;
use crate::options::ReaderOptions;
use crate::url::append_file;

/// One logical line within a record's text: the positions of its name and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) start: u32,
    pub(crate) name_end: u32,
    value_start: u32,
    /// End of the value; before parsing, of the line.
    pub(crate) end: u32,
    pub(crate) number: u64,
}

impl Line {
    pub(crate) fn new(start: u32, end: u32, number: u64) -> Self {
        Self {
            start,
            name_end: start,
            value_start: start,
            end,
            number,
        }
    }

    pub(crate) fn name<'t>(&self, text: &'t [u8]) -> &'t str {
        // Names were found to be ASCII when the line was split.
        let bytes = text
            .get(self.start as usize..self.name_end as usize)
            .unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(crate) fn value<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.value_start as usize..self.end as usize)
            .unwrap_or_default()
    }

    pub(crate) fn value_text(&self, text: &[u8]) -> String {
        String::from_utf8_lossy(self.value(text)).into_owned()
    }

    /// Returns true if the line is a single `-`, the end of a modification.
    pub(crate) fn is_dash(&self, text: &[u8]) -> bool {
        self.name_end == self.start && self.value(text) == b"-"
    }

    /// Splits the line at its colon and decodes the value in place (files are appended to the
    /// text).
    pub(crate) fn split(
        &mut self,
        text: &mut Vec<u8>,
        decoded: &mut Vec<u8>,
        options: &ReaderOptions,
    ) -> Result<(), LdifErrorKind> {
        let line = text
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default();
        // Names are short: the loop that checks their characters finds the colon, too.
        let colon = line
            .iter()
            .position(|byte| !IN_DESCRIPTION[usize::from(*byte)]);
        let rest = match colon.map(|colon| line.split_at(colon)) {
            Some(([_, ..], rest @ [b':', ..])) => rest,
            _ => return not_a_value(line),
        };
        let colon = line.len() - rest.len();
        let mark = rest.get(1).copied();
        let skip = if matches!(mark, Some(b':' | b'<')) {
            2
        } else {
            1
        };
        let value = rest.get(skip..).unwrap_or_default();
        let spaces = value.iter().take_while(|byte| **byte == b' ').count();
        self.name_end = self.start + colon as u32;
        self.value_start = self.name_end + (skip + spaces) as u32;
        match mark {
            Some(b':') => self.decode(text, decoded),
            Some(b'<') => self.read_file(text, options),
            _ => Ok(()),
        }
    }

    fn decode(&mut self, text: &mut [u8], decoded: &mut Vec<u8>) -> Result<(), LdifErrorKind> {
        let encoded = self.value(text).trim_ascii_end();
        decoded.clear();
        BASE64
            .decode_vec(encoded, decoded)
            .map_err(|_| LdifErrorKind::Base64)?;
        // Decoded bytes are fewer than their base64, so they fit in its place.
        self.end = self.value_start + decoded.len() as u32;
        let place = text
            .get_mut(self.value_start as usize..self.end as usize)
            .unwrap_or_default();
        place.copy_from_slice(decoded);
        Ok(())
    }

    fn read_file(
        &mut self,
        text: &mut Vec<u8>,
        options: &ReaderOptions,
    ) -> Result<(), LdifErrorKind> {
        if !options.file_urls {
            return Err(LdifErrorKind::UrlForbidden);
        }
        let url = self.value(text).trim_ascii_end().to_vec();
        let start = text.len();
        append_file(&url, options.record_bytes_max.saturating_sub(start), text)?;
        self.value_start = start as u32;
        self.end = text.len() as u32;
        Ok(())
    }
}

/// Base64 as tools write it: padding may be missing, unused bits may be set.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Fails for a line that does not begin with a name and a colon. A single dash is valid.
fn not_a_value(line: &[u8]) -> Result<(), LdifErrorKind> {
    match memchr(b':', line) {
        None if line == b"-" => Ok(()),
        None => Err(LdifErrorKind::NoColon),
        Some(colon) => {
            let name = line.get(..colon).unwrap_or_default();
            Err(LdifErrorKind::Description(
                String::from_utf8_lossy(name).into_owned(),
            ))
        }
    }
}

/// Letters, digits, hyphen, dot, semicolon, and the underscore that some products allow; options
/// included.
pub(crate) fn is_description(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| IN_DESCRIPTION[usize::from(*byte)])
}

static IN_DESCRIPTION: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] =
            (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'.' | b';' | b'_');
        byte += 1;
    }
    table
};

/// A control line: its parts within the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlLine {
    oid: (u32, u32),
    pub(crate) critical: bool,
    value: Option<(u32, u32)>,
}

impl ControlLine {
    pub(crate) fn oid<'t>(&self, text: &'t [u8]) -> &'t str {
        let bytes = text
            .get(self.oid.0 as usize..self.oid.1 as usize)
            .unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(crate) fn value<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.value
            .and_then(|(start, end)| text.get(start as usize..end as usize))
    }

    /// Reads `1.2.3 true: value`, a line within the line.
    pub(crate) fn read(
        line: &Line,
        text: &mut Vec<u8>,
        decoded: &mut Vec<u8>,
        options: &ReaderOptions,
    ) -> Result<Self, LdifErrorKind> {
        let value = line.value(text);
        let colon = memchr(b':', value);
        let head = value
            .get(..colon.unwrap_or(value.len()))
            .unwrap_or_default();
        let oid_length = head.iter().take_while(|byte| **byte != b' ').count();
        let (oid, critical) = head.split_at(oid_length);
        let critical = match critical.trim_ascii().to_ascii_lowercase().as_slice() {
            b"" | b"false" => false,
            b"true" => true,
            _ => return Err(LdifErrorKind::Control),
        };
        if oid.is_empty()
            || !oid
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        {
            return Err(LdifErrorKind::Control);
        }
        let start = line.value_start;
        let mut control = Self {
            oid: (start, start + oid_length as u32),
            critical,
            value: None,
        };
        if colon.is_some() {
            // The same line form again, "OID" or "true" in the place of the name.
            let word_length = head
                .trim_ascii_end()
                .iter()
                .rev()
                .take_while(|byte| **byte != b' ')
                .count();
            let word_start = start + (head.trim_ascii_end().len() - word_length) as u32;
            let gap = head.len() - head.trim_ascii_end().len();
            if gap > 0 {
                return Err(LdifErrorKind::Control);
            }
            let mut inner = Line::new(word_start, line.end, line.number);
            inner.split(text, decoded, options)?;
            control.value = Some((inner.value_start, inner.end));
        }
        Ok(control)
    }
}
