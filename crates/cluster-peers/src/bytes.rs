//! Reading and writing of numbers and texts. Numbers have fixed lengths, so each has one form.

use crate::error::FrameError;

/// The rest of the bytes.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(FrameError::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, FrameError> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn short(&mut self) -> Result<u16, FrameError> {
        self.array().map(u16::from_be_bytes)
    }

    fn word(&mut self) -> Result<u32, FrameError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn number(&mut self) -> Result<u64, FrameError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], FrameError> {
        let len = self.word()?;
        let len = usize::try_from(len).map_err(|_| FrameError::Truncated)?;
        let (taken, rest) = self.0.split_at_checked(len).ok_or(FrameError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn text(&mut self) -> Result<String, FrameError> {
        let text = str::from_utf8(self.bytes()?).map_err(|_| FrameError::Text)?;
        Ok(text.to_owned())
    }

    pub(crate) fn end(&self) -> Result<(), FrameError> {
        self.0.is_empty().then_some(()).ok_or(FrameError::Rest)
    }
}

/// Writes bytes with their length.
///
/// # Panics
/// If they have 4 GiB, which no bound lets through.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let len = u32::try_from(bytes.len()).expect("shorter than a frame");
    out.extend(len.to_be_bytes());
    out.extend(bytes);
}
