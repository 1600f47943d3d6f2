//! slappasswd: hashes a password.

use std::fmt::Display;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use fulgurite_auth::Scheme;

use super::failure::Failure;
use super::failure::reason;
use super::options::text;
use crate::passwords::{self, PromptOutcome};
use fulgurite_terminal::getopt::CommandLine;

/// The source of the password.
#[derive(Debug)]
enum PasswordSource {
    /// The terminal.
    Prompt,
    /// The command line.
    Text(Vec<u8>),
    /// A file.
    File(PathBuf),
    /// A new password, which is printed without a hash.
    Generated,
}

/// Options of slappasswd.
#[derive(Debug)]
struct Options {
    source: PasswordSource,
    /// Names of schemes; new passwords use the first one.
    schemes: String,
    salt: Option<String>,
    newline: bool,
}

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let options = Options::read(line)?;
    let text = match &options.source {
        PasswordSource::Generated => {
            passwords::generate().map_err(|error| Failure::Message(error.to_string()))?
        }
        PasswordSource::Text(password) => options.hash(password)?,
        PasswordSource::File(path) => options.hash(&read(path)?)?,
        PasswordSource::Prompt => options.hash(&prompt()?)?,
    };
    match options.newline {
        true => println!("{text}"),
        false => print!("{text}"),
    }
    Ok(())
}

impl Options {
    fn read(line: &CommandLine) -> Result<Options, Failure> {
        let mut options = Options {
            source: PasswordSource::Prompt,
            schemes: "{SSHA}".to_owned(),
            salt: None,
            newline: true,
        };
        for given in &line.options {
            match given.letter {
                'c' => options.salt = Some(text(&given.value)),
                'h' => options.schemes = text(&given.value),
                'n' => options.newline = false,
                'g' => options.take(PasswordSource::Generated)?,
                's' => options.take(PasswordSource::Text(given.value.as_bytes().to_vec()))?,
                'T' => options.take(PasswordSource::File(PathBuf::from(&given.value)))?,
                _ => {}
            }
        }
        match line.operands.is_empty() {
            true => Ok(options),
            false => Err(Failure::Usage),
        }
    }

    /// Sets the source, unless another option did.
    fn take(&mut self, source: PasswordSource) -> Result<(), Failure> {
        let complaint = match (&self.source, &source) {
            (PasswordSource::Prompt, _) | (PasswordSource::File(_), PasswordSource::File(_)) => {
                self.source = source;
                return Ok(());
            }
            (PasswordSource::File(_), _) | (_, PasswordSource::File(_)) => {
                "Option -T incompatible with -s/-g"
            }
            _ => "New password already provided",
        };
        eprintln!("{complaint}");
        Err(Failure::Reported(1))
    }

    fn hash(&self, password: &[u8]) -> Result<String, Failure> {
        let failed = |reason: &dyn Display| {
            eprintln!(
                "Password generation failed for scheme {}: {reason}",
                self.schemes
            );
            Failure::Reported(1)
        };
        let end = self.schemes.find('}');
        let first = end.and_then(|end| self.schemes.get(..=end));
        let scheme = first.filter(|first| first.starts_with('{'));
        let scheme = scheme
            .and_then(Scheme::from_name)
            .ok_or_else(|| failed(&"scheme not recognized"))?;
        passwords::hash(scheme, password, self.salt.as_deref()).map_err(|error| failed(&error))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        eprintln!("{}: {}", path.display(), reason(&error));
        Failure::Reported(1)
    })
}

fn prompt() -> Result<Vec<u8>, Failure> {
    match passwords::prompt() {
        PromptOutcome::Password(password) => Ok(password),
        PromptOutcome::Differ => {
            eprintln!("Password values do not match");
            Err(Failure::Usage)
        }
        PromptOutcome::Impossible(error) => Err(Failure::Message(error.to_string())),
    }
}
