//! The programs of slapd, with their names and options.
//!
//! ```text
//!   slapadd -f ...            a link of that name to this binary
//!   slapd -Ta -f ...          the tool mode of slapd
//!   fulgurite slapadd -f ...  a sub-command
//!        \---> Invocation: Tool, arguments ---> getopt ---> one module per tool
//! ```
//!
//! Their options are single letters as in getopt(3), so they have a separate parser instead of
//! clap.

mod context;
mod failure;
mod levels;
mod options;
mod slapacl;
mod slapadd;
mod slapauth;
mod slapcat;
mod slapd;
mod slapdn;
mod slapindex;
mod slapmodify;
mod slappasswd;
mod slapschema;
mod slaptest;
mod texts;
mod tool;
mod usage;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use fulgurite_terminal::getopt;

use failure::Failure;
pub(crate) use tool::Tool;

/// A call of one of the programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    tool: Tool,
    /// The name of the program in messages.
    program: String,
    arguments: Vec<OsString>,
    /// An unknown mode of `-T`.
    unknown_mode: Option<String>,
}

impl Invocation {
    /// Detects a call of one of the programs by the program name (a link) or by the first argument.
    pub(crate) fn of(command_line: &[OsString]) -> Option<Invocation> {
        let (called, mut rest) = command_line.split_first()?;
        let base = std::path::Path::new(called).file_name()?;
        let tool = match Tool::named(base) {
            Some(tool) => tool,
            None => {
                let (name, others) = rest.split_first()?;
                rest = others;
                Tool::named(name)?
            }
        };
        let mut invocation = Invocation {
            tool,
            program: called.to_string_lossy().into_owned(),
            arguments: rest.to_vec(),
            unknown_mode: None,
        };
        if tool == Tool::Slapd {
            invocation.take_mode();
        }
        Some(invocation)
    }

    /// Removes `-T mode` from slapd's arguments, at any position.
    fn take_mode(&mut self) {
        let Some(at) = (self.arguments.iter()).position(|one| one.as_bytes().starts_with(b"-T"))
        else {
            return;
        };
        let given = self.arguments.remove(at);
        let mut mode = given.as_bytes().get(2..).unwrap_or_default().to_vec();
        if mode.is_empty() && at < self.arguments.len() {
            mode = self.arguments.remove(at).as_bytes().to_vec();
        }
        let mode = String::from_utf8_lossy(mode.trim_ascii()).into_owned();
        if at > 0 {
            eprintln!("warning: \"-T {mode}\" should be the first option.");
        }
        match Tool::of_mode(mode.as_bytes()) {
            Some(tool) => self.tool = tool,
            None => self.unknown_mode = Some(mode),
        }
    }

    /// Runs the program.
    pub(crate) fn run(self) -> ExitCode {
        if let Some(mode) = &self.unknown_mode {
            eprintln!("program name \"slap{mode}\" unrecognized; aborting...");
            return self.usage();
        }
        let line = match getopt::parse(usage::letters(self.tool), &self.arguments) {
            Ok(line) => line,
            Err(error) => {
                eprintln!("{}: {error}", self.program);
                return self.usage();
            }
        };
        let tool = self.tool;
        let done = match tool {
            Tool::Slapd => {
                let command_line: Vec<OsString> = std::env::args_os().collect();
                match slapd::run(&line, &command_line) {
                    Ok(status) => return status,
                    Err(failure) => Err(failure),
                }
            }
            Tool::Slapacl => slapacl::run(&line),
            Tool::Slapadd => slapadd::run(&line),
            Tool::Slapauth => slapauth::run(&line),
            Tool::Slapcat => slapcat::run(&line),
            Tool::Slapdn => slapdn::run(&line),
            Tool::Slapindex => slapindex::run(&line),
            Tool::Slapmodify => slapmodify::run(&line),
            Tool::Slappasswd => slappasswd::run(&line),
            Tool::Slapschema => slapschema::run(&line),
            Tool::Slaptest => slaptest::run(&line),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(Failure::Usage) => self.usage(),
            Err(Failure::Reported(status)) => ExitCode::from(status),
            Err(Failure::Message(text)) => {
                eprintln!("{}: {text}", tool.name());
                ExitCode::FAILURE
            }
        }
    }

    /// Prints the usage of the program.
    fn usage(&self) -> ExitCode {
        eprint!("{}", usage::text(self.tool, &self.program));
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(line: &[&str]) -> Option<(Tool, Vec<String>)> {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let invocation = Invocation::of(&line)?;
        assert_eq!(invocation.unknown_mode, None);
        let arguments = invocation.arguments.iter();
        Some((
            invocation.tool,
            arguments.map(|a| options::text(a)).collect(),
        ))
    }

    #[test]
    fn by_link_by_mode_and_by_sub_command() {
        let arguments = |list: &[&str]| list.iter().map(|&a| a.to_owned()).collect::<Vec<_>>();
        for (line, tool) in [
            (&["/usr/sbin/slapcat", "-v"][..], Tool::Slapcat),
            (&["fulgurite", "slapcat", "-v"], Tool::Slapcat),
            (&["slapd", "-Tc", "-v"], Tool::Slapcat),
            (&["slapd", "-T", "cat", "-v"], Tool::Slapcat),
            (&["slapd", "-v", "-Tca"], Tool::Slapcat),
            (&["fulgurite", "slapd", "-Ta", "-v"], Tool::Slapadd),
            (&["slapd", "-Tac", "-v"], Tool::Slapacl),
            (&["slapd", "-Tauth", "-v"], Tool::Slapauth),
            (&["slapd", "-Ts", "-v"], Tool::Slapschema),
            (&["slapd", "-Tt", "-v"], Tool::Slaptest),
            (&["slapd", "-Tpasswd", "-v"], Tool::Slappasswd),
            (&["slapd", "-v"], Tool::Slapd),
        ] {
            assert_eq!(called(line), Some((tool, arguments(&["-v"]))), "{line:?}");
        }
        assert_eq!(called(&["fulgurite", "serve"]), None);
        assert_eq!(called(&["fulgurite"]), None);
    }

    #[test]
    fn unknown_modes_are_refused() {
        let line = ["slapd", "-Tn"].map(OsString::from);
        let invocation = Invocation::of(&line).unwrap();
        assert_eq!(invocation.unknown_mode.as_deref(), Some("n"));
    }
}
