//! Folders of PEM files, and changes of all files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fulgurite_net::pem::FileError;
use fulgurite_policy::TlsOptions;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

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

/// Reads the certificates of all files of a folder, at least one.
pub(super) fn certificates_in(folder: &Path) -> Result<Vec<CertificateDer<'static>>, FileError> {
    let what = "folder of authorities";
    let files = files_in(folder).map_err(|source| FileError::Unreadable {
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
        return Err(FileError::Unusable {
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
