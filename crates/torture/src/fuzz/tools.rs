//! Any bytes as input of the administrator's tools: a data file to salvage, a backup to restore.

use std::path::Path;

use fulgurite::check::{CheckOptions, check_file};
use fulgurite::salvage::{SalvageError, salvage as salvage_environment};
use fulgurite_engine_tools::{backup, list_backups, restore};

use super::files::in_scratch;

/// Where the file that is salvaged or restored comes to stand.
const OUTPUT: &str = "output";
/// The one backup there is.
const BACKUP: &str = "backups/1.fgb";
/// Octets of a backup's header, the last 32 of them a digest of the others.
const HEADER_LEN: usize = 128;
/// Octets of its trailer: where the table begins (8), 24 others, the table's digest (32), the
/// file's (32).
const TRAILER_LEN: usize = 96;

/// The salvaged file is sound, whatever its source.
pub fn salvage(bytes: &[u8]) {
    in_scratch(|path| {
        let output = emptied(&path.join(OUTPUT));
        std::fs::write(path.join("data.mdb"), bytes).expect("write the data file");
        match salvage_environment(path, &output, &CheckOptions::default(), &mut |_, _| ()) {
            Ok(_) => assert_sound(&output),
            Err(SalvageError::Input(_)) => {}
            Err(error) => panic!("the output could not be written: {error}"),
        }
    });
}

/// Makes the seals of a backup anew, to reach the data that they guard. The backup restores to a
/// sound file or not at all.
pub fn backup_file(bytes: &[u8]) {
    in_scratch(|path| {
        let backups = emptied(&path.join("backups"));
        let output = emptied(&path.join(OUTPUT));
        std::fs::write(path.join(BACKUP), sealed(bytes)).expect("write the backup");
        let _ = list_backups(&backups);
        match restore(&backups, &output, false, None, &mut |_| ()) {
            Ok(restored) => {
                assert_eq!(restored.files, 1);
                assert_sound(&output);
            }
            Err(error) => {
                let _ = error.to_string();
                let left = std::fs::read_dir(&output).expect("the output directory");
                assert_eq!(left.count(), 0, "something was left by: {error}");
            }
        }
    });
}

/// Backups to begin with, one for each of the data files.
pub(super) fn backups_of(images: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut made = Vec::new();
    for image in images {
        in_scratch(|path| {
            let backups = emptied(&path.join("backups"));
            std::fs::write(path.join("data.mdb"), image).expect("write the data file");
            if backup(path, &backups, true, &mut |_| ()).is_ok() {
                for entry in list_backups(&backups).expect("the backup just made") {
                    made.push(std::fs::read(entry.path).expect("read it back"));
                }
            }
        });
    }
    made
}

fn emptied(path: &Path) -> std::path::PathBuf {
    let _ = std::fs::remove_dir_all(path);
    std::fs::create_dir(path).expect("make a directory");
    path.to_owned()
}

fn assert_sound(directory: &Path) {
    let report = check_file(&directory.join("data.mdb")).expect("the output can be read");
    assert!(report.is_sound(), "{report}");
}

fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    let Some(trailer_at) = file.len().checked_sub(TRAILER_LEN) else {
        return file;
    };
    if trailer_at < HEADER_LEN {
        return file;
    }
    seal(&mut file, 0..HEADER_LEN - 32, HEADER_LEN - 32);
    let table_at = file[trailer_at..]
        .first_chunk()
        .map_or(usize::MAX, |at| u64::from_le_bytes(*at) as usize);
    if table_at <= trailer_at {
        seal(&mut file, table_at..trailer_at, trailer_at + 32);
    }
    let end = file.len() - 32;
    seal(&mut file, 0..end, end);
    file
}

fn seal(file: &mut [u8], what: std::ops::Range<usize>, at: usize) {
    let digest = blake3::hash(&file[what]);
    file[at..at + 32].copy_from_slice(digest.as_bytes());
}
