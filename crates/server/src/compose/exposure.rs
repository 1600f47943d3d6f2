//! Finds stores that other users of the machine can read.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fulgurite_config::Database;

/// Permission bits of a group and of all others: reading a file, and entering a folder.
const READERS: [(u32, u32); 2] = [(0o040, 0o010), (0o004, 0o001)];

/// Logs a warning if others can read the data file and the settings do not ask for it.
pub(super) fn warn_if_exposed(database: &Database) {
    let Ok(folder) = database.directory() else {
        return;
    };
    let wanted = database.storage.mode.value.0;
    if is_exposed(folder, wanted) {
        tracing::warn!(
            "other users can read {0}, which holds passwords: chmod 600 {0}",
            folder.join("data.mdb").display()
        );
    }
}

/// Returns true if the data file has more readers than a mode allows.
fn is_exposed(folder: &Path, wanted: u32) -> bool {
    let mode = |path: &Path| std::fs::metadata(path).map(|data| data.permissions().mode());
    let (Ok(file), Ok(folder)) = (mode(&folder.join("data.mdb")), mode(folder)) else {
        return false;
    };
    READERS
        .iter()
        .any(|(read, enter)| file & !wanted & read != 0 && folder & enter != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_exposed_if_others_reach_and_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.mdb");
        std::fs::write(&file, "").unwrap();
        let exposed = |file_mode, folder_mode, wanted| {
            let set = |path: &Path, mode| {
                std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
            };
            set(&file, file_mode);
            set(folder.path(), folder_mode);
            is_exposed(folder.path(), wanted)
        };
        assert!(exposed(0o644, 0o755, 0o600));
        assert!(exposed(0o640, 0o750, 0o600));
        assert!(!exposed(0o640, 0o750, 0o640), "the group was asked for");
        assert!(exposed(0o644, 0o755, 0o640));
        assert!(!exposed(0o644, 0o700, 0o600), "the folder is closed");
        assert!(!exposed(0o600, 0o755, 0o600));
    }
}
