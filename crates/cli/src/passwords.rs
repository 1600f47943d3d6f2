//! Passwords: asked for, invented, hashed.

use std::io;

use fulgurite_auth::Scheme;

/// Letters of an invented password: all can be told apart and typed everywhere.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./";
/// How many: 96 bits.
const INVENTED_LEN: usize = 16;

/// What asking for a password has brought.
pub(crate) enum Ask {
    /// The same twice.
    Given(Vec<u8>),
    /// Something else the second time.
    Differ,
    /// There is no terminal.
    Impossible(io::Error),
}

/// Asks for a new password on the terminal, twice, without showing it.
pub(crate) fn ask() -> Ask {
    let once = |prompt| rpassword::prompt_password(prompt);
    let both =
        once("New password: ").and_then(|first| Ok((first, once("Re-enter new password: ")?)));
    match both {
        Ok((first, second)) if first == second => Ask::Given(first.into_bytes()),
        Ok(_) => Ask::Differ,
        Err(error) => Ask::Impossible(error),
    }
}

/// Makes a password up.
///
/// # Errors
/// When the system has no randomness.
pub(crate) fn invent() -> io::Result<String> {
    let mut octets = [0; INVENTED_LEN];
    getrandom::fill(&mut octets).map_err(|error| io::Error::other(error.to_string()))?;
    let letters = octets
        .iter()
        .filter_map(|octet| LETTERS.get(usize::from(octet % 64)));
    Ok(letters.map(|letter| char::from(*letter)).collect())
}

/// Hashes a password; `salt` is the format of salts for crypt(3).
///
/// # Errors
/// A password or a format that the scheme cannot take.
pub(crate) fn hash(scheme: Scheme, password: &[u8], salt: Option<&str>) -> anyhow::Result<String> {
    Ok(fulgurite_auth::hash_with(scheme, password, salt)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_passwords_differ() {
        let (one, other) = (invent().unwrap(), invent().unwrap());
        assert_eq!(one.len(), INVENTED_LEN);
        assert_ne!(one, other);
    }

    #[test]
    fn salts_have_the_format_asked_for() {
        for (format, begins) in [("%.2s", "{CRYPT}"), ("$6$%.8s", "{CRYPT}$6$")] {
            let made = hash(Scheme::Crypt, b"x", Some(format)).unwrap();
            assert!(made.starts_with(begins), "{made}");
            assert!(fulgurite_auth::verify(made.as_bytes(), b"x").unwrap());
        }
        assert!(hash(Scheme::Crypt, b"x", Some("$9$%.8s")).is_err());
    }
}
