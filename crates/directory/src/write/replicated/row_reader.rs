//! Reading the rows that replication keeps next to the entries.

use fulgurite_store::PackedCsn;

/// The rest of a row.
pub(super) struct RowReader<'r>(pub(super) &'r [u8]);

impl<'r> RowReader<'r> {
    pub(super) fn take(&mut self, len: usize) -> Option<&'r [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<&'r [u8]> {
        let len = self.number()?;
        self.take(len)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let bytes = self.bytes()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn csn(&mut self) -> Option<Option<PackedCsn>> {
        match self.take(1)? {
            [0] => Some(None),
            [1] => Some(Some(PackedCsn::from_bytes(self.take(PackedCsn::LEN)?)?)),
            _ => None,
        }
    }
}
