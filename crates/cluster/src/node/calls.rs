//! The questions to the log that have no answer yet.

use std::collections::BTreeMap;

use super::message::{EndUse, Question};

/// A question without an answer.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) question: Question,
    pub(super) sent_ms: u64,
    end_ms: u64,
}

/// The questions that have no answer yet, by their numbers. No two are alike.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: BTreeMap<u64, Call>,
    last: u64,
}

impl Calls {
    /// Notes a question and returns its number; `None` if one like it is under way.
    pub(super) fn begin(&mut self, question: &Question, now_ms: u64, wait_ms: u64) -> Option<u64> {
        if self.any(|other| other.is_like(question)) {
            return None;
        }
        self.last += 1;
        let call = Call {
            question: question.clone(),
            sent_ms: now_ms,
            end_ms: now_ms + wait_ms,
        };
        self.calls.insert(self.last, call);
        Some(self.last)
    }

    /// Returns the number of the last question.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Takes the question of an answer; `None` if nobody waits for it any more.
    pub(super) fn take(&mut self, call: u64) -> Option<Call> {
        self.calls.remove(&call)
    }

    /// Returns true if a question without an answer is of a kind.
    pub(super) fn any(&self, is_it: impl Fn(&Question) -> bool) -> bool {
        self.calls.values().any(|call| is_it(&call.question))
    }

    /// Forgets a question, so that its answer counts for nobody.
    pub(super) fn forget(&mut self, of: EndUse) {
        let it = Question::End(of);
        self.calls.retain(|_, call| call.question != it);
    }

    /// Returns the numbers of those that have waited for too long.
    pub(super) fn late(&self, now_ms: u64) -> Vec<u64> {
        let late = self.calls.iter().filter(|(_, call)| call.end_ms <= now_ms);
        late.map(|(number, _)| *number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LeaseId;

    #[test]
    fn no_two_questions_are_alike() {
        let mut calls = Calls::default();
        let readers = Question::End(EndUse::Readers);
        let first = calls.begin(&readers, 0, 500);
        assert_eq!(first, Some(1));
        assert_eq!(calls.begin(&readers, 10, 500), None);
        assert_eq!(calls.begin(&Question::End(EndUse::Begin), 10, 500), Some(2));
        assert_eq!(calls.begin(&Question::Renew(LeaseId(1)), 10, 500), Some(3));
        assert_eq!(calls.begin(&Question::Renew(LeaseId(2)), 10, 500), None);
        calls.forget(EndUse::Begin);
        assert!(calls.take(2).is_none());
        assert_eq!(calls.late(500), [1]);
        assert_eq!(calls.late(510), [1, 3]);
        assert_eq!(calls.take(1).map(|call| call.sent_ms), Some(0));
        assert!(calls.take(1).is_none());
    }
}
