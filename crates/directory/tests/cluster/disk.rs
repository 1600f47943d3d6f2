//! A disk that can lose power: what it surely has, and what the system has in memory.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fulgurite::DiskObserver;

/// The unit that a disk keeps or loses as a whole.
const SECTOR: usize = 512;

/// The files of a store, as they would be after a power loss.
#[derive(Default)]
pub(crate) struct LossyDisk {
    data: Mutex<LossyFile>,
    description: Arc<DescriptionObserver>,
}

#[derive(Default)]
struct DescriptionObserver(Mutex<LossyFile>);

/// A file: the last content that was flushed, and the newest.
#[derive(Default)]
struct LossyFile {
    durable: Vec<u8>,
    newest: Vec<u8>,
}

impl LossyDisk {
    /// Returns a disk that has these files, as far as they are there.
    pub(crate) fn of(folder: &Path) -> Arc<LossyDisk> {
        let file = |name: &str| {
            let bytes = std::fs::read(folder.join(name)).unwrap_or_default();
            Mutex::new(LossyFile {
                durable: bytes.clone(),
                newest: bytes,
            })
        };
        Arc::new(LossyDisk {
            data: file("data.mdb"),
            description: Arc::new(DescriptionObserver(file("checkpoint.mdb"))),
        })
    }

    /// Writes the files as a power loss leaves them: of each sector either content.
    pub(crate) fn lose_power(&self, folder: &Path, mut is_lost: impl FnMut() -> bool) {
        let files = [
            ("data.mdb", &self.data),
            ("checkpoint.mdb", &self.description.0),
        ];
        for (name, file) in files {
            let bytes = locked(file).after_power_loss(&mut is_lost);
            std::fs::write(folder.join(name), bytes).expect("room for a file");
        }
    }
}

impl LossyFile {
    fn write(&mut self, offset: u64, bytes: &[u8], synchronous: bool) {
        let start = offset as usize;
        let end = start + bytes.len();
        let files = match synchronous {
            true => vec![&mut self.newest, &mut self.durable],
            false => vec![&mut self.newest],
        };
        for file in files {
            if file.len() < end {
                file.resize(end, 0);
            }
            file[start..end].copy_from_slice(bytes);
        }
    }

    fn sync(&mut self) {
        self.durable.clone_from(&self.newest);
    }

    fn after_power_loss(&self, is_lost: &mut impl FnMut() -> bool) -> Vec<u8> {
        let mut bytes = self.newest.clone();
        for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
            let start = (number * SECTOR).min(self.durable.len());
            let end = (start + sector.len()).min(self.durable.len());
            let mut old = self.durable[start..end].to_vec();
            old.resize(sector.len(), 0);
            if old != *sector && is_lost() {
                sector.copy_from_slice(&old);
            }
        }
        bytes
    }
}

fn locked(file: &Mutex<LossyFile>) -> MutexGuard<'_, LossyFile> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DiskObserver for LossyDisk {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        locked(&self.data).write(offset, bytes, synchronous);
    }

    fn sync(&self) {
        locked(&self.data).sync();
    }

    fn resize(&self, len: u64) {
        locked(&self.data).newest.resize(len as usize, 0);
    }

    fn checkpoint(&self) -> Option<Arc<dyn DiskObserver>> {
        Some(Arc::clone(&self.description) as Arc<dyn DiskObserver>)
    }
}

impl DiskObserver for DescriptionObserver {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        locked(&self.0).write(offset, bytes, synchronous);
    }

    fn sync(&self) {
        locked(&self.0).sync();
    }

    fn resize(&self, len: u64) {
        locked(&self.0).newest.resize(len as usize, 0);
    }
}
