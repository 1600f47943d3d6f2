//! The threads that ask the log for a node.
//!
//! ```text
//!   Node --> Question --> thread of the lease   --.
//!                    \--> thread of appends     --+--> answers, by number of the call
//!                     \-> thread of batches     --+
//!                      `> thread of the rest    --'
//! ```
//! A slow read delays no renewal of the lease, and a doubtful append delays no read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use fulgurite_cluster::{AppendOutcome, ChangeLog, LogAnswer, Question, ReadOutcome};

use crate::status::AnswerFigures;

/// Questions that wait in a lane, at most. A node asks one of a kind at a time. Those that it has
/// given up wait here without use.
const LANE_QUESTIONS_MAX: usize = 8;

type Lane = SyncSender<(u64, Question)>;

/// The kinds of questions, one for each lane.
const KINDS: [&str; 4] = ["lease", "append", "follow", "other"];

/// The figures of a lane.
#[derive(Debug, Default)]
struct Counts {
    answers: AtomicU64,
    answered_us: AtomicU64,
    silences: AtomicU64,
}

impl Counts {
    fn count(&self, begun: Instant, is_silence: bool) {
        let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        if is_silence {
            self.silences.fetch_add(1, Ordering::Relaxed);
        } else {
            self.answers.fetch_add(1, Ordering::Relaxed);
            self.answered_us.fetch_add(took_us, Ordering::Relaxed);
        }
    }
}

/// The threads that ask the log. They end when this is dropped, after their last questions.
#[derive(Debug)]
pub struct Askers {
    lanes: [Lane; 4],
    trouble: Arc<Mutex<Option<String>>>,
    counts: Arc<[Counts; 4]>,
}

impl Askers {
    /// Starts the threads, each with a log. Each answer goes to `told` with the number of its call.
    ///
    /// # Errors
    /// An error of `log`.
    pub fn start<L: ChangeLog + Send + 'static, E>(
        mut log: impl FnMut() -> Result<L, E>,
        told: impl Fn(u64, LogAnswer) + Clone + Send + 'static,
    ) -> Result<Askers, E> {
        let trouble = Arc::new(Mutex::new(None));
        let counts = Arc::<[Counts; 4]>::default();
        let mut lane = |at: usize| -> Result<Lane, E> {
            let (lane, questions) = sync_channel(LANE_QUESTIONS_MAX);
            let (log, told, trouble) = (log()?, told.clone(), Arc::clone(&trouble));
            let counts = Arc::clone(&counts);
            thread::spawn(move || {
                let counts = counts.get(at).expect("each lane has its counts");
                answer(&log, &questions, told, &trouble, counts);
            });
            Ok(lane)
        };
        Ok(Askers {
            lanes: [lane(0)?, lane(1)?, lane(2)?, lane(3)?],
            trouble,
            counts: Arc::clone(&counts),
        })
    }

    /// Asks. The answer comes later. A full lane drops the question, which the node's clock takes
    /// for silence. So does a thread that has ended.
    pub fn ask(&self, call: u64, question: Question) {
        let [lease, appends, batches, rest] = &self.lanes;
        let lane = match question {
            Question::Grant(_) | Question::Renew(_) => lease,
            Question::Append(..) | Question::Look(_) => appends,
            Question::Follow(_) | Question::Trim(..) => batches,
            _ => rest,
        };
        drop(lane.try_send((call, question)));
    }

    /// Returns the figures of the answers so far.
    #[must_use]
    pub fn figures(&self) -> [AnswerFigures; 4] {
        let mut figures = [AnswerFigures::default(); 4];
        let lanes = KINDS.into_iter().zip(self.counts.iter());
        for (figures, (question, lane)) in figures.iter_mut().zip(lanes) {
            *figures = AnswerFigures {
                question,
                answers: lane.answers.load(Ordering::Relaxed),
                answered_us: lane.answered_us.load(Ordering::Relaxed),
                silences: lane.silences.load(Ordering::Relaxed),
            };
        }
        figures
    }

    /// Returns the reason why the log has not answered lately, for a person.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns true if the answer tells nothing.
pub(crate) fn is_silence(answer: &LogAnswer) -> bool {
    matches!(
        answer,
        LogAnswer::Silence
            | LogAnswer::Appended(AppendOutcome::Unknown)
            | LogAnswer::Batches(ReadOutcome::Unavailable)
    )
}

fn answer(
    log: &impl ChangeLog,
    questions: &Receiver<(u64, Question)>,
    told: impl Fn(u64, LogAnswer),
    trouble: &Mutex<Option<String>>,
    counts: &Counts,
) {
    for (call, question) in questions {
        let begun = Instant::now();
        let answer = question.ask(log);
        counts.count(begun, is_silence(&answer));
        let text = log.trouble().filter(|_| is_silence(&answer));
        *trouble.lock().unwrap_or_else(PoisonError::into_inner) = text;
        told(call, answer);
    }
}
