//! Numbers, texts and lists as bytes.

/// The reason why the bytes of another node are no update and no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message of another node cannot be read: {0}")]
pub struct WireError(pub(super) &'static str);

/// The rest of the bytes.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let taken = self.0.split_first_chunk();
        let (taken, rest) = taken.ok_or(WireError("it ends too early"))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, WireError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn truth(&mut self) -> Result<bool, WireError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError("a truth value is neither")),
        }
    }

    pub(super) fn word(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let len = usize::try_from(self.word()?).ok();
        let taken = len.and_then(|len| self.0.split_at_checked(len));
        let (taken, rest) = taken.ok_or(WireError("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, WireError> {
        str::from_utf8(self.bytes()?).map_err(|_| WireError("a text is no UTF-8"))
    }

    /// Reads a value that may be absent.
    pub(super) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, WireError>,
    ) -> Result<Option<T>, WireError> {
        match self.truth()? {
            true => read(self).map(Some),
            false => Ok(None),
        }
    }

    /// Reads a list. Its memory grows with the bytes that are there, not with the count.
    pub(super) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let count = self.word()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    pub(super) fn end(&self) -> Result<(), WireError> {
        let is_end = self.0.is_empty();
        is_end
            .then_some(())
            .ok_or(WireError("it has more bytes than it says"))
    }
}

/// Appends a count.
///
/// # Panics
/// If it has more than 32 bits, which no message has.
fn put_count(out: &mut Vec<u8>, count: usize) {
    let count = u32::try_from(count).expect("a message is shorter");
    out.extend(count.to_be_bytes());
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend(bytes);
}

pub(super) fn put_optional<T>(
    out: &mut Vec<u8>,
    value: Option<T>,
    put: impl FnOnce(&mut Vec<u8>, T),
) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

pub(super) fn put_list<T>(
    out: &mut Vec<u8>,
    list: impl ExactSizeIterator<Item = T>,
    mut put: impl FnMut(&mut Vec<u8>, T),
) {
    put_count(out, list.len());
    list.for_each(|item| put(out, item));
}
