//! Passwords: reads, generates and hashes them.

use std::io;

use fulgurite_auth::Scheme;

/// The alphabet of a generated password: distinct on paper, and on every keyboard.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./";
/// The length of a generated password in characters: 96 bits.
const GENERATED_LEN: usize = 16;

/// The outcome of a password prompt.
pub(crate) enum PromptOutcome {
    /// Both inputs are equal.
    Password(Vec<u8>),
    /// The inputs differ.
    Differ,
    /// There is no terminal.
    Impossible(io::Error),
}

/// Prompts twice for a new password on the terminal, without echo.
pub(crate) fn prompt() -> PromptOutcome {
    let once = |prompt| rpassword::prompt_password(prompt);
    let both =
        once("New password: ").and_then(|first| Ok((first, once("Re-enter new password: ")?)));
    match both {
        Ok((first, second)) if first == second => PromptOutcome::Password(first.into_bytes()),
        Ok(_) => PromptOutcome::Differ,
        Err(error) => PromptOutcome::Impossible(error),
    }
}

/// Generates a password.
///
/// # Errors
/// The system has no randomness.
pub(crate) fn generate() -> io::Result<String> {
    let mut bytes = [0; GENERATED_LEN];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let letters = bytes
        .iter()
        .filter_map(|byte| LETTERS.get(usize::from(byte % 64)));
    Ok(letters.map(|letter| char::from(*letter)).collect())
}

/// Hashes a password; `salt` is the format of salts for crypt(3).
///
/// # Errors
/// The scheme rejects the password or the format.
pub(crate) fn hash(scheme: Scheme, password: &[u8], salt: Option<&str>) -> anyhow::Result<String> {
    Ok(fulgurite_auth::hash_with(scheme, password, salt)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_passwords_differ() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_eq!(one.len(), GENERATED_LEN);
        assert_ne!(one, other);
    }

    #[test]
    fn salts_have_the_requested_format() {
        for (format, begins) in [("%.2s", "{CRYPT}"), ("$6$%.8s", "{CRYPT}$6$")] {
            let made = hash(Scheme::Crypt, b"x", Some(format)).unwrap();
            assert!(made.starts_with(begins), "{made}");
            assert!(fulgurite_auth::verify(made.as_bytes(), b"x").unwrap());
        }
        assert!(hash(Scheme::Crypt, b"x", Some("$9$%.8s")).is_err());
    }
}
