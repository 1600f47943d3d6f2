//! The lines of one record into its meaning: names, values, changes.

use crate::error::LdifErrorKind;
use crate::line::{ControlLine, Line, is_description};
use crate::options::ReaderOptions;
use crate::record::{
    Action, Attributes, ModificationKind, ModificationLines, Modifications, Record,
};

/// An error and its line.
type LineError = (u64, LdifErrorKind);
/// The parts of a record that its lines do not show. Kept between records to reuse its buffers.
#[derive(Debug, Default)]
pub(crate) struct RecordParser {
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

impl RecordParser {
    /// Splits all lines; takes out the version line, the controls and the change type.
    ///
    /// `lines` keeps `dn` and the lines after it. It is empty after a version that is a record by
    /// itself.
    pub(crate) fn read(
        &mut self,
        text: &mut Vec<u8>,
        lines: &mut Vec<Line>,
        first: bool,
        options: &ReaderOptions,
    ) -> Result<(), LineError> {
        self.controls.clear();
        self.modifications.clear();
        self.change = None;
        for line in lines.iter_mut() {
            line.split(text, &mut self.decoded, options)
                .map_err(|kind| (line.number, kind))?;
        }
        if first
            && lines
                .first()
                .is_some_and(|line| line.name(text).eq_ignore_ascii_case("version"))
        {
            let version = lines.remove(0);
            if version.value(text).trim_ascii() != b"1" {
                return Err((
                    version.number,
                    LdifErrorKind::Version(version.value_text(text)),
                ));
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
    ) -> Result<(), LineError> {
        let mut next = 1;
        while let Some(line) = lines
            .get(next)
            .filter(|line| line.name(text).eq_ignore_ascii_case("control"))
        {
            let control = ControlLine::read(line, text, &mut self.decoded, options);
            self.controls
                .push(control.map_err(|kind| (line.number, kind))?);
            next += 1;
        }
        let last = lines.get(next - 1).map_or(0, |line| line.number);
        let Some(line) = lines
            .get(next)
            .filter(|line| line.name(text).eq_ignore_ascii_case("changetype"))
        else {
            return Err((last, LdifErrorKind::ControlWithoutChange));
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
                _ => {
                    return Err((
                        line.number,
                        LdifErrorKind::ChangeType(line.value_text(text)),
                    ));
                }
            },
        );
        lines.drain(1..=next);
        if self.change == Some(ChangeType::Modify) {
            self.read_modifications(text, lines)
        } else {
            Ok(())
        }
    }

    fn read_modifications(&mut self, text: &[u8], lines: &[Line]) -> Result<(), LineError> {
        let mut next = 1;
        while let Some(head) = lines.get(next) {
            let kind = match head.name(text).to_ascii_lowercase().as_str() {
                "add" => ModificationKind::Add,
                "delete" => ModificationKind::Delete,
                "replace" => ModificationKind::Replace,
                "increment" => ModificationKind::Increment,
                "" => return Err((head.number, LdifErrorKind::ModificationKind("-".to_owned()))),
                other => {
                    return Err((
                        head.number,
                        LdifErrorKind::ModificationKind(other.to_owned()),
                    ));
                }
            };
            let wanted = head.value(text);
            if !is_description(wanted) {
                return Err((
                    head.number,
                    LdifErrorKind::Description(head.value_text(text)),
                ));
            }
            let part_head = next;
            next += 1;
            while let Some(line) = lines.get(next).filter(|line| !line.is_dash(text)) {
                if !line.name(text).as_bytes().eq_ignore_ascii_case(wanted) {
                    let found = line.name(text).to_owned();
                    let wanted = head.value_text(text);
                    return Err((
                        line.number,
                        LdifErrorKind::ModificationValue { wanted, found },
                    ));
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

    /// Returns the record that the lines mean.
    pub(crate) fn record<'r>(
        &'r self,
        text: &'r [u8],
        lines: &'r [Line],
    ) -> Result<Record<'r>, LineError> {
        let Some((head, rest)) = lines.split_first() else {
            return Err((0, LdifErrorKind::NoAttributes));
        };
        if !head.name(text).eq_ignore_ascii_case("dn") {
            let name = if head.is_dash(text) {
                "-"
            } else {
                head.name(text)
            };
            return Err((head.number, LdifErrorKind::NoName(name.to_owned())));
        }
        let dn = std::str::from_utf8(head.value(text))
            .map_err(|_| (head.number, LdifErrorKind::NameEncoding))?;
        let action = match self.change {
            None => Action::Content(attributes(text, head, rest)?),
            Some(ChangeType::Add) => Action::Add(attributes(text, head, rest)?),
            Some(ChangeType::Delete) => match rest.first() {
                None => Action::Delete,
                Some(line) => return Err((line.number, LdifErrorKind::AfterDelete)),
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

fn attributes<'r>(
    text: &'r [u8],
    head: &Line,
    lines: &'r [Line],
) -> Result<Attributes<'r>, LineError> {
    for line in lines {
        match line.name_end - line.start {
            0 => return Err((line.number, LdifErrorKind::NoColon)),
            2 if line.name(text).eq_ignore_ascii_case("dn") => {
                return Err((line.number, LdifErrorKind::SecondName));
            }
            _ => {}
        }
    }
    if lines.is_empty() {
        return Err((head.number, LdifErrorKind::NoAttributes));
    }
    Ok(Attributes { text, lines })
}

fn modify_dn<'r>(text: &'r [u8], head: &Line, lines: &'r [Line]) -> Result<Action<'r>, LineError> {
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
                    _ => return Err((line.number, LdifErrorKind::DeleteOldRdn)),
                });
            }
            _ if line.is_dash(text) => {
                return Err((line.number, LdifErrorKind::Rename("-".to_owned())));
            }
            other => return Err((line.number, LdifErrorKind::Rename(other.to_owned()))),
        }
    }
    Ok(Action::ModifyDn {
        new_rdn: new_rdn.ok_or((head.number, LdifErrorKind::RenameLacks("newrdn")))?,
        delete_old_rdn: delete_old_rdn
            .ok_or((head.number, LdifErrorKind::RenameLacks("deleteoldrdn")))?,
        new_superior,
    })
}
