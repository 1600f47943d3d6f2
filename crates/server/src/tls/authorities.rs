//! The authorities that certificates are verified with.

use std::path::Path;

use fulgurite_net::pem::{self, FileError};
use rustls::RootCertStore;

use super::error::TlsError;
use super::files;

/// Reads the certificates of a file and of all files of a folder.
pub(crate) fn authorities(
    file: Option<&Path>,
    folder: Option<&Path>,
) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file {
        let what = "authorities";
        for certificate in pem::certificates(what, file)? {
            roots
                .add(certificate)
                .map_err(|error| FileError::Unusable {
                    what,
                    file: file.to_owned(),
                    reason: error.to_string(),
                })?;
        }
    }
    if let Some(folder) = folder {
        // Folders of authorities often contain a certificate that the library cannot parse.
        roots.add_parsable_certificates(files::certificates_in(folder)?);
    }
    Ok(roots)
}
