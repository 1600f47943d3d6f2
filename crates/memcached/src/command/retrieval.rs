//! `get`, `gets`, `gat` and `gats`: many keys in one line.
//!
//! An answer may be longer than the session's buffer of output. So the command stops between two
//! keys, and goes on behind the last one later.

use super::answer::{BAD_EXPIRY, BAD_FORMAT, END, ERROR, push_number};
use super::context::{Context, Interrupt};
use super::words::{self, KEY_MAX};

/// Bytes of output at which a command stops between two keys.
const STEP_BYTES: usize = 256 * 1024;

/// A command of this family.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retrieval {
    pub(super) shows_cas: bool,
    pub(super) touches: bool,
}

impl Retrieval {
    /// Returns the command of a name.
    pub(super) fn named(name: &[u8]) -> Option<Retrieval> {
        let (touches, shows_cas) = match name {
            b"get" => (false, false),
            b"gets" => (false, true),
            b"gat" => (true, false),
            b"gats" => (true, true),
            _ => return None,
        };
        Some(Retrieval { shows_cas, touches })
    }

    /// Answers for the keys of a line from an offset on. Returns the offset to go on at, if there
    /// are more.
    pub(super) fn answer(
        self,
        context: &mut Context<'_, '_>,
        line: &[u8],
        offset: usize,
        output: &mut Vec<u8>,
    ) -> Result<Option<usize>, Interrupt> {
        let begin = output.len();
        let mut rest = Rest { line, at: offset };
        let mut expiry_s = None;
        if self.touches {
            let mut all = Rest { line, at: 0 };
            let word = all.nth(1).unwrap_or_default();
            if word.is_empty() {
                output.extend_from_slice(ERROR);
                return Ok(None);
            }
            expiry_s = words::expiry_s(word, context.now_s);
            if expiry_s.is_none() {
                output.extend_from_slice(BAD_EXPIRY);
                return Ok(None);
            }
            rest.at = rest.at.max(all.at);
        } else if offset == 0 {
            rest.next();
            if rest.clone().next().is_none() {
                output.extend_from_slice(ERROR);
                return Ok(None);
            }
        }
        while let Some(key) = rest.next() {
            if key.len() > KEY_MAX {
                output.truncate(begin);
                output.extend_from_slice(BAD_FORMAT);
                return Ok(None);
            }
            self.answer_key(context, key, expiry_s, output)?;
            if output.len() - begin >= STEP_BYTES {
                return Ok(Some(rest.at));
            }
        }
        output.extend_from_slice(END);
        Ok(None)
    }

    fn answer_key(
        self,
        context: &mut Context<'_, '_>,
        key: &[u8],
        expiry_s: Option<u32>,
        output: &mut Vec<u8>,
    ) -> Result<(), Interrupt> {
        let counters = context.counters;
        if expiry_s.is_some() {
            context.changes()?;
            counters.touches.up();
        }
        counters.gets.up();
        let Some(item) = context.get(key)? else {
            counters.get_expired_or_missed.up();
            return Ok(());
        };
        output.extend_from_slice(b"VALUE ");
        output.extend_from_slice(key);
        output.push(b' ');
        push_number(output, item.client_flags.into());
        output.push(b' ');
        push_number(output, item.value.len() as u64);
        if self.shows_cas {
            output.push(b' ');
            push_number(output, item.cas);
        }
        output.extend_from_slice(b"\r\n");
        output.extend_from_slice(item.value);
        output.extend_from_slice(b"\r\n");
        let cas = item.cas;
        context.cache.recency.fetched(key, cas, context.now_s);
        counters.get_hits.up();
        if let Some(expiry_s) = expiry_s {
            counters.touch_hits.up();
            context.changes()?.touch(key, expiry_s)?;
        }
        Ok(())
    }
}

/// The words of a line, with the offset behind the last one.
#[derive(Debug, Clone)]
struct Rest<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> Iterator for Rest<'l> {
    type Item = &'l [u8];

    fn next(&mut self) -> Option<&'l [u8]> {
        let rest = self.line.get(self.at..)?;
        let begin = rest.iter().position(|byte| *byte != b' ')?;
        let rest = rest.get(begin..)?;
        let length = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        self.at += begin + length;
        rest.get(..length)
    }
}
