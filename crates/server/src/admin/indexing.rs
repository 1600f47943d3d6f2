//! Indexes made and given up while the server serves: the work that a store has on record, done in small portions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_store::{IndexProgress, IndexStage, IndexStatus, Store, StoreError};

/// How often a store is asked whether there is something to do.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long one portion may keep other writers waiting.
const PORTION_TIME: Duration = Duration::from_millis(20);
/// Entries of a portion, at first and at the least.
const PORTION_MIN: usize = 50;
const PORTION_MAX: usize = 20_000;
/// How long a store that failed is left alone.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Does the work of all stores until `pause` answers that the server ends. The stores are asked for again and again: a
/// reload may have put others in their place, which know more of the schema.
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

/// What is remembered of one store between portions.
struct IndexWorker {
    store: Arc<Store>,
    /// Entries of the next portion: as many as fit into its time.
    portion: usize,
    /// What was said last of the work: its length, stage and tenth.
    said: Option<(usize, IndexStage, u64)>,
    failed: Option<Instant>,
}

impl IndexWorker {
    fn new(store: Arc<Store>) -> IndexWorker {
        IndexWorker {
            store,
            portion: PORTION_MIN,
            said: None,
            failed: None,
        }
    }

    /// Does one portion, if there is work; how long to wait for the next.
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
                // As long as it worked, others have their turn.
                took
            }
            Err(error) => {
                self.failed = Some(Instant::now());
                let path = self.store.path().display();
                tracing::error!("indexes of {path} cannot be worked on: {error}");
                LOOK_EVERY
            }
        }
    }

    fn portion(&mut self) -> Result<IndexProgress, StoreError> {
        let status = self.store.index_status()?;
        if status.work.is_empty() {
            self.tell_end();
            return Ok(IndexProgress::Done);
        }
        self.tell(&status);
        self.store.index_step(self.portion)
    }

    fn tell(&mut self, status: &IndexStatus) {
        let Some(first) = status.work.first() else {
            return;
        };
        let percent = first.percent(status.last_id);
        let now = (status.work.len(), first.stage, percent / 10);
        if self.said == Some(now) {
            return;
        }
        self.said = Some(now);
        let doing = match first.stage {
            IndexStage::Clear => "clearing".to_owned(),
            IndexStage::Fill => format!("building, {percent} %"),
            IndexStage::Drop => "giving up".to_owned(),
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

    fn tell_end(&mut self) {
        if self.said.take().is_some() {
            tracing::info!("indexes of {} are complete", self.store.path().display());
        }
    }
}
