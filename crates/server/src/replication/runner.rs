//! The threads of the consumers: started and ended as the newest configuration says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use fulgurite_directory::Directory;

use super::configuration::ConfigurationCopies;
use super::directory_source::DirectorySource;
use super::session::{self, SessionTask};
use crate::replication_status::ReplicationStatus;

/// The time between looks at the configuration.
const LOOK_EVERY: Duration = Duration::from_millis(200);

struct Running<'scope> {
    task: SessionTask,
    handle: ScopedJoinHandle<'scope, ()>,
}

impl Running<'_> {
    fn is_for(&self, task: &SessionTask) -> bool {
        self.task.store == task.store
            && self.task.settings == task.settings
            && self.task.multi_provider == task.multi_provider
    }
}

/// Runs the consumers of all databases until `stop` is set.
pub(crate) fn run(source: &dyn DirectorySource, status: &ReplicationStatus, stop: &AtomicBool) {
    thread::scope(|scope| {
        let mut running: Vec<Running<'_>> = Vec::new();
        let mut configurations = ConfigurationCopies::default();
        while !stop.load(Ordering::Relaxed) {
            let wanted = wanted(source.newest());
            for one in &running {
                if !wanted.iter().any(|task| one.is_for(task)) {
                    one.task.stop.store(true, Ordering::Relaxed);
                }
            }
            // A consumer also ends when the schema changes, and begins anew here.
            running.retain(|one| !one.handle.is_finished());
            for task in wanted {
                // Two threads of one number would undo each other's refresh.
                let same = |one: &Running<'_>| is_same(&one.task, &task);
                if running.iter().any(same) {
                    continue;
                }
                let rid = task.settings.rid;
                let own = task.clone();
                let started = thread::Builder::new()
                    .name(format!("syncrepl-{rid:03}"))
                    .spawn_scoped(scope, move || session::run(source, &own, status));
                match started {
                    Ok(handle) => running.push(Running { task, handle }),
                    Err(error) => tracing::error!("syncrepl rid={rid:03}: no thread: {error}"),
                }
            }
            configurations.fit(scope, source, status);
            thread::sleep(LOOK_EVERY);
        }
        configurations.stop();
        for one in &running {
            one.task.stop.store(true, Ordering::Relaxed);
        }
    });
}

fn is_same(one: &SessionTask, other: &SessionTask) -> bool {
    one.store == other.store && one.settings.rid == other.settings.rid
}

fn wanted(directory: &Directory) -> Vec<SessionTask> {
    let databases = directory.databases().iter();
    let tasks = databases.flat_map(|database| {
        let store: PathBuf = Path::to_owned(database.store().path());
        database
            .consumers()
            .iter()
            .map(move |settings| SessionTask {
                store: store.clone(),
                settings: settings.clone(),
                multi_provider: database.is_multi_provider(),
                stop: Arc::default(),
            })
    });
    tasks.collect()
}
