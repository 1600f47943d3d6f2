//! Certificates and keys from files in PEM.

use std::fs;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::{Error, PemObject as _};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

/// Why a file of TLS is not used; the message is one line that names the file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A file or folder is unreadable.
    #[error("cannot read the {what} {}: {source}", file.display())]
    Unreadable {
        /// The expected content.
        what: &'static str,
        /// The path.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file lacks the expected content.
    #[error("the {what} {} cannot be used: {reason}", file.display())]
    Unusable {
        /// The expected content.
        what: &'static str,
        /// The path.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// Reads the certificates of a file, at least one.
///
/// # Errors
/// Both of [`FileError`].
pub fn certificates(
    what: &'static str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, FileError> {
    let text = read(what, file)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    non_empty(what, file, "CERTIFICATE", found)
}

/// Reads the revocation lists of a file, at least one.
///
/// # Errors
/// Both of [`FileError`].
pub fn revocation_lists(
    file: &Path,
) -> Result<Vec<CertificateRevocationListDer<'static>>, FileError> {
    let what = "revocation list";
    let text = read(what, file)?;
    let found = CertificateRevocationListDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    non_empty(what, file, "X509 CRL", found)
}

/// Reads the private key of a file.
///
/// # Errors
/// Both of [`FileError`].
pub fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, FileError> {
    let what = "key";
    let text = read(what, file)?;
    let unusable = |reason: String| FileError::Unusable {
        what,
        file: file.to_owned(),
        reason,
    };
    let holds = |words: &str| {
        text.windows(words.len())
            .any(|window| window == words.as_bytes())
    };
    if holds("ENCRYPTED") {
        let reason = "it is encrypted, and a server cannot prompt for the password; decrypt it with openssl pkey";
        return Err(unusable(reason.to_owned()));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        Error::NoItemsFound => unusable("there is no PRIVATE KEY section of PEM in it".to_owned()),
        error => unusable(error.to_string()),
    })
}

fn read(what: &'static str, file: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(file).map_err(|source| FileError::Unreadable {
        what,
        file: file.to_owned(),
        source,
    })
}

fn non_empty<T>(
    what: &'static str,
    file: &Path,
    section: &str,
    found: Result<Vec<T>, Error>,
) -> Result<Vec<T>, FileError> {
    let reason = match found {
        Ok(found) if !found.is_empty() => return Ok(found),
        Ok(_) => format!("there is no {section} section of PEM in it"),
        Err(error) => error.to_string(),
    };
    Err(FileError::Unusable {
        what,
        file: file.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_or_named_in_the_error() {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.pem");
        let text = signed.cert.pem() + &signed.signing_key.serialize_pem();
        fs::write(&file, text).unwrap();
        assert_eq!(certificates("certificate", &file).unwrap().len(), 1);
        private_key(&file).unwrap();
        let error = revocation_lists(&file).unwrap_err().to_string();
        assert!(
            error.ends_with("no X509 CRL section of PEM in it"),
            "{error}"
        );
        let missing = folder.path().join("missing");
        let error = private_key(&missing).unwrap_err().to_string();
        assert!(error.contains("cannot read the key"), "{error}");
        assert!(error.contains(&missing.display().to_string()), "{error}");
    }
}
