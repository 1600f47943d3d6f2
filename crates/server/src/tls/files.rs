//! Reads PEM files, and detects that they have changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fulgurite_policy::TlsOptions;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::error::TlsError;

/// Size and modification time of each file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileStamps(Vec<(PathBuf, Option<(u64, SystemTime)>)>);

impl FileStamps {
    pub(super) fn of(options: &TlsOptions) -> FileStamps {
        let single = [
            &options.certificate_file,
            &options.key_file,
            &options.ca_file,
            &options.crl_file,
        ];
        let folder = options.ca_path.as_deref().map(files_in);
        let folder = folder.and_then(Result::ok).unwrap_or_default();
        let all = single.into_iter().flatten().cloned().chain(folder);
        FileStamps(
            all.map(|file| (stamp(&file), file))
                .map(|(stamp, file)| (file, stamp))
                .collect(),
        )
    }
}

fn stamp(file: &Path) -> Option<(u64, SystemTime)> {
    let data = fs::metadata(file).ok()?;
    Some((data.len(), data.modified().ok()?))
}

/// Reads the certificates of a file, at least one.
pub(crate) fn certificates(
    what: &'static str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(what, file)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    non_empty(what, file, "CERTIFICATE", found)
}

/// Reads the revocation lists of a file, at least one.
pub(super) fn revocation_lists(
    file: &Path,
) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let what = "revocation list";
    let text = read(what, file)?;
    let found = CertificateRevocationListDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    non_empty(what, file, "X509 CRL", found)
}

/// Reads the private key of a file.
pub(crate) fn key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let what = "key";
    let text = read(what, file)?;
    let unusable = |reason: String| TlsError::Unusable {
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
        rustls::pki_types::pem::Error::NoItemsFound => {
            unusable("there is no PRIVATE KEY section of PEM in it".to_owned())
        }
        error => unusable(error.to_string()),
    })
}

/// Reads the certificates of all files of a folder, at least one.
pub(super) fn certificates_in(folder: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let what = "folder of authorities";
    let files = files_in(folder).map_err(|source| TlsError::Unreadable {
        what,
        file: folder.to_owned(),
        source,
    })?;
    let found: Vec<CertificateDer<'static>> = files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .flat_map(|text| {
            CertificateDer::pem_slice_iter(&text)
                .filter_map(Result::ok)
                .collect::<Vec<_>>()
        })
        .collect();
    if found.is_empty() {
        return Err(TlsError::Unusable {
            what,
            file: folder.to_owned(),
            reason: "no file in it has a CERTIFICATE section of PEM".to_owned(),
        });
    }
    Ok(found)
}

fn files_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(what: &'static str, file: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(file).map_err(|source| TlsError::Unreadable {
        what,
        file: file.to_owned(),
        source,
    })
}

fn non_empty<T>(
    what: &'static str,
    file: &Path,
    section: &str,
    found: Result<Vec<T>, rustls::pki_types::pem::Error>,
) -> Result<Vec<T>, TlsError> {
    let reason = match found {
        Ok(found) if !found.is_empty() => return Ok(found),
        Ok(_) => format!("there is no {section} section of PEM in it"),
        Err(error) => error.to_string(),
    };
    Err(TlsError::Unusable {
        what,
        file: file.to_owned(),
        reason,
    })
}
