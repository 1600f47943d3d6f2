//! Reading and writing of bytes, numbers and texts. Each number has one form.

use super::malformed::Malformed;

/// The rest of the bytes.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads a LEB128 number in its shortest form.
    pub(super) fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return Err(Malformed::Number);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || shift == 0;
                return is_shortest.then_some(number).ok_or(Malformed::Number);
            }
        }
        Err(Malformed::Number)
    }

    /// Reads a number of things that need at least a byte each.
    pub(super) fn count(&mut self) -> Result<usize, Malformed> {
        let count = self.number()?;
        let fits = usize::try_from(count).ok();
        let fits = fits.filter(|count| *count <= self.0.len());
        fits.ok_or(Malformed::Count(count))
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        let len = self.count()?;
        str::from_utf8(self.take(len)?).map_err(|_| Malformed::Text)
    }
}

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}
