//! Updates of other nodes, whose answers are lost.

use super::*;

fn is_lost(question: &Question) -> bool {
    *question == Question::End(EndUse::Lost)
}

/// Lets another node do an update in the first batch, and returns its bytes.
fn batch_of(update: Forwarded<usize>) -> Vec<u8> {
    let mut sequencer = Play::leading_as(OTHER);
    let time = sequencer.time();
    sequencer.node.forwarded(update, time);
    sequencer.collect();
    sequencer.appends().concat()
}

#[test]
fn the_log_tells_an_outcome_whose_answer_is_lost() {
    let mut play = Play::following(OTHER, Epoch(5));
    play.update(1, 10);
    let batch = batch_of(play.forwarded());
    play.follow(vec![(Position(1), batch)]);
    // The sequencer's own answer has a second.
    assert_eq!(play.outcomes(), []);
    play.pass(1000);
    assert_eq!(play.outcomes(), [(1, Outcome::Recorded(Position(1), 0))]);
    // Nobody waits for it any more.
    play.node.replied(1, Outcome::Settled(Position(1), true));
    play.collect();
    assert_eq!(play.outcomes(), []);
}

#[test]
fn the_sequencers_answer_comes_first() {
    let mut play = Play::following(OTHER, Epoch(5));
    play.update(1, 10);
    let batch = batch_of(play.forwarded());
    play.follow(vec![(Position(1), batch)]);
    play.node.replied(1, Outcome::Settled(Position(1), true));
    play.collect();
    let done = Outcome::Settled(Position(1), true);
    assert_eq!(play.outcomes(), [(1, done)]);
}

#[test]
fn an_update_of_an_ended_leadership_is_in_the_log_or_was_not_done() {
    let mut play = Play::following(OTHER, Epoch(5));
    play.update(1, 10);
    let batch = batch_of(play.forwarded());
    play.update(2, 10);
    play.led(NodeId(3), Epoch(9));
    let end = Head {
        position: Position(1),
        ..Head::default()
    };
    play.outputs.clear();
    play.answer(is_lost, LogAnswer::End(end));
    // This node has not read so far.
    assert_eq!(play.outcomes(), []);
    play.follow(vec![(Position(1), batch)]);
    let recorded = Outcome::Recorded(Position(1), 0);
    assert_eq!(play.outcomes(), [(1, recorded), (2, Outcome::Busy)]);
}

#[test]
fn an_end_that_was_asked_for_before_does_not_count() {
    let mut play = Play::following(OTHER, Epoch(5));
    play.update(1, 10);
    play.led(NodeId(3), Epoch(9));
    let old = play
        .questions
        .iter()
        .find(|(_, question)| is_lost(question));
    let (call, _) = *old.expect("it was asked");
    play.led(OTHER, Epoch(12));
    let time = play.time();
    play.outputs.clear();
    play.node.told(call, LogAnswer::End(Head::default()), time);
    play.collect();
    assert_eq!(play.outcomes(), []);
    play.answer(is_lost, LogAnswer::End(Head::default()));
    assert_eq!(play.outcomes(), [(1, Outcome::Busy)]);
}

#[test]
fn a_sequencer_that_is_asked_refuses_what_comes_late() {
    let mut play = Play::following(OTHER, Epoch(5));
    play.update(1, 10);
    let update = play.forwarded();
    let mut sequencer = Play::leading();
    play.pass(1000);
    let asks = Output::Inquire(OTHER, 1, Epoch(5));
    assert!(play.outputs.contains(&asks));
    sequencer.node.inquired(OWN, 1, Epoch(5));
    sequencer.collect();
    let absent = Output::Absent(OWN, 1, Position(0));
    assert_eq!(std::mem::take(&mut sequencer.outputs), [absent]);
    play.outputs.clear();
    play.node.absent(1, Position(0));
    play.collect();
    assert_eq!(play.outcomes(), [(1, Outcome::Busy)]);
    // The update was in a buffer.
    let late = Forwarded {
        from: OTHER,
        ..update
    };
    let time = sequencer.time();
    sequencer.node.inquired(OTHER, 1, Epoch(5));
    sequencer.node.forwarded(late, time);
    sequencer.collect();
    assert!(sequencer.appends().is_empty());
}

#[test]
fn a_sequencer_that_has_the_update_says_nothing() {
    let mut sequencer = Play::leading();
    let time = sequencer.time();
    for number in 1..=2 {
        let update = Forwarded {
            number,
            update: 10,
            from: OTHER,
            epoch: Some(Epoch(5)),
        };
        sequencer.node.forwarded(update, time);
    }
    sequencer.collect();
    let asks = |sequencer: &mut Play| {
        for number in 1..=2 {
            sequencer.node.inquired(OTHER, number, Epoch(5));
        }
        sequencer.collect();
        let outputs = std::mem::take(&mut sequencer.outputs).into_iter();
        let absent = outputs.filter(|output| matches!(output, Output::Absent(..)));
        absent.count()
    };
    // One is in the batch, and one waits.
    assert_eq!(asks(&mut sequencer), 0);
    // The outcome of the first is unknown, and the second was refused.
    sequencer.pass(11_000);
    assert_eq!(asks(&mut sequencer), 0);
    sequencer
        .questions
        .retain(|(_, question)| !is_append(question));
    sequencer.answer(
        |question| matches!(question, Question::Look(_)),
        LogAnswer::Batches(ReadOutcome::Batches(vec![])),
    );
    sequencer.answer(is_append, LogAnswer::Appended(AppendOutcome::Appended));
    assert_eq!(asks(&mut sequencer), 2);
}

#[test]
fn a_later_leadership_takes_no_update_of_an_earlier_one() {
    let mut sequencer = Play::leading();
    let time = sequencer.time();
    let update = Forwarded {
        number: 1,
        update: 10,
        from: OTHER,
        epoch: Some(Epoch(4)),
    };
    sequencer.node.forwarded(update, time);
    sequencer.collect();
    let refused = Output::Reply(OTHER, 1, Outcome::Busy);
    assert_eq!(sequencer.outputs, [refused]);
}
