//! Builds and drops indexes while the server runs. A store records this work; the indexer does it
//! in small portions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_store::{IndexProgress, IndexStage, IndexStatus, Store, StoreError};

/// The interval at which the indexer asks a store for work.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The longest time for which one portion may block other writers.
const PORTION_TIME: Duration = Duration::from_millis(20);
/// Entries of the first portion, and the minimum.
const PORTION_MIN: usize = 50;
const PORTION_MAX: usize = 20_000;
/// The pause after a store has failed.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Does the work of all stores until `pause` returns false. Each round asks for the stores again,
/// because a reload may have replaced them.
pub(crate) fn run(stores: &dyn Fn() -> Vec<Arc<Store>>, pause: &dyn Fn(Duration) -> bool) {
    let mut workers: Vec<IndexWorker> = Vec::new();
    loop {
        let present = stores();
        let same = |worker: &IndexWorker, store: &Arc<Store>| Arc::ptr_eq(&worker.store, store);
        let unchanged = workers.len() == present.len()
            && workers
                .iter()
                .zip(&present)
                .all(|(worker, store)| same(worker, store));
        if !unchanged {
            workers = present.into_iter().map(IndexWorker::new).collect();
        }
        let mut wait = LOOK_EVERY;
        for worker in &mut workers {
            wait = wait.min(worker.work());
        }
        if !pause(wait) {
            return;
        }
    }
}

/// The state of one store between portions.
struct IndexWorker {
    store: Arc<Store>,
    /// Entries of the next portion: about as many as fit into its time.
    portion: usize,
    /// The last state that was logged: number of indexes, stage and tenths done.
    logged: Option<(usize, IndexStage, u64)>,
    failed: Option<Instant>,
}

impl IndexWorker {
    fn new(store: Arc<Store>) -> IndexWorker {
        IndexWorker {
            store,
            portion: PORTION_MIN,
            logged: None,
            failed: None,
        }
    }

    /// Does one portion, if there is work. Returns the time to wait before the next.
    fn work(&mut self) -> Duration {
        if self
            .failed
            .is_some_and(|failed| failed.elapsed() < AFTER_FAILURE)
        {
            return LOOK_EVERY;
        }
        let begun = Instant::now();
        match self.portion() {
            Ok(IndexProgress::Done) => LOOK_EVERY,
            Ok(IndexProgress::More) => {
                let took = begun.elapsed();
                self.portion = if took > PORTION_TIME {
                    (self.portion / 2).max(PORTION_MIN)
                } else {
                    (self.portion + self.portion / 4).min(PORTION_MAX)
                };
                // Other writers get as much time as this portion took.
                took
            }
            Err(error) => {
                self.failed = Some(Instant::now());
                let path = self.store.path().display();
                tracing::error!("cannot build indexes of {path}: {error}");
                LOOK_EVERY
            }
        }
    }

    fn portion(&mut self) -> Result<IndexProgress, StoreError> {
        let status = self.store.index_status()?;
        if status.work.is_empty() {
            self.log_completion();
            return Ok(IndexProgress::Done);
        }
        self.log_progress(&status);
        self.store.index_step(self.portion)
    }

    fn log_progress(&mut self, status: &IndexStatus) {
        let Some(first) = status.work.first() else {
            return;
        };
        let percent = first.percent(status.last_id);
        let now = (status.work.len(), first.stage, percent / 10);
        if self.logged == Some(now) {
            return;
        }
        self.logged = Some(now);
        let doing = match first.stage {
            IndexStage::Clear => "clearing".to_owned(),
            IndexStage::Fill => format!("building, {percent} %"),
            IndexStage::Drop => "dropping".to_owned(),
        };
        let (path, attribute, kind) = (
            self.store.path().display(),
            &first.attribute,
            first.kind.word(),
        );
        match status.work.len() {
            1 => tracing::info!("index {attribute}:{kind} of {path}: {doing}"),
            many => tracing::info!("{many} indexes of {path}, {attribute}:{kind} first: {doing}"),
        }
    }

    fn log_completion(&mut self) {
        if self.logged.take().is_some() {
            tracing::info!("indexes of {} are complete", self.store.path().display());
        }
    }
}
