//! The files of the logs of changes (slapd's overlay `auditlog`).
//!
//! A writer appends the records of a batch after its commit and before its answers. Like slapd, it
//! opens the file each time, so an administrator may move the file away. Records that must be
//! durable are on the disk before the answers.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fulgurite_directory::AuditText;
use rustix::fs::OFlags;

use crate::statistics::lock;

/// Permissions of a new file: its records have values that few may read.
const MODE: u32 = 0o600;

/// The time between two complaints about files that cannot be written.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(60);

/// The state of writing: the time of the last complaint.
#[derive(Debug, Default)]
pub(super) struct AuditFiles {
    complained_at: Mutex<Option<Instant>>,
}

impl AuditFiles {
    /// Appends records. A failure is logged once a minute, and refuses nothing.
    pub(super) fn write<'r>(&self, records: impl Iterator<Item = &'r AuditText>) {
        let mut texts: Vec<AuditText> = Vec::new();
        for record in records {
            let is_same = |other: &&mut AuditText| {
                (&other.file, other.nonblocking) == (&record.file, record.nonblocking)
            };
            match texts.iter_mut().find(is_same) {
                Some(other) => other.text.extend_from_slice(&record.text),
                None => texts.push(record.clone()),
            }
        }
        for text in texts {
            if let Err(error) = append(&text) {
                self.complain(&text.file, &error);
            }
        }
    }

    fn complain(&self, file: &Path, error: &io::Error) {
        let mut complained_at = lock(&self.complained_at);
        let is_recent = |then: Instant| then.elapsed() < COMPLAINT_INTERVAL;
        if complained_at.is_some_and(is_recent) {
            return;
        }
        *complained_at = Some(Instant::now());
        let file = file.display();
        tracing::error!("auditlog: cannot write to {file}, changes go unrecorded: {error}");
    }
}

/// Appends to a file. A named pipe without a reader is an error if nobody shall wait for one.
fn append(records: &AuditText) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.append(true).create(true).mode(MODE);
    if records.nonblocking {
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    }
    let mut file = options.open(&records.file)?;
    file.write_all(&records.text)?;
    if records.durable {
        make_durable(&file, records, |opened, path| {
            match *path == *records.file {
                true => opened.sync_data(),
                false => opened.sync_all(),
            }
        })?;
    }
    Ok(())
}

/// Makes the records durable, and the name of a file that had none before. `sync` gets each file
/// and folder, with its path.
fn make_durable(
    file: &File,
    records: &AuditText,
    mut sync: impl FnMut(&File, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let found = file.metadata()?;
    // A pipe is on no disk.
    if !found.is_file() {
        return Ok(());
    }
    sync(file, &records.file)?;
    let is_new = found.len() <= records.text.len() as u64;
    let folder = records.file.parent().filter(|_| is_new);
    let Some(folder) = folder else {
        return Ok(());
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    sync(&File::open(folder)?, folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn record(file: &Path, text: &str) -> AuditText {
        AuditText {
            file: file.into(),
            nonblocking: false,
            durable: false,
            text: text.into(),
        }
    }

    #[test]
    fn records_are_appended_in_their_order_to_a_file_of_the_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let files = AuditFiles::default();
        let records = [
            record(&one, "a\n"),
            record(&two, "b\n"),
            record(&one, "c\n"),
        ];
        files.write(records.iter());
        files.write([record(&one, "d\n")].iter());
        let read = |file| std::fs::read_to_string(file).expect("a file");
        assert_eq!((read(&one), read(&two)), ("a\nc\nd\n".into(), "b\n".into()));
        let mode = std::fs::metadata(&one)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, MODE);
        // A file that cannot be opened hinders no other one.
        let lost = folder.path().join("missing/three");
        files.write([record(&lost, "x\n"), record(&two, "e\n")].iter());
        assert_eq!(read(&two), "b\ne\n");
        assert!(lock(&files.complained_at).is_some());
    }

    #[test]
    fn the_folder_of_a_new_durable_file_is_synchronized() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let records = AuditText {
            durable: true,
            ..record(&path, "a\n")
        };
        let synchronized = || {
            append(&AuditText {
                durable: false,
                ..records.clone()
            })
            .expect("appended");
            let mut seen = Vec::new();
            let file = File::open(&path).expect("the file");
            make_durable(&file, &records, |opened, path| {
                seen.push((path.to_owned(), opened.metadata()?.is_dir()));
                Ok(())
            })
            .expect("durable");
            seen
        };
        let (file, above) = ((path.clone(), false), (folder.path().to_owned(), true));
        assert_eq!(synchronized(), [file.clone(), above.clone()]);
        assert_eq!(
            synchronized(),
            std::slice::from_ref(&file),
            "the name is durable"
        );
        // It has been moved away.
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(synchronized(), [file, above]);
    }

    #[test]
    fn nobody_waits_for_the_reader_of_a_pipe_if_so_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let files = AuditFiles::default();
        let records = [AuditText {
            nonblocking: true,
            durable: true,
            ..record(&pipe, "a\n")
        }];
        // Without the flag, this call would not return.
        files.write(records.iter());
        assert!(lock(&files.complained_at).is_some());
    }
}
