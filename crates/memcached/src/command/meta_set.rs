//! `ms`: the meta command with a value.

use super::answer::{BAD_FORMAT, NO_ROOM, TOO_LARGE, push_number};
use super::context::{Context, Interrupt};
use super::meta_flags::MetaFlags;
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

    /// Stores a value.
    pub(super) fn store(
        &self,
        context: &mut Context<'_, '_>,
        value: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Interrupt> {
        let flags = &self.flags;
        let counters = context.counters;
        let changes = context.changes()?;
        if changes.refuses_new()? {
            output.extend_from_slice(NO_ROOM);
            return Ok(());
        }
        let outcome = changes.store(
            flags.key(),
            &NewItem {
                mode: self.mode,
                client_flags: flags.client_flags,
                expiry_s: flags.expiry_s.unwrap_or(0),
                value,
                cas: flags.cas,
                invalidates: flags.has(b'I'),
                has_binary_key: flags.has(b'b'),
            },
        )?;
        counters.metas.up();
        counters.sets.up();
        let (code, cas): (&[u8], _) = match outcome {
            StoreOutcome::Stored(_) if flags.has(b'q') => return Ok(()),
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
        Ok(())
    }

    /// Refuses a value that is too long. An older value would be out of date, so it goes.
    pub(super) fn refuse(
        &self,
        context: &mut Context<'_, '_>,
        output: &mut Vec<u8>,
    ) -> Result<(), Interrupt> {
        context.counters.too_large.up();
        let key = self.flags.key();
        if self.mode == StoreMode::Set && context.get(key)?.is_some() {
            context.changes()?.delete(key)?;
        }
        output.extend_from_slice(TOO_LARGE);
        Ok(())
    }
}
