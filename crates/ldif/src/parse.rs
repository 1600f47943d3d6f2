//! The lines of one record into its meaning: names, values, changes.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memchr;

use crate::error::Mistake;
use crate::reader::ReaderOptions;
use crate::record::{Action, Attributes, ModificationKind, Modifications, Record};
use crate::url::append_file;

/// One logical line within a record's text: where its name and its value stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    start: u32,
    name_end: u32,
    value_start: u32,
    /// End of the value; before parsing, of the line.
    pub(crate) end: u32,
    pub(crate) number: u64,
}

/// A mistake and its line.
type Wrong = (u64, Mistake);

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

    fn value_text(&self, text: &[u8]) -> String {
        String::from_utf8_lossy(self.value(text)).into_owned()
    }

    /// `-` alone, the end of a modification.
    fn is_dash(&self, text: &[u8]) -> bool {
        self.name_end == self.start && self.value(text) == b"-"
    }

    /// Splits the line at its colon and decodes the value in place (files are appended to the text).
    fn split(
        &mut self,
        text: &mut Vec<u8>,
        decoded: &mut Vec<u8>,
        options: &ReaderOptions,
    ) -> Result<(), Mistake> {
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

    fn decode(&mut self, text: &mut [u8], decoded: &mut Vec<u8>) -> Result<(), Mistake> {
        let encoded = self.value(text).trim_ascii_end();
        decoded.clear();
        BASE64
            .decode_vec(encoded, decoded)
            .map_err(|_| Mistake::Base64)?;
        // What is decoded is shorter than its base64, so it has room where that stood.
        self.end = self.value_start + decoded.len() as u32;
        let place = text
            .get_mut(self.value_start as usize..self.end as usize)
            .unwrap_or_default();
        place.copy_from_slice(decoded);
        Ok(())
    }

    fn read_file(&mut self, text: &mut Vec<u8>, options: &ReaderOptions) -> Result<(), Mistake> {
        if !options.file_urls {
            return Err(Mistake::UrlForbidden);
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

/// The mistake in a line that does not begin with a name and a colon; none if it is a dash.
fn not_a_value(line: &[u8]) -> Result<(), Mistake> {
    match memchr(b':', line) {
        None if line == b"-" => Ok(()),
        None => Err(Mistake::NoColon),
        Some(colon) => {
            let name = line.get(..colon).unwrap_or_default();
            Err(Mistake::Description(
                String::from_utf8_lossy(name).into_owned(),
            ))
        }
    }
}

/// Letters, digits, hyphen, dot, semicolon, and the underscore that some products allow; options included.
fn is_description(name: &[u8]) -> bool {
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
    fn read(
        line: &Line,
        text: &mut Vec<u8>,
        decoded: &mut Vec<u8>,
        options: &ReaderOptions,
    ) -> Result<Self, Mistake> {
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
            _ => return Err(Mistake::Control),
        };
        if oid.is_empty()
            || !oid
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        {
            return Err(Mistake::Control);
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
                return Err(Mistake::Control);
            }
            let mut inner = Line::new(word_start, line.end, line.number);
            inner.split(text, decoded, options)?;
            control.value = Some((inner.value_start, inner.end));
        }
        Ok(control)
    }
}

/// One part of a modification: its head line and the end of its values, as positions among the record's lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModificationLines {
    pub(crate) kind: ModificationKind,
    pub(crate) head: usize,
    pub(crate) end: usize,
}

/// What is known of a record beside its lines; kept between records for its buffers.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    controls: Vec<ControlLine>,
    modifications: Vec<ModificationLines>,
    change: Option<ChangeType>,
    decoded: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeType {
    Add,
    Delete,
    Modify,
    ModifyDn,
}

impl Parsed {
    /// Splits all lines; takes out the version line, the controls and the change type.
    ///
    /// What remains in `lines` is `dn` and what follows it; nothing remains of a version that stands alone.
    pub(crate) fn read(
        &mut self,
        text: &mut Vec<u8>,
        lines: &mut Vec<Line>,
        first: bool,
        options: &ReaderOptions,
    ) -> Result<(), Wrong> {
        self.controls.clear();
        self.modifications.clear();
        self.change = None;
        for line in lines.iter_mut() {
            line.split(text, &mut self.decoded, options)
                .map_err(|mistake| (line.number, mistake))?;
        }
        if first
            && lines
                .first()
                .is_some_and(|line| line.name(text).eq_ignore_ascii_case("version"))
        {
            let version = lines.remove(0);
            if version.value(text).trim_ascii() != b"1" {
                return Err((version.number, Mistake::Version(version.value_text(text))));
            }
        }
        let is_change = |line: &Line| {
            let name = line.name(text);
            name.eq_ignore_ascii_case("control") || name.eq_ignore_ascii_case("changetype")
        };
        if lines.get(1).is_some_and(is_change) {
            self.read_change(text, lines, options)
        } else {
            Ok(())
        }
    }

    fn read_change(
        &mut self,
        text: &mut Vec<u8>,
        lines: &mut Vec<Line>,
        options: &ReaderOptions,
    ) -> Result<(), Wrong> {
        let mut next = 1;
        while let Some(line) = lines
            .get(next)
            .filter(|line| line.name(text).eq_ignore_ascii_case("control"))
        {
            let control = ControlLine::read(line, text, &mut self.decoded, options);
            self.controls
                .push(control.map_err(|mistake| (line.number, mistake))?);
            next += 1;
        }
        let last = lines.get(next - 1).map_or(0, |line| line.number);
        let Some(line) = lines
            .get(next)
            .filter(|line| line.name(text).eq_ignore_ascii_case("changetype"))
        else {
            return Err((last, Mistake::ControlWithoutChange));
        };
        self.change = Some(
            match line
                .value(text)
                .trim_ascii()
                .to_ascii_lowercase()
                .as_slice()
            {
                b"add" => ChangeType::Add,
                b"delete" => ChangeType::Delete,
                b"modify" => ChangeType::Modify,
                b"modrdn" | b"moddn" => ChangeType::ModifyDn,
                _ => return Err((line.number, Mistake::ChangeType(line.value_text(text)))),
            },
        );
        lines.drain(1..=next);
        if self.change == Some(ChangeType::Modify) {
            self.read_modifications(text, lines)
        } else {
            Ok(())
        }
    }

    fn read_modifications(&mut self, text: &[u8], lines: &[Line]) -> Result<(), Wrong> {
        let mut next = 1;
        while let Some(head) = lines.get(next) {
            let kind = match head.name(text).to_ascii_lowercase().as_str() {
                "add" => ModificationKind::Add,
                "delete" => ModificationKind::Delete,
                "replace" => ModificationKind::Replace,
                "increment" => ModificationKind::Increment,
                "" => return Err((head.number, Mistake::ModificationKind("-".to_owned()))),
                other => return Err((head.number, Mistake::ModificationKind(other.to_owned()))),
            };
            let wanted = head.value(text);
            if !is_description(wanted) {
                return Err((head.number, Mistake::Description(head.value_text(text))));
            }
            let part_head = next;
            next += 1;
            while let Some(line) = lines.get(next).filter(|line| !line.is_dash(text)) {
                if !line.name(text).as_bytes().eq_ignore_ascii_case(wanted) {
                    let found = line.name(text).to_owned();
                    let wanted = head.value_text(text);
                    return Err((line.number, Mistake::ModificationValue { wanted, found }));
                }
                next += 1;
            }
            self.modifications.push(ModificationLines {
                kind,
                head: part_head,
                end: next,
            });
            next += 1; // the dash, or past the end
        }
        Ok(())
    }

    /// The record that the lines mean.
    pub(crate) fn record<'r>(
        &'r self,
        text: &'r [u8],
        lines: &'r [Line],
    ) -> Result<Record<'r>, Wrong> {
        let Some((head, rest)) = lines.split_first() else {
            return Err((0, Mistake::NoAttributes));
        };
        if !head.name(text).eq_ignore_ascii_case("dn") {
            let name = if head.is_dash(text) {
                "-"
            } else {
                head.name(text)
            };
            return Err((head.number, Mistake::NoName(name.to_owned())));
        }
        let dn = std::str::from_utf8(head.value(text))
            .map_err(|_| (head.number, Mistake::NameEncoding))?;
        let action = match self.change {
            None => Action::Content(attributes(text, head, rest)?),
            Some(ChangeType::Add) => Action::Add(attributes(text, head, rest)?),
            Some(ChangeType::Delete) => match rest.first() {
                None => Action::Delete,
                Some(line) => return Err((line.number, Mistake::AfterDelete)),
            },
            Some(ChangeType::Modify) => Action::Modify(Modifications {
                text,
                lines,
                parts: &self.modifications,
            }),
            Some(ChangeType::ModifyDn) => modify_dn(text, head, rest)?,
        };
        Ok(Record {
            text,
            dn,
            line: head.number,
            controls: &self.controls,
            action,
        })
    }
}

fn attributes<'r>(text: &'r [u8], head: &Line, lines: &'r [Line]) -> Result<Attributes<'r>, Wrong> {
    for line in lines {
        match line.name_end - line.start {
            0 => return Err((line.number, Mistake::NoColon)),
            2 if line.name(text).eq_ignore_ascii_case("dn") => {
                return Err((line.number, Mistake::SecondName));
            }
            _ => {}
        }
    }
    if lines.is_empty() {
        return Err((head.number, Mistake::NoAttributes));
    }
    Ok(Attributes { text, lines })
}

fn modify_dn<'r>(text: &'r [u8], head: &Line, lines: &'r [Line]) -> Result<Action<'r>, Wrong> {
    let mut new_rdn = None;
    let mut delete_old_rdn = None;
    let mut new_superior = None;
    for line in lines {
        match line.name(text).to_ascii_lowercase().as_str() {
            "newrdn" => new_rdn = Some(line.value(text)),
            "newsuperior" => new_superior = Some(line.value(text)),
            "deleteoldrdn" => {
                delete_old_rdn = Some(match line.value(text).trim_ascii() {
                    b"0" => false,
                    b"1" => true,
                    _ => return Err((line.number, Mistake::DeleteOldRdn)),
                });
            }
            _ if line.is_dash(text) => return Err((line.number, Mistake::Rename("-".to_owned()))),
            other => return Err((line.number, Mistake::Rename(other.to_owned()))),
        }
    }
    Ok(Action::ModifyDn {
        new_rdn: new_rdn.ok_or((head.number, Mistake::RenameLacks("newrdn")))?,
        delete_old_rdn: delete_old_rdn
            .ok_or((head.number, Mistake::RenameLacks("deleteoldrdn")))?,
        new_superior,
    })
}
