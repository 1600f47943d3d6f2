//! The bytes of one connection, as commands and answers.

use super::answer::{BAD_CHUNK, ERROR};
use super::binary;
use super::classic::{self, StorageLine, storage_mode};
use super::context::{Context, Interrupt};
use super::meta;
use super::meta_set::{self, MetaSetLine};
use super::report;
use super::retrieval::Retrieval;
use super::storing::StoringLine;
use super::users::TOKEN_MAX;
use super::words::{self, Words};

/// The longest line of most commands, in bytes.
const LINE_MAX: usize = 2048;

/// The longest line of keys, in bytes.
const KEYS_LINE_MAX: usize = 1 << 20;

/// Bytes of output that wait for the client, at which no further command begins.
const OUTPUT_MAX: usize = 256 * 1024;

/// Capacity of a buffer that an idle connection keeps.
const IDLE_CAPACITY: usize = 64 * 1024;

/// The reason why a session stops.
#[derive(Debug)]
pub(crate) enum Pause {
    /// It needs more input.
    Input,
    /// The client has to take output first.
    Output,
    /// The next command writes.
    Writer,
    /// The connection ends after the output.
    Close,
    /// The transaction failed.
    Failed(fulgurite::Error),
}

/// The end of a command in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandEnd {
    /// Behind the line.
    Line,
    /// Behind this number of bytes after the line.
    Value(usize),
    /// This number of bytes after the line is dropped, also those that have not come.
    Dropped(usize),
    /// A part of the command has not come.
    Incomplete,
    /// At this offset in the line the command goes on later.
    Resumes(usize),
    /// The connection ends.
    Close,
}

/// The position of a session, to go back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    start: usize,
    output: usize,
    dropping: usize,
    resumes: Option<usize>,
    is_admitted: bool,
    is_closing: bool,
}

/// The state of a connection's protocol.
#[derive(Debug, Default)]
pub(crate) struct Session {
    input: Vec<u8>,
    /// The first byte of the next command.
    start: usize,
    output: Vec<u8>,
    sent: usize,
    /// Bytes of a refused value that are to come.
    dropping: usize,
    /// The offset in the line at which a long retrieval goes on.
    resumes: Option<usize>,
    /// True if the input may hold a command that has not run.
    has_commands: bool,
    is_admitted: bool,
    is_closing: bool,
}

impl Session {
    /// Takes bytes of the client.
    pub(crate) fn receive(&mut self, mut bytes: &[u8]) {
        if self.start == self.input.len() {
            let dropped = self.dropping.min(bytes.len());
            self.dropping -= dropped;
            bytes = bytes.get(dropped..).unwrap_or_default();
        }
        self.input.drain(..self.start);
        self.start = 0;
        if self.input.is_empty() && self.input.capacity() > IDLE_CAPACITY {
            self.input = Vec::new();
        }
        self.input.extend_from_slice(bytes);
    }

    /// Returns output that is to be sent.
    pub(crate) fn unsent(&self) -> &[u8] {
        self.output.get(self.sent..).unwrap_or_default()
    }

    /// Records that output was sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.output.len() {
            self.output.clear();
            self.sent = 0;
            if self.output.capacity() > 4 * OUTPUT_MAX {
                self.output = Vec::new();
            }
        } else if self.sent >= OUTPUT_MAX {
            // A client that never takes everything would keep all that was ever sent.
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Returns true if the client has to take output before the next command.
    fn output_is_full(&self) -> bool {
        self.unsent().len() >= OUTPUT_MAX
    }

    /// Returns true if commands may wait in the input. Until they have run, the client keeps
    /// others. So a session holds one incomplete command and the bytes of one read at most.
    pub(crate) fn has_commands(&self) -> bool {
        self.has_commands
    }

    /// Returns true if there is input that no command has taken.
    fn has_input(&self) -> bool {
        self.start < self.input.len()
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            start: self.start,
            output: self.output.len(),
            dropping: self.dropping,
            resumes: self.resumes,
            is_admitted: self.is_admitted,
            is_closing: self.is_closing,
        }
    }

    /// Goes back to a mark. No output may have been sent since.
    pub(crate) fn go_back(&mut self, mark: Mark) {
        self.start = mark.start;
        self.output.truncate(mark.output);
        self.dropping = mark.dropping;
        self.resumes = mark.resumes;
        self.is_admitted = mark.is_admitted;
        self.is_closing = mark.is_closing;
    }

    /// Ends the session after its output, because the cache cannot be read.
    pub(crate) fn fail(&mut self) {
        self.output
            .extend_from_slice(b"SERVER_ERROR the cache cannot be read\r\n");
        self.is_closing = true;
    }

    /// Runs commands until it has to stop.
    pub(crate) fn run(&mut self, context: &mut Context<'_, '_>) -> Pause {
        let pause = self.run_commands(context);
        self.has_commands = !matches!(pause, Pause::Input);
        pause
    }

    fn run_commands(&mut self, context: &mut Context<'_, '_>) -> Pause {
        loop {
            if self.is_closing {
                return Pause::Close;
            }
            if self.output_is_full() {
                return Pause::Output;
            }
            let dropped = self.dropping.min(self.input.len() - self.start);
            self.dropping -= dropped;
            self.start += dropped;
            if !self.has_input() {
                return Pause::Input;
            }
            match self.step(context) {
                Ok(true) => {}
                Ok(false) => return Pause::Input,
                Err(Interrupt::NeedsWriter) => return Pause::Writer,
                Err(Interrupt::Engine(error)) => return Pause::Failed(error),
                Err(Interrupt::Refused(_)) => return Pause::Close,
            }
        }
    }

    /// Runs one command. Returns false if a part of it has not come.
    fn step(&mut self, context: &mut Context<'_, '_>) -> Result<bool, Interrupt> {
        let Session {
            input,
            output,
            start,
            ..
        } = self;
        let rest = input.get(*start..).unwrap_or_default();
        if rest.first() == Some(&binary::REQUEST) {
            return Ok(self.refuse_binary());
        }
        let Some(length) = memchr::memchr(b'\n', rest) else {
            self.is_closing = is_too_long(rest);
            return Ok(self.is_closing);
        };
        let line = rest.get(..length).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let following = rest.get(length + 1..).unwrap_or_default();
        let begin = output.len();
        let mut command = Command {
            context,
            line,
            following,
            output,
            is_admitted: &mut self.is_admitted,
        };
        let end = match command.run(self.resumes) {
            Ok(end) => end,
            Err(interrupt) => {
                output.truncate(begin);
                return Err(interrupt);
            }
        };
        let behind = *start + length + 1;
        self.resumes = None;
        match end {
            CommandEnd::Line => self.start = behind,
            CommandEnd::Value(bytes) => self.start = behind + bytes,
            CommandEnd::Dropped(bytes) => {
                self.start = behind;
                self.dropping = bytes;
            }
            CommandEnd::Incomplete => return Ok(false),
            CommandEnd::Resumes(offset) => self.resumes = Some(offset),
            CommandEnd::Close => self.is_closing = true,
        }
        Ok(true)
    }

    /// Answers a request of the binary protocol, and ends.
    fn refuse_binary(&mut self) -> bool {
        let rest = self.input.get(self.start..).unwrap_or_default();
        let Some(header) = rest.get(..binary::HEADER_BYTES) else {
            return false;
        };
        binary::refuse(header, &mut self.output);
        self.is_closing = true;
        true
    }
}

/// Returns true if no command has a line that begins so and is not at its end yet.
fn is_too_long(rest: &[u8]) -> bool {
    let name = words::split(rest).next().unwrap_or_default();
    match Retrieval::named(name) {
        Some(_) => rest.len() > KEYS_LINE_MAX,
        None => rest.len() > LINE_MAX,
    }
}

/// A command with its surroundings.
struct Command<'s, 'a, 'c> {
    context: &'s mut Context<'a, 'c>,
    line: &'s [u8],
    /// The bytes behind the line that have come.
    following: &'s [u8],
    output: &'s mut Vec<u8>,
    is_admitted: &'s mut bool,
}

impl<'s> Command<'s, '_, '_> {
    fn run(&mut self, resumes: Option<usize>) -> Result<CommandEnd, Interrupt> {
        let name = words::split(self.line).next().unwrap_or_default();
        if !*self.is_admitted && self.context.server.users.is_some() {
            return Ok(self.admit(name));
        }
        if let Some(retrieval) = Retrieval::named(name) {
            let offset = resumes.unwrap_or(0);
            let next = retrieval.answer(self.context, self.line, offset, self.output);
            let next = settle(next, self.output)?.flatten();
            return Ok(next.map_or(CommandEnd::Line, CommandEnd::Resumes));
        }
        let words = Words::of(self.line);
        match name {
            b"ms" => self.meta_set(&words),
            _ => match storage_mode(name) {
                Some(mode) => self.storage(&words, mode),
                None => self.other(name, &words),
            },
        }
    }

    fn other(&mut self, name: &[u8], words: &Words<'_>) -> Result<CommandEnd, Interrupt> {
        let (context, output) = (&mut *self.context, &mut *self.output);
        let begin = output.len();
        let mut takes_noreply = true;
        let done = match name {
            b"delete" => classic::delete(context, words, output),
            b"incr" => classic::count(context, words, false, output),
            b"decr" => classic::count(context, words, true, output),
            b"touch" => classic::touch(context, words, output),
            b"flush_all" => classic::flush_all(context, words, output),
            b"verbosity" => {
                classic::verbosity(words, output);
                Ok(())
            }
            _ => {
                takes_noreply = false;
                self.unanswered(name, words)
            }
        };
        if name == b"quit" {
            return Ok(CommandEnd::Close);
        }
        settle(done, self.output)?;
        if takes_noreply && words.ends_with_noreply() && self.output.get(begin..) != Some(ERROR) {
            self.output.truncate(begin);
        }
        Ok(CommandEnd::Line)
    }

    /// Runs a command that always has an answer.
    fn unanswered(&mut self, name: &[u8], words: &Words<'_>) -> Result<(), Interrupt> {
        let (context, output) = (&mut *self.context, &mut *self.output);
        match name {
            b"mg" => meta::get(context, words, output)?,
            b"md" => meta::delete(context, words, output)?,
            b"ma" => meta::count(context, words, output)?,
            b"me" => meta::debug(context, words, output)?,
            b"mn" => output.extend_from_slice(b"MN\r\n"),
            b"stats" => report::stats(context, words, output)?,
            b"version" => {
                output.extend_from_slice(b"VERSION ");
                output.extend_from_slice(context.server.version.as_bytes());
                output.extend_from_slice(b"\r\n");
            }
            b"shutdown" => output.extend_from_slice(b"ERROR: shutdown not enabled\r\n"),
            b"quit" => {}
            _ => output.extend_from_slice(ERROR),
        }
        Ok(())
    }

    fn storage(
        &mut self,
        words: &Words<'_>,
        mode: (crate::cache::changes::StoreMode, bool),
    ) -> Result<CommandEnd, Interrupt> {
        let is_silent = words.ends_with_noreply();
        let begin = self.output.len();
        let line = match StorageLine::read(words, mode) {
            Ok(line) => line,
            Err(answer) => {
                if !is_silent || answer == ERROR {
                    self.output.extend_from_slice(answer);
                }
                return Ok(CommandEnd::Line);
            }
        };
        let end = self.store(line.length, &line)?;
        if is_silent {
            self.output.truncate(begin);
        }
        Ok(end)
    }

    fn meta_set(&mut self, words: &Words<'_>) -> Result<CommandEnd, Interrupt> {
        let length = match meta_set::length_of(words) {
            Ok(length) => length,
            Err(_) if words.count() < 2 => {
                self.output.extend_from_slice(ERROR);
                return Ok(CommandEnd::Line);
            }
            Err(answer) => {
                self.output.extend_from_slice(answer);
                return Ok(CommandEnd::Line);
            }
        };
        let line = match MetaSetLine::read(words, self.context.now_s) {
            Ok(line) => line,
            Err(answer) => {
                self.output.extend_from_slice(answer);
                return Ok(CommandEnd::Dropped(length + 2));
            }
        };
        self.store(length, &line)
    }

    /// Takes the value behind a line, and stores it.
    fn store(&mut self, length: usize, line: &impl StoringLine) -> Result<CommandEnd, Interrupt> {
        let (done, end) = match self.value(length) {
            Value::Incomplete => return Ok(CommandEnd::Incomplete),
            Value::TooLarge(end) => (line.refuse(self.context, self.output), end),
            Value::Wrong(end) => {
                self.output.extend_from_slice(BAD_CHUNK);
                (Ok(()), end)
            }
            Value::Complete(value, end) => (line.store(self.context, value, self.output), end),
        };
        settle(done, self.output)?;
        Ok(end)
    }

    /// Takes the first command of a client: a `set` whose value is a user and a password.
    fn admit(&mut self, name: &[u8]) -> CommandEnd {
        let words = Words::of(self.line);
        let length = words::unsigned(words.at(4)).and_then(|length| usize::try_from(length).ok());
        let length = match length {
            Some(length) if name == b"set" => length,
            _ => {
                let answer = b"CLIENT_ERROR unauthenticated\r\n";
                self.output.extend_from_slice(answer);
                return CommandEnd::Line;
            }
        };
        let counters = self.context.counters;
        counters.auth_commands.up();
        if length > TOKEN_MAX {
            let answer = b"CLIENT_ERROR bad authentication token format\r\n";
            self.output.extend_from_slice(answer);
            return CommandEnd::Dropped(length.saturating_add(2));
        }
        let (token, end) = match self.value(length) {
            Value::Incomplete => return CommandEnd::Incomplete,
            Value::Complete(token, end) => (token, end),
            Value::Wrong(end) | Value::TooLarge(end) => (&b""[..], end),
        };
        let users = self.context.server.users.as_ref();
        *self.is_admitted = users.is_some_and(|users| users.admit(token));
        if *self.is_admitted {
            self.output.extend_from_slice(b"STORED\r\n");
        } else {
            counters.auth_errors.up();
            let answer = b"CLIENT_ERROR authentication failure\r\n";
            self.output.extend_from_slice(answer);
        }
        end
    }

    /// Takes the value of a length from the bytes behind the line.
    fn value(&self, length: usize) -> Value<'s> {
        let with_end = length.saturating_add(2);
        if length > self.context.server.value_max {
            return Value::TooLarge(CommandEnd::Dropped(with_end));
        }
        let following: &'s [u8] = self.following;
        match following.get(..with_end) {
            None => Value::Incomplete,
            Some(bytes) => match bytes.strip_suffix(b"\r\n") {
                Some(value) => Value::Complete(value, CommandEnd::Value(with_end)),
                None => Value::Wrong(CommandEnd::Value(with_end)),
            },
        }
    }
}

/// The value behind a line.
enum Value<'b> {
    Incomplete,
    TooLarge(CommandEnd),
    /// No line end is behind it.
    Wrong(CommandEnd),
    Complete(&'b [u8], CommandEnd),
}

/// Writes the reason of a refused change as the answer. Passes other interrupts on.
fn settle<T>(done: Result<T, Interrupt>, output: &mut Vec<u8>) -> Result<Option<T>, Interrupt> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(Interrupt::Refused(reason)) => {
            output.extend_from_slice(b"SERVER_ERROR ");
            output.extend_from_slice(reason.as_bytes());
            output.extend_from_slice(b"\r\n");
            Ok(None)
        }
        Err(other) => Err(other),
    }
}
