//! slappasswd: hashes a password.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use fulgurite_auth::Scheme;

use super::failure::Failure;
use super::failure::reason;
use super::options::text;
use crate::passwords::{self, PromptOutcome};
use fulgurite_terminal::getopt::CommandLine;

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let (mut secret, mut file, mut generate): (Option<Vec<u8>>, Option<PathBuf>, bool) =
        (None, None, false);
    let (mut schemes, mut salt, mut newline) = ("{SSHA}".to_owned(), None, true);
    for given in &line.options {
        match given.letter {
            'c' => salt = Some(text(&given.value)),
            'g' | 's' if file.is_some() => return incompatible(),
            'g' | 's' if generate || secret.is_some() => {
                eprintln!("New password already provided");
                return Err(Failure::Reported(1));
            }
            'T' if generate || secret.is_some() => return incompatible(),
            'g' => generate = true,
            's' => secret = Some(given.value.as_bytes().to_vec()),
            'T' => file = Some(PathBuf::from(&given.value)),
            'h' => schemes = text(&given.value),
            'n' => newline = false,
            _ => {}
        }
    }
    if !line.operands.is_empty() {
        return Err(Failure::Usage);
    }
    if generate {
        let password =
            passwords::generate().map_err(|error| Failure::Message(error.to_string()))?;
        write(&password, newline);
        return Ok(());
    }
    let password = match (secret, file) {
        (Some(secret), _) => secret,
        (None, Some(file)) => std::fs::read(&file).map_err(|error| {
            eprintln!("{}: {}", file.display(), reason(&error));
            Failure::Reported(1)
        })?,
        (None, None) => match passwords::prompt() {
            PromptOutcome::Password(password) => password,
            PromptOutcome::Differ => {
                eprintln!("Password values do not match");
                return Err(Failure::Usage);
            }
            PromptOutcome::Impossible(error) => return Err(Failure::Message(error.to_string())),
        },
    };
    // Several schemes may be configured; new passwords use the first one.
    let first = schemes.find('}').and_then(|end| schemes.get(..=end));
    let scheme = first.filter(|first| first.starts_with('{'));
    let Some(scheme) = scheme.and_then(Scheme::from_name) else {
        let text = "scheme not recognized";
        eprintln!("Password generation failed for scheme {schemes}: {text}");
        return Err(Failure::Reported(1));
    };
    let hash = passwords::hash(scheme, &password, salt.as_deref());
    let hash = hash.map_err(|error| {
        eprintln!("Password generation failed for scheme {schemes}: {error}");
        Failure::Reported(1)
    })?;
    write(&hash, newline);
    Ok(())
}

fn incompatible<T>() -> Result<T, Failure> {
    eprintln!("Option -T incompatible with -s/-g");
    Err(Failure::Reported(1))
}

fn write(text: &str, newline: bool) {
    if newline {
        println!("{text}");
    } else {
        print!("{text}");
    }
}
