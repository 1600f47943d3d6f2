//! The token that figures may demand.

use std::io::{self, Read as _};
use std::path::PathBuf;

use subtle::ConstantTimeEq as _;

/// Bytes of a token at most.
const TOKEN_BYTES_MAX: u64 = 4096;

/// A file with a token. It is read each time, because it may change.
#[derive(Debug)]
pub(crate) struct TokenFile(pub(crate) PathBuf);

impl TokenFile {
    /// Reads the token.
    ///
    /// # Errors
    /// Those of the file; an empty token is one too.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&self.0)?;
        file.take(TOKEN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let token = bytes.trim_ascii();
        if token.is_empty() || bytes.len() as u64 > TOKEN_BYTES_MAX {
            let text = "it contains no token of 1 to 4096 bytes";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(token.to_owned())
    }

    /// Returns true if the value of the field `Authorization` has the token.
    ///
    /// # Errors
    /// As [`TokenFile::read`].
    pub(super) fn admits(&self, authorization: Option<&[u8]>) -> io::Result<bool> {
        let token = self.read()?;
        let Some((scheme, given)) = authorization.and_then(|value| value.split_at_checked(7))
        else {
            return Ok(false);
        };
        let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
        Ok(is_bearer && bool::from(given.trim_ascii().ct_eq(&token)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_admitted() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile(folder.path().join("token"));
        assert!(file.admits(Some(b"Bearer x")).is_err());
        std::fs::write(&file.0, " \n").unwrap();
        assert!(file.admits(Some(b"Bearer ")).is_err());
        std::fs::write(&file.0, "secret\n").unwrap();
        let admits = |value: &str| file.admits(Some(value.as_bytes())).unwrap();
        assert!(admits("Bearer secret") && admits("bearer  secret "));
        for wrong in [
            "Bearer secre",
            "Bearer secrets",
            "Bearer ",
            "Basic secret",
            "secret",
            "",
        ] {
            assert!(!admits(wrong), "{wrong}");
        }
        assert!(!file.admits(None).unwrap());
        std::fs::write(&file.0, vec![b'a'; 5000]).unwrap();
        assert!(file.read().is_err());
    }
}
