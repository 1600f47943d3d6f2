//! The threads that ask the log for a node.
//!
//! ```text
//!   Node --> Question --> thread of appends  --.
//!                    \--> thread of batches  --+--> answers, by number of the call
//!                     \-> thread of the rest --'
//! ```
//! A slow read delays no renewal of a lease, and a doubtful append delays no read.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use fulgurite_cluster::{LogAnswer, Question};

use crate::error::EtcdError;
use crate::log::EtcdLog;
use crate::settings::EtcdSettings;

/// The threads that ask the log. They end when this is dropped, after the question under way.
#[derive(Debug)]
pub struct Askers {
    lanes: [Sender<(u64, Question)>; 3],
}

impl Askers {
    /// Starts the threads. Each answer goes to `told` with the number of its call.
    ///
    /// # Errors
    /// [`EtcdError::Setting`].
    pub fn start(
        settings: &EtcdSettings,
        told: impl Fn(u64, LogAnswer) + Clone + Send + 'static,
    ) -> Result<Askers, EtcdError> {
        let lane = || {
            let (sender, questions) = channel();
            let log = EtcdLog::new(settings)?;
            let told = told.clone();
            thread::spawn(move || answer(&log, &questions, told));
            Ok(sender)
        };
        Ok(Askers {
            lanes: [lane()?, lane()?, lane()?],
        })
    }

    /// Asks. The answer comes later.
    pub fn ask(&self, call: u64, question: Question) {
        let [appends, batches, rest] = &self.lanes;
        let lane = match question {
            Question::Append(..) | Question::Look(_) => appends,
            Question::Follow(_) | Question::Trim(..) => batches,
            _ => rest,
        };
        // A thread that has ended answers nothing: the node takes that for silence.
        drop(lane.send((call, question)));
    }
}

fn answer(log: &EtcdLog, questions: &Receiver<(u64, Question)>, told: impl Fn(u64, LogAnswer)) {
    for (call, question) in questions {
        told(call, question.ask(log));
    }
}
