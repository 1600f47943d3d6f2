//! The loop of a node, step by step: each test plays the clock, the log and the clients.

#![forbid(unsafe_code)]

mod requests;

use fulgurite_cluster::{
    AppendOutcome, Batch, Content, Csn, Divergence, Effects, EndUse, Epoch, Forwarded, Head,
    LONG_BATCH_BYTES_MAX, Leadership, LeaseId, LogAnswer, Node, NodeId, NodeSettings, NodeState,
    Operation, Operator, Outcome, Output, Position, Question, ReadOutcome, Record, RecordKind,
    Refusal, Time, VERSION_NEWEST, Value,
};

const OWN: NodeId = NodeId(1);

/// A content that notes the ends. An update is the length of its value; 0 is refused.
#[derive(Debug, Default)]
struct Numbers {
    head: Head,
    is_open: bool,
    /// True if the next commit fails.
    fails: bool,
}

fn record(len: usize, csn: Csn) -> Record {
    let operation = Operation {
        operator: Operator::Replace,
        attribute: "description".to_owned(),
        values: vec![Value::Inline(vec![b'a'; len])],
    };
    Record {
        kind: RecordKind::Modify,
        csn,
        previous: None,
        uuid: [1; 16],
        parent: None,
        is_unordered: false,
        begun_us: 0,
        took_us: 0,
        session: 0,
        author: String::new(),
        dn: "cn=a".to_owned(),
        renaming: None,
        operations: vec![operation],
    }
}

/// Returns the number of a change; 1 to 9.
fn csn(digit: u8) -> Csn {
    let mut bytes = [0; Csn::LEN];
    bytes[9] = digit;
    Csn::from_bytes(bytes).expect("decimal digits")
}

impl Content for Numbers {
    type Update = usize;
    type Answer = bool;

    fn head(&self) -> Head {
        self.head
    }

    fn durable(&self) -> Position {
        self.head.position
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn begin(&mut self, updates: &[&usize], last: Csn, _: Time) -> Effects<bool> {
        assert!(!std::mem::replace(&mut self.is_open, true));
        let first = last.as_bytes()[9] + 1;
        let done = updates.iter().filter(|len| ***len > 0).zip(first..);
        Effects {
            records: done.map(|(len, digit)| record(**len, csn(digit))).collect(),
            answers: updates.iter().map(|len| **len > 0).collect(),
        }
    }

    fn code(answer: &bool) -> u32 {
        u32::from(!answer)
    }

    fn commit(&mut self, head: Head) {
        assert!(std::mem::take(&mut self.is_open));
        if !std::mem::take(&mut self.fails) {
            self.head = head;
        }
    }

    fn abort(&mut self) {
        assert!(std::mem::take(&mut self.is_open));
    }

    fn apply(&mut self, _: &Batch, head: Head) -> Result<(), Divergence> {
        if !std::mem::take(&mut self.fails) {
            self.head = head;
        }
        Ok(())
    }

    fn maintain(&mut self, _: u64) {}
}

/// A node with the questions and other outputs that wait.
struct Play {
    node: Node<Numbers>,
    now_ms: u64,
    questions: Vec<(u64, Question)>,
    outputs: Vec<Output<usize, bool>>,
}

impl Play {
    /// Begins a node.
    fn new() -> Play {
        Play::with(OWN)
    }

    fn with(node: NodeId) -> Play {
        let settings = NodeSettings::default();
        Play {
            node: Node::new(node, settings, Numbers::default(), [1; 8]),
            now_ms: 0,
            questions: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Begins a node that leads.
    fn leading() -> Play {
        Play::leading_as(OWN)
    }

    fn leading_as(node: NodeId) -> Play {
        let mut play = Play::with(node);
        play.renew();
        play.answer(
            |question| matches!(question, Question::Lead(..)),
            LogAnswer::Led(Leadership::Leading(Epoch(5))),
        );
        play.answer(
            |question| *question == Question::End(EndUse::Begin),
            LogAnswer::End(Head::default()),
        );
        assert!(play.node.is_leading());
        play.outputs.clear();
        play
    }

    fn time(&self) -> Time {
        Time {
            now_ms: self.now_ms,
            wall_us: self.now_ms * 1000,
        }
    }

    fn collect(&mut self) {
        for output in self.node.take_outputs() {
            match output {
                Output::Ask(call, question) => self.questions.push((call, question)),
                output => self.outputs.push(output),
            }
        }
    }

    /// Lets time pass in steps of a tick. The lease goes on.
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms / 100 {
            self.now_ms += 100;
            self.renew();
        }
    }

    fn renew(&mut self) {
        let time = self.time();
        self.node.tick(time);
        self.collect();
        for (call, question) in self.questions.clone() {
            match question {
                Question::Grant(_) => {
                    self.node.told(call, LogAnswer::Granted(LeaseId(7)), time);
                    self.node.tick(Time {
                        now_ms: time.now_ms + 1,
                        ..time
                    });
                }
                Question::Renew(_) => self.node.told(call, LogAnswer::Renewed(true), time),
                _ => {}
            }
        }
        self.collect();
    }

    /// Answers the last question of a kind.
    fn answer(&mut self, is_it: impl Fn(&Question) -> bool, answer: LogAnswer) {
        let last = self
            .questions
            .iter()
            .rposition(|(_, question)| is_it(question));
        let (call, _) = self.questions.remove(last.expect("it was asked"));
        let time = self.time();
        self.node.told(call, answer, time);
        self.collect();
    }

    fn update(&mut self, number: u64, len: usize) {
        let time = self.time();
        self.node.update(number, len, time);
        self.collect();
    }

    fn appends(&self) -> Vec<&[u8]> {
        let batches = self
            .questions
            .iter()
            .filter_map(|(_, question)| match question {
                Question::Append(_, _, batch) => Some(batch.as_slice()),
                _ => None,
            });
        batches.collect()
    }

    /// Takes the numbers of the reads that are served.
    fn served(&mut self) -> Vec<u64> {
        let outputs = std::mem::take(&mut self.outputs).into_iter();
        let served = outputs.filter_map(|output| match output {
            Output::Serve(number) => Some(number),
            _ => None,
        });
        served.collect()
    }

    /// Lets a second pass, in which the log answers some questions at once. Returns their number.
    fn answer_at_once(&mut self, answer: impl Fn(&Question) -> Option<LogAnswer>) -> usize {
        let mut count = 0;
        for _ in 0..10 {
            self.pass(100);
            let is_one = |(_, question): &(u64, Question)| answer(question).is_some();
            while let Some(at) = self.questions.iter().position(is_one) {
                let (call, question) = self.questions.remove(at);
                let answer = answer(&question).expect("it is one of them");
                let time = self.time();
                self.node.told(call, answer, time);
                self.collect();
                count += 1;
                assert!(count < 1000, "the log is asked without a pause");
            }
        }
        count
    }

    /// Begins a node that follows another one, whose program is as new as its own.
    fn following(leader: NodeId, epoch: Epoch) -> Play {
        let mut play = Play::new();
        play.pass(1000);
        let state = |node| NodeState {
            node,
            version: VERSION_NEWEST,
            applied: Position(0),
            durable: Position(0),
            clock_us: 0,
        };
        let states = LogAnswer::Nodes(vec![state(OWN), state(leader)]);
        play.answer(|question| *question == Question::Nodes, states);
        play.led(leader, epoch);
        play.outputs.clear();
        play
    }

    /// Tells the node who leads.
    fn led(&mut self, leader: NodeId, epoch: Epoch) {
        self.pass(1000);
        self.answer(
            |question| matches!(question, Question::Lead(..)),
            LogAnswer::Led(Leadership::Following(leader, epoch)),
        );
    }

    /// Tells the node the batches behind its position.
    fn follow(&mut self, batches: Vec<(Position, Vec<u8>)>) {
        self.pass(100);
        let batches = LogAnswer::Batches(ReadOutcome::Batches(batches));
        self.answer(is_follow, batches);
    }

    /// Takes the update that the node forwards.
    fn forwarded(&mut self) -> Forwarded<usize> {
        let outputs = std::mem::take(&mut self.outputs).into_iter();
        let mut forwarded = outputs.filter_map(|output| match output {
            Output::Forward(_, update) => Some(update),
            _ => None,
        });
        forwarded.next().expect("it is forwarded")
    }

    fn outcomes(&mut self) -> Vec<(u64, Outcome<bool>)> {
        let outputs = std::mem::take(&mut self.outputs).into_iter();
        let answers = outputs.filter_map(|output| match output {
            Output::Answer(number, outcome) => Some((number, outcome)),
            _ => None,
        });
        answers.collect()
    }
}

fn is_append(question: &Question) -> bool {
    matches!(question, Question::Append(..))
}

fn is_follow(question: &Question) -> bool {
    matches!(question, Question::Follow(_))
}

#[test]
fn an_update_is_answered_behind_its_append() {
    let mut play = Play::leading();
    play.update(1, 10);
    play.update(2, 0);
    assert!(play.outcomes().is_empty());
    play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    let done = Outcome::Settled(Position(1), true);
    assert_eq!(play.outcomes(), [(1, done)]);
    // The refusal waits for the log's word that its state is the newest.
    let head = play.node.content().head();
    play.answer(
        |question| *question == Question::End(EndUse::Refusals),
        LogAnswer::End(head),
    );
    let refused = Outcome::Settled(Position(1), false);
    assert_eq!(play.outcomes(), [(2, refused)]);
}

#[test]
fn nobody_waits_for_ever_behind_an_unknown_batch() {
    let mut play = Play::leading();
    play.update(1, 10);
    play.update(2, 10);
    play.pass(9900);
    assert_eq!(play.outcomes(), []);
    play.pass(200);
    assert_eq!(play.outcomes(), [(2, Outcome::Busy), (1, Outcome::Unknown)]);
    assert!(!play.node.content().is_open || play.node.is_leading());
}

#[test]
fn refusals_of_a_silent_log_were_not_done() {
    let mut play = Play::leading();
    play.update(1, 0);
    play.pass(10_100);
    assert_eq!(play.outcomes(), [(1, Outcome::Busy)]);
    assert!(!play.node.content().is_open);
}

#[test]
fn a_full_log_has_time_for_a_trim() {
    let mut play = Play::leading();
    play.update(1, 10);
    play.answer(is_append, LogAnswer::Appended(AppendOutcome::Full));
    assert_eq!(play.outcomes(), [(1, Outcome::Busy)]);
    play.pass(7900);
    play.update(2, 10);
    assert_eq!(play.outcomes(), [(2, Outcome::Busy)]);
    assert!(
        play.questions
            .iter()
            .any(|(_, question)| *question == Question::Nodes)
    );
    play.pass(100);
    play.update(3, 10);
    assert_eq!(play.appends().len(), 1);
}

#[test]
fn a_leader_that_wins_again_reads_the_end_again() {
    let mut play = Play::leading();
    play.pass(1000);
    play.questions
        .retain(|(_, question)| !matches!(question, Question::End(_)));
    play.answer(
        |question| matches!(question, Question::Lead(..)),
        LogAnswer::Led(Leadership::Leading(Epoch(9))),
    );
    assert!(!play.node.is_leading(), "others may have appended");
    let end = LogAnswer::End(Head::default());
    play.answer(|question| *question == Question::End(EndUse::Begin), end);
    assert!(play.node.is_leading());
    play.update(1, 10);
    let epoch = play
        .questions
        .iter()
        .find_map(|(_, question)| match question {
            Question::Append(epoch, ..) => Some(*epoch),
            _ => None,
        });
    assert_eq!(epoch, Some(Epoch(9)));
}

/// Returns the bytes of the first batch, and the end behind it.
fn first_batch() -> (Vec<u8>, Head) {
    let mut other = Play::leading();
    other.update(1, 10);
    let bytes = other.appends().concat();
    other.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    (bytes, other.node.content().head())
}

#[test]
fn a_winner_with_more_than_the_end_follows() {
    let (bytes, head) = first_batch();
    let mut play = Play::new();
    play.renew();
    play.answer(
        |question| matches!(question, Question::Lead(..)),
        LogAnswer::Led(Leadership::Leading(Epoch(5))),
    );
    let batches = ReadOutcome::Batches(vec![(Position(1), bytes)]);
    play.answer(is_follow, LogAnswer::Batches(batches));
    assert_eq!(play.node.content().head(), head);
    let end = LogAnswer::End(Head::default());
    play.answer(|question| *question == Question::End(EndUse::Begin), end);
    assert!(!play.node.is_leading());
    assert_eq!(play.node.stopped(), None);
}

#[test]
fn a_winner_with_another_content_stops() {
    let (bytes, head) = first_batch();
    let mut play = Play::new();
    play.renew();
    play.answer(
        |question| matches!(question, Question::Lead(..)),
        LogAnswer::Led(Leadership::Leading(Epoch(5))),
    );
    let batches = ReadOutcome::Batches(vec![(Position(1), bytes)]);
    play.answer(is_follow, LogAnswer::Batches(batches));
    let other = Head {
        csn: csn(9),
        ..head
    };
    play.answer(
        |question| *question == Question::End(EndUse::Begin),
        LogAnswer::End(other),
    );
    assert_eq!(play.node.stopped(), Some(Divergence::Chain(Position(1))));
    assert!(!play.node.is_leading());
    // A copy of another node ends the stop.
    let copy = Numbers {
        head: other,
        ..Numbers::default()
    };
    play.node.copied(Some(copy));
    assert_eq!(play.node.stopped(), None);
}

#[test]
fn a_batch_that_cannot_be_committed_comes_again_from_the_log() {
    let mut play = Play::leading();
    play.update(1, 10);
    let bytes = play.appends().concat();
    play.node.content_mut().fails = true;
    play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    // The log has it, so it is done, and its client waits until it is here.
    assert_eq!(play.outcomes(), []);
    assert!(!play.node.is_leading());
    assert_eq!(play.node.position(), Position(0));
    let batches = |bytes| ReadOutcome::Batches(vec![(Position(1), bytes)]);
    play.node.content_mut().fails = true;
    play.pass(200);
    play.answer(is_follow, LogAnswer::Batches(batches(bytes.clone())));
    assert_eq!(play.node.position(), Position(0));
    assert_eq!(play.node.stopped(), None);
    play.pass(3000);
    play.answer(is_follow, LogAnswer::Batches(batches(bytes)));
    let done = Outcome::Settled(Position(1), true);
    assert_eq!(play.outcomes(), [(1, done)]);
}

#[test]
fn a_long_batch_is_divided() {
    let mut play = Play::leading();
    play.update(1, 10);
    for number in 2..=5 {
        play.update(number, 200_000);
    }
    play.update(6, LONG_BATCH_BYTES_MAX);
    for _ in 0..5 {
        if play.appends().is_empty() {
            break;
        }
        play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    }
    let outcomes = play.outcomes();
    assert_eq!(outcomes.len(), 6);
    assert_eq!(outcomes.last(), Some(&(6, Outcome::TooLong)));
    let done = |outcome: &Outcome<bool>| matches!(outcome, Outcome::Settled(_, true));
    assert!(outcomes.iter().take(5).all(|(_, outcome)| done(outcome)));
}

#[test]
fn a_deposed_leader_has_done_nothing() {
    let mut play = Play::leading();
    play.update(1, 10);
    play.update(2, 10);
    let refusal = Refusal {
        leader: Some(Epoch(9)),
        end: Position(1),
        present: Some(b"another batch".to_vec()),
    };
    play.answer(
        is_append,
        LogAnswer::Appended(AppendOutcome::Refused(refusal)),
    );
    assert_eq!(play.outcomes(), [(1, Outcome::Busy), (2, Outcome::Busy)]);
    assert!(!play.node.content().is_open && !play.node.is_leading());
    assert_eq!(play.node.content().head(), Head::default());
}

#[test]
fn a_read_waits_for_an_end_that_was_asked_for_after_it() {
    let mut play = Play::new();
    let time = play.time();
    play.node.read(1, None, time);
    // The log may have answered, and an update may be done, in the same millisecond.
    play.node.read(2, None, time);
    play.collect();
    let is_end = |question: &Question| *question == Question::End(EndUse::Readers);
    play.answer(is_end, LogAnswer::End(Head::default()));
    assert_eq!(play.served(), [1]);
    play.answer(is_end, LogAnswer::End(Head::default()));
    assert_eq!(play.served(), [2]);
}

#[test]
fn a_log_that_refuses_each_append_is_asked_with_pauses() {
    let mut play = Play::leading();
    play.update(1, 10);
    let count = play.answer_at_once(|question| match question {
        Question::Append(..) => Some(LogAnswer::Appended(AppendOutcome::Unknown)),
        Question::Look(_) => Some(LogAnswer::Batches(ReadOutcome::Batches(vec![]))),
        _ => None,
    });
    assert!((4..=12).contains(&count), "{count} questions in a second");
    // The log takes appends again.
    play.pass(1000);
    play.answer(
        |question| matches!(question, Question::Look(_)),
        LogAnswer::Batches(ReadOutcome::Batches(vec![])),
    );
    play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    let done = Outcome::Settled(Position(1), true);
    assert_eq!(play.outcomes(), [(1, done)]);
}

#[test]
fn a_log_that_refuses_each_read_is_asked_with_pauses() {
    let mut play = Play::leading();
    play.update(1, 10);
    let count = play.answer_at_once(|question| match question {
        Question::Append(..) => Some(LogAnswer::Appended(AppendOutcome::Unknown)),
        Question::Look(_) => Some(LogAnswer::Batches(ReadOutcome::Unavailable)),
        _ => None,
    });
    assert!((3..=12).contains(&count), "{count} questions in a second");
}

#[test]
fn a_log_that_does_not_confirm_refusals_is_asked_with_pauses() {
    let mut play = Play::leading();
    play.update(1, 0);
    let silent = |question: &Question| {
        let is_it = *question == Question::End(EndUse::Refusals);
        is_it.then_some(LogAnswer::Silence)
    };
    let count = play.answer_at_once(silent);
    assert!((3..=12).contains(&count), "{count} questions in a second");
    play.pass(100);
    let head = play.node.content().head();
    let is_end = |question: &Question| *question == Question::End(EndUse::Refusals);
    play.answer(is_end, LogAnswer::End(head));
    let refused = Outcome::Settled(Position(0), false);
    assert_eq!(play.outcomes(), [(1, refused)]);
}

const OTHER: NodeId = NodeId(2);

#[test]
fn the_oldest_program_decides_about_the_format() {
    let mut play = Play::leading();
    let state = |node, version| NodeState {
        node,
        version,
        applied: Position(0),
        durable: Position(0),
        clock_us: 0,
    };
    let version = |play: &mut Play, number, states: Vec<NodeState>| {
        play.pass(1000);
        play.answer(
            |question| *question == Question::Nodes,
            LogAnswer::Nodes(states),
        );
        play.update(number, 10);
        let batch = play.appends().concat();
        play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
        Batch::decode(&batch).expect("a batch").version
    };
    let newest = VERSION_NEWEST;
    assert_eq!(version(&mut play, 1, vec![state(OTHER, newest)]), 1);
    let mixed = vec![state(OWN, newest), state(OTHER, 1)];
    assert_eq!(version(&mut play, 2, mixed), 1);
    let new = vec![state(OWN, newest), state(OTHER, newest)];
    assert_eq!(version(&mut play, 3, new), newest);
}

#[test]
fn a_retired_leader_settles_its_batch_and_resigns() {
    let mut play = Play::leading();
    play.update(1, 10);
    play.update(2, 10);
    let time = play.time();
    play.node.retire(time);
    play.collect();
    assert!(!play.node.has_resigned());
    play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    let done = Outcome::Settled(Position(1), true);
    assert_eq!(play.outcomes(), [(1, done)]);
    play.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    play.pass(100);
    let done = Outcome::Settled(Position(2), true);
    assert_eq!(play.outcomes(), [(2, done)]);
    play.questions
        .retain(|(_, question)| !matches!(question, Question::Lead(..)));
    // Nobody takes back the attempt that was under way.
    play.pass(3000);
    play.answer(
        |question| matches!(question, Question::Resign(_)),
        LogAnswer::Done,
    );
    assert!(play.node.has_resigned() && !play.node.is_leading());
    play.pass(3000);
    let leads = |(_, question): &(u64, Question)| matches!(question, Question::Lead(..));
    assert!(!play.questions.iter().any(leads));
    play.update(3, 10);
    assert_eq!(play.outcomes(), [(3, Outcome::Busy)]);
}
