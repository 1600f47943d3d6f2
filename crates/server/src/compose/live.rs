//! A directory whose configuration can change while it serves.
//!
//! ```text
//!   generation 0      generation 1      generation 2 = newest     each a Directory; shared stores
//!      ^ a search that began then        ^ every request from now on
//! ```
//! The generation that is the newest when a request arrives answers it. Old generations stay until
//! the server ends. So a request finds the newest one without a lock and without a write, and never
//! has to release it. An old generation holds its rules and limits, and its schema if that has
//! changed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use fulgurite_directory::Directory;

use super::audit_files::AuditFiles;
use crate::admin::monitor::Monitor;
use crate::statistics::lock;

/// The number of generations, after which the server needs a restart.
const GENERATIONS_MAX: usize = 4096;

/// Makes the next generation from the current one, or returns the reason of the failure.
pub type Reload<'r> = dyn Fn(&Directory) -> Result<Directory, String> + Send + Sync + 'r;

/// The directory that is served, and the function that makes the next generation of it.
pub struct Live<'r> {
    /// Filled from the front. Boxed, so that empty slots cost little.
    generations: Box<[OnceLock<Box<Directory>>]>,
    newest: AtomicUsize,
    reload: Option<Box<Reload<'r>>>,
    /// Locked while the next generation is made.
    reloading: Mutex<()>,
    monitor: Option<Arc<Monitor>>,
    /// The files of the logs of changes.
    pub(super) audit_files: AuditFiles,
}

impl<'r> Live<'r> {
    /// Serves a directory that does not change.
    #[must_use]
    pub fn new(directory: Directory) -> Live<'r> {
        let mut generations = vec![OnceLock::from(Box::new(directory))];
        generations.resize_with(GENERATIONS_MAX, OnceLock::new);
        Live {
            generations: generations.into_boxed_slice(),
            newest: AtomicUsize::new(0),
            reload: None,
            reloading: Mutex::new(()),
            monitor: None,
            audit_files: AuditFiles::default(),
        }
    }

    /// Sets the function that makes the next generation when an administrator asks for it.
    #[must_use]
    pub fn with_reload(mut self, reload: Box<Reload<'r>>) -> Live<'r> {
        self.reload = Some(reload);
        self
    }

    /// Sets the monitor whose figures are logged on request.
    #[must_use]
    pub fn with_monitor(mut self, monitor: Arc<Monitor>) -> Live<'r> {
        self.monitor = Some(monitor);
        self
    }

    /// Returns the newest generation.
    #[must_use]
    pub fn current(&self) -> &Directory {
        let newest = self.newest.load(Ordering::Acquire);
        // `renew` fills a slot before it publishes its number; `new` fills the first slot.
        let directory = self.generations.get(newest).and_then(OnceLock::get);
        directory
            .or_else(|| self.generations.iter().find_map(OnceLock::get))
            .unwrap_or_else(|| unreachable!("there is a first generation"))
    }

    /// Returns the figures of the monitor as lines for a log; none without a monitor.
    pub(super) fn monitor_lines(&self) -> Vec<String> {
        let monitor = self.monitor.as_ref();
        monitor.map(|monitor| monitor.dump()).unwrap_or_default()
    }

    /// Makes the next generation.
    ///
    /// # Errors
    /// The reason. The current generation stays in force.
    pub fn renew(&self) -> Result<(), String> {
        let Some(reload) = &self.reload else {
            return Err("there is no configuration to read again".to_owned());
        };
        let _guard = lock(&self.reloading);
        let next = self.newest.load(Ordering::Acquire) + 1;
        let Some(slot) = self.generations.get(next) else {
            return Err(format!(
                "the configuration has changed {GENERATIONS_MAX} times: restart the server"
            ));
        };
        let directory = reload(self.current())?;
        let _ = slot.set(Box::new(directory));
        self.newest.store(next, Ordering::Release);
        Ok(())
    }
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live")
            .field("newest", &self.newest)
            .finish_non_exhaustive()
    }
}
