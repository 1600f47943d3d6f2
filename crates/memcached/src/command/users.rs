//! The users who may use a server with a file of users.

use std::path::Path;

use subtle::{Choice, ConstantTimeEq as _};

use crate::error::ServeError;

/// The longest line of users and of a client's answer, in bytes.
pub(super) const TOKEN_MAX: usize = 2048;

/// The pairs of a file with lines `USER:PASSWORD`.
#[derive(Debug)]
pub(crate) struct Users(Vec<(Vec<u8>, Vec<u8>)>);

impl Users {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Users, ServeError> {
        let wrong = |reason: String| ServeError::Users {
            path: path.to_owned(),
            reason,
        };
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        Users::parse(&bytes).map_err(wrong)
    }

    fn parse(bytes: &[u8]) -> Result<Users, String> {
        let mut users = Vec::new();
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let pair = colon.and_then(|at| Some((line.get(..at)?, line.get(at + 1..)?)));
            let (user, password) = pair.ok_or_else(|| format!("line {number} has no colon"))?;
            users.push((user.to_vec(), password.to_vec()));
        }
        match users.is_empty() {
            true => Err("it names no user".to_owned()),
            false => Ok(Users(users)),
        }
    }

    /// Returns true if a token `USER PASSWORD` names a pair. Takes as long for each pair.
    pub(super) fn admit(&self, token: &[u8]) -> bool {
        let space = token.iter().position(|byte| *byte == b' ');
        let pair = space.and_then(|at| Some((token.get(..at)?, token.get(at + 1..)?)));
        let Some((user, password)) = pair else {
            return false;
        };
        let mut admitted = Choice::from(0);
        for (known, secret) in &self.0 {
            admitted |= known.as_slice().ct_eq(user) & secret.as_slice().ct_eq(password);
        }
        admitted.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pairs_are_admitted() {
        let users = Users::parse(b"a:b\n\nkari:pass word\r\n").unwrap();
        assert!(users.admit(b"a b"));
        assert!(users.admit(b"kari pass word"));
        for wrong in [&b"a"[..], b"", b"a ", b" b", b"a bb", b"kari b", b"a:b"] {
            assert!(!users.admit(wrong), "{wrong:?}");
        }
        assert!(Users::parse(b"\n").is_err());
        assert!(Users::parse(b"nonsense\n").is_err());
    }
}
