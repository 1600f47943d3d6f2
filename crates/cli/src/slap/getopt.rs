//! Options of single letters, read as getopt(3) reads them.
//!
//! slapd's tools were written for it, and scripts rely on its corners: letters may stand together (`-qv`), a value
//! may follow its letter at once (`-Tpasswd`), operands may stand between options, and `--` ends them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use thiserror::Error;

/// One option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// Its letter.
    pub(crate) letter: char,
    /// Its value; empty for letters without one.
    pub(crate) value: OsString,
}

/// A command line taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Options in their order.
    pub(crate) options: Vec<Given>,
    /// Everything else in its order.
    pub(crate) operands: Vec<OsString>,
}

/// What getopt(3) complains about.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A letter that the program does not know.
    #[error("invalid option -- '{0}'")]
    Unknown(char),
    /// The last letter wants a value.
    #[error("option requires an argument -- '{0}'")]
    NoValue(char),
}

/// Takes a command line apart. `letters` are those known; a colon behind one means that it takes a value.
///
/// # Errors
/// The first [`Mistake`].
pub(crate) fn parse(letters: &str, arguments: &[OsString]) -> Result<CommandLine, Mistake> {
    let mut line = CommandLine::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let bytes = argument.as_bytes();
        match bytes {
            b"--" => {
                line.operands.extend(arguments.cloned());
                break;
            }
            [b'-', group @ ..] if !group.is_empty() => {
                take_group(letters, group, &mut arguments, &mut line)?;
            }
            _ => line.operands.push(argument.clone()),
        }
    }
    Ok(line)
}

/// One argument that begins with a hyphen: letters, the last of which may take the rest or the next argument.
fn take_group<'a>(
    letters: &str,
    group: &[u8],
    arguments: &mut impl Iterator<Item = &'a OsString>,
    line: &mut CommandLine,
) -> Result<(), Mistake> {
    let mut rest = group;
    while let [first, others @ ..] = rest {
        let letter = char::from(*first);
        rest = others;
        let value = match takes_value(letters, letter) {
            None => return Err(Mistake::Unknown(letter)),
            Some(false) => OsString::new(),
            Some(true) if !rest.is_empty() => {
                let value = OsString::from_vec(rest.to_vec());
                rest = &[];
                value
            }
            Some(true) => arguments.next().cloned().ok_or(Mistake::NoValue(letter))?,
        };
        line.options.push(Given { letter, value });
    }
    Ok(())
}

/// Whether a letter is known, and then whether it takes a value.
fn takes_value(letters: &str, letter: char) -> Option<bool> {
    if letter == ':' {
        return None;
    }
    let position = letters.find(letter)?;
    let behind = letters.get(position + letter.len_utf8()..)?;
    Some(behind.starts_with(':'))
}

/// Text of an argument, with what is no UTF-8 replaced.
pub(crate) fn text(argument: &OsStr) -> String {
    argument.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parsed = (Vec<(char, String)>, Vec<String>);

    fn parsed(arguments: &[&str]) -> Result<Parsed, Mistake> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let line = parse("cd:f:qv", &arguments)?;
        let options = line.options.iter();
        Ok((
            options.map(|o| (o.letter, text(&o.value))).collect(),
            line.operands.iter().map(|o| text(o)).collect(),
        ))
    }

    #[test]
    fn letters_values_and_operands() {
        let (options, operands) =
            parsed(&["-qv", "cn", "-d1", "-f", "-x", "-", "--", "-q"]).unwrap();
        let expected = [('q', ""), ('v', ""), ('d', "1"), ('f', "-x")];
        assert_eq!(
            options,
            expected.map(|(letter, value)| (letter, value.to_owned()))
        );
        assert_eq!(operands, ["cn", "-", "-q"]);
        assert_eq!(parsed(&["-qvd", "7"]).unwrap().0[2], ('d', "7".to_owned()));
    }

    #[test]
    fn mistakes() {
        assert_eq!(parsed(&["-qx"]), Err(Mistake::Unknown('x')));
        assert_eq!(parsed(&["-f"]), Err(Mistake::NoValue('f')));
        assert_eq!(parsed(&["-:"]), Err(Mistake::Unknown(':')));
        assert_eq!(parsed(&["--help"]), Err(Mistake::Unknown('-')));
    }
}
