//! The thread that owns a node: messages in, wishes fulfilled.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use fulgurite_cluster::{ChangeLog, Content, Node, Outcome, Output, Time};

use crate::askers::{Askers, is_silence};
use crate::handle::Handle;
use crate::inbox::Message;
use crate::peers::{CopyProgress, Peers};
use crate::settings::DriverSettings;
use crate::status::{Board, DriverStatus};
use crate::waiters::Waiters;

/// Messages that the thread takes before it looks at the clock.
const MESSAGES_AT_ONCE: usize = 256;
/// The pause before a copy is asked for again, in milliseconds.
const COPY_PAUSE_MS: u64 = 1000;

/// A driver that does not run yet.
pub struct Driver<U, A> {
    settings: DriverSettings,
    inbox: Receiver<Message<U, A>>,
    outbox: SyncSender<Message<U, A>>,
    board: Arc<Board>,
}

impl<U, A> fmt::Debug for Driver<U, A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Driver");
        out.field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<U: Send + 'static, A: Send + 'static> Driver<U, A> {
    /// Returns a driver, and the way to it.
    #[must_use]
    pub fn new(settings: DriverSettings) -> (Driver<U, A>, Handle<U, A>) {
        let (outbox, inbox) = sync_channel(settings.inbox_max);
        let board = Arc::new(Board::default());
        let clock = Arc::clone(&settings.clock);
        let handle = Handle::new(outbox.clone(), Arc::clone(&board), clock);
        let driver = Driver {
            settings,
            inbox,
            outbox,
            board,
        };
        (driver, handle)
    }

    /// Runs a node on this thread until it is stopped, and returns its content. After
    /// [`Handle::abandon`], the content may have an open transaction.
    ///
    /// # Errors
    /// An error of `log`, which is called for each thread that asks.
    pub fn run<C, L, E>(
        self,
        content: C,
        peers: &mut impl Peers<C>,
        log: impl FnMut() -> Result<L, E>,
    ) -> Result<C, E>
    where
        C: Content<Update = U, Answer = A>,
        L: ChangeLog + Send + 'static,
    {
        // Also if the thread panics.
        let _ended = EndMark(&self.board);
        let outbox = self.outbox;
        let told = move |call, answer| {
            // The thread takes it, or has ended.
            drop(outbox.send(Message::Told(call, answer)));
        };
        let mut seat = Seat {
            askers: Askers::start(log, told)?,
            waiters: Waiters::new(self.settings.life),
            node: Node::new(
                self.settings.node,
                self.settings.waits,
                content,
                self.settings.life,
            ),
            peers,
            heard_ms: None,
            copy: Copying::No,
            end: Ending::No,
        };
        seat.run(&self.settings, &self.inbox, &self.board);
        Ok(seat.node.into_content())
    }
}

/// A mark on the board when the thread ends.
struct EndMark<'b>(&'b Board);

impl Drop for EndMark<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The copy of another node's content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copying {
    No,
    UnderWay,
    /// The node hears of the failure at this time.
    Failed(u64),
}

/// The end of the thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    No,
    /// It comes when everything is settled, or at this time.
    By(u64),
    Now,
}

/// A node with its surroundings, on its thread.
struct Seat<'p, C: Content, P> {
    node: Node<C>,
    peers: &'p mut P,
    askers: Askers,
    waiters: Waiters<C::Answer>,
    heard_ms: Option<u64>,
    copy: Copying,
    end: Ending,
}

impl<C: Content, P: Peers<C>> Seat<'_, C, P> {
    fn run(
        &mut self,
        settings: &DriverSettings,
        inbox: &Receiver<Message<C::Update, C::Answer>>,
        board: &Board,
    ) {
        let mut tick_ms = 0_u64;
        while !self.is_over((settings.clock)()) {
            let now_ms = (settings.clock)().now_ms;
            let wait = Duration::from_millis(tick_ms.saturating_sub(now_ms));
            let first = inbox.recv_timeout(wait).ok();
            let time = (settings.clock)();
            let rest = std::iter::from_fn(|| inbox.try_recv().ok());
            for message in first.into_iter().chain(rest).take(MESSAGES_AT_ONCE) {
                self.take(message, settings, time);
            }
            if time.now_ms >= tick_ms {
                tick_ms = time.now_ms + settings.tick_ms;
                self.node.tick(time);
                self.tick_copy(time);
            }
            // A client with an answer finds its position on the board.
            board.write(self.status(time));
            self.fulfil();
        }
        // The outcome of what the thread has not taken is certain.
        while let Ok(message) = inbox.try_recv() {
            if let Message::Update(_, reply) = message {
                reply.give(Outcome::Busy);
            }
        }
    }

    fn is_over(&self, time: Time) -> bool {
        match self.end {
            Ending::No => false,
            Ending::Now => true,
            Ending::By(end_ms) => {
                let is_settled = self.waiters.len() == 0 && self.node.has_resigned();
                is_settled || time.now_ms >= end_ms
            }
        }
    }

    fn take(
        &mut self,
        message: Message<C::Update, C::Answer>,
        settings: &DriverSettings,
        time: Time,
    ) {
        match message {
            Message::Told(call, answer) => {
                if !is_silence(&answer) {
                    self.heard_ms = Some(time.now_ms);
                }
                self.node.told(call, answer, time);
            }
            Message::Update(_, reply) if self.end != Ending::No => reply.give(Outcome::Busy),
            Message::Update(update, reply) => {
                let number = self.waiters.update(reply);
                self.node.update(number, update, time);
            }
            Message::Read(not_before, reply) => {
                let number = self.waiters.read(reply);
                self.node.read(number, not_before, time);
            }
            Message::Forwarded(update) => self.node.forwarded(update, time),
            Message::Replied(number, outcome) => {
                let here = self.node.position();
                let is_ahead = matches!(&outcome, Outcome::Settled(at, _) if *at > here);
                self.node.replied(number, outcome);
                if is_ahead {
                    // The client waits for a batch that the log has: the node asks for it now.
                    self.node.tick(time);
                }
            }
            Message::Inquired(from, number, epoch) => self.node.inquired(from, number, epoch),
            Message::Absent(number, upto) => {
                let is_ahead = upto > self.node.position();
                self.node.absent(number, upto);
                if is_ahead {
                    self.node.tick(time);
                }
            }
            Message::Stop if self.end == Ending::No => {
                self.end = Ending::By(time.now_ms + settings.stop_wait_ms);
                self.node.retire(time);
            }
            Message::Stop => {}
            Message::Abandon => self.end = Ending::Now,
        }
    }

    /// Fulfils the wishes of the node, and those that come up meanwhile.
    fn fulfil(&mut self) {
        loop {
            let outputs = self.node.take_outputs();
            if outputs.is_empty() {
                return;
            }
            for output in outputs {
                self.carry(output);
            }
        }
    }

    fn carry(&mut self, output: Output<C::Update, C::Answer>) {
        let here = self.node.position();
        match output {
            Output::Ask(call, question) => self.askers.ask(call, question),
            Output::Forward(to, update) => {
                let number = update.number;
                if !self.peers.forward(to, update) {
                    self.node.replied(number, Outcome::Busy);
                }
            }
            Output::Reply(to, number, outcome) => self.peers.reply(to, number, outcome),
            Output::Inquire(to, number, epoch) => self.peers.inquire(to, number, epoch),
            Output::Absent(to, number, upto) => self.peers.absent(to, number, upto),
            Output::Answer(number, outcome) => self.waiters.answer(number, outcome),
            Output::Serve(number) => self.waiters.serve(number, Some(here)),
            Output::Refuse(number) => self.waiters.serve(number, None),
            Output::Copy => self.begin_copy(),
            Output::Applied => self.peers.applied(here),
        }
    }

    fn begin_copy(&mut self) {
        self.copy = Copying::UnderWay;
        self.peers.begin_copy();
    }

    fn tick_copy(&mut self, time: Time) {
        match self.copy {
            Copying::No => {}
            Copying::Failed(end_ms) if time.now_ms < end_ms => {}
            Copying::Failed(_) => {
                self.copy = Copying::No;
                self.node.copied(None);
            }
            Copying::UnderWay => match self.peers.copy() {
                CopyProgress::Waiting => {}
                CopyProgress::Done(content) => {
                    self.copy = Copying::No;
                    self.node.copied(Some(content));
                }
                CopyProgress::Failed => self.copy = Copying::Failed(time.now_ms + COPY_PAUSE_MS),
            },
        }
    }

    fn status(&self, time: Time) -> DriverStatus {
        DriverStatus {
            leader: self.node.leader(),
            is_leading: self.node.is_leading(),
            epoch: self.node.epoch(),
            newest_epoch: self.node.newest_epoch(),
            position: self.node.position(),
            durable: self.node.content().durable(),
            stopped: self.node.stopped(),
            waiting: self.waiters.len(),
            trouble: self.askers.trouble(),
            answers: self.askers.figures(),
            heard_ms: self.heard_ms,
            told_ms: time.now_ms,
            has_ended: false,
        }
    }
}
