//! A line with a value behind it: what `set` and its relatives share with `ms`.

use super::answer::{NO_ROOM, TOO_LARGE};
use super::context::{Context, Interrupt};
use crate::cache::changes::{NewItem, StoreMode, StoreOutcome};

/// The line of a command that stores a value.
pub(super) trait StoringLine {
    fn key(&self) -> &[u8];

    /// Returns the item for a value.
    fn item<'v>(&self, value: &'v [u8], now_s: u32) -> NewItem<'v>;

    /// Counts the command and writes its answer.
    fn answer(&self, context: &Context<'_, '_>, outcome: StoreOutcome, output: &mut Vec<u8>);

    /// Stores a value.
    fn store(
        &self,
        context: &mut Context<'_, '_>,
        value: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Interrupt> {
        let new = self.item(value, context.now_s);
        let changes = context.changes()?;
        if changes.refuses_new()? {
            output.extend_from_slice(NO_ROOM);
            return Ok(());
        }
        let outcome = changes.store(self.key(), &new)?;
        self.answer(context, outcome, output);
        Ok(())
    }

    /// Refuses a value that is too long. An older value would be out of date, so it goes.
    fn refuse(&self, context: &mut Context<'_, '_>, output: &mut Vec<u8>) -> Result<(), Interrupt> {
        context.counters.too_large.up();
        let is_set = self.item(b"", context.now_s).mode == StoreMode::Set;
        if is_set && context.get(self.key())?.is_some() {
            context.changes()?.delete(self.key())?;
        }
        output.extend_from_slice(TOO_LARGE);
        Ok(())
    }
}
