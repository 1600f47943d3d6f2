//! `ms`: the meta command with a value.

use super::answer::{BAD_FORMAT, push_number};
use super::context::Context;
use super::meta_flags::MetaFlags;
use super::storing::StoringLine;
use super::words::{self, KEY_MAX, Words};
use crate::cache::changes::{NewItem, StoreMode, StoreOutcome};

/// The line of `ms`.
#[derive(Debug)]
pub(super) struct MetaSetLine<'l> {
    flags: MetaFlags<'l>,
    mode: StoreMode,
}

/// Returns the length of the value, or the answer to a line after which no value is expected.
pub(super) fn length_of(words: &Words<'_>) -> Result<usize, &'static [u8]> {
    if words.count() < 3 || words.at(1).len() > KEY_MAX {
        return Err(BAD_FORMAT);
    }
    let length = words::unsigned(words.at(2)).and_then(|length| i32::try_from(length).ok());
    length.map(|length| length as usize).ok_or(BAD_FORMAT)
}

impl<'l> MetaSetLine<'l> {
    /// Reads the flags, or returns the answer to wrong ones. The value is then skipped.
    pub(super) fn read(words: &'l Words<'l>, now_s: u32) -> Result<MetaSetLine<'l>, &'static [u8]> {
        let flags = MetaFlags::read(words, 3, now_s)?;
        flags.check_opaque()?;
        let mode = match flags.mode {
            None | Some(b'S') => StoreMode::Set,
            Some(b'E') => StoreMode::Add,
            Some(b'A') => StoreMode::Append,
            Some(b'P') => StoreMode::Prepend,
            Some(b'R') => StoreMode::Replace,
            Some(_) => return Err(b"CLIENT_ERROR invalid mode for ms M token\r\n"),
        };
        Ok(MetaSetLine { flags, mode })
    }
}

impl StoringLine for MetaSetLine<'_> {
    fn key(&self) -> &[u8] {
        self.flags.key()
    }

    fn item<'v>(&self, value: &'v [u8], _now_s: u32) -> NewItem<'v> {
        let flags = &self.flags;
        NewItem {
            mode: self.mode,
            client_flags: flags.client_flags,
            expiry_s: flags.expiry_s.unwrap_or(0),
            value,
            cas: flags.cas,
            invalidates: flags.has(b'I'),
            has_binary_key: flags.has(b'b'),
        }
    }

    fn answer(&self, context: &Context<'_, '_>, outcome: StoreOutcome, output: &mut Vec<u8>) {
        let flags = &self.flags;
        context.counters.metas.up();
        context.counters.sets.up();
        let (code, cas): (&[u8], _) = match outcome {
            StoreOutcome::Stored(_) if flags.has(b'q') => return,
            StoreOutcome::Stored(cas) => (b"HD", cas),
            StoreOutcome::NotStored => (b"NS", 0),
            StoreOutcome::Exists => (b"EX", 0),
            StoreOutcome::NotFound => (b"NF", 0),
        };
        output.extend_from_slice(code);
        for word in flags.words {
            if word.first() == Some(&b'c') {
                output.extend_from_slice(b" c");
                push_number(output, cas);
            } else {
                flags.write_own_flag(word, output);
            }
        }
        output.extend_from_slice(b"\r\n");
    }
}
