//! Texts and numbers of answers.

pub(super) const ERROR: &[u8] = b"ERROR\r\n";
pub(super) const BAD_FORMAT: &[u8] = b"CLIENT_ERROR bad command line format\r\n";
pub(super) const BAD_CHUNK: &[u8] = b"CLIENT_ERROR bad data chunk\r\n";
pub(super) const BAD_EXPIRY: &[u8] = b"CLIENT_ERROR invalid exptime argument\r\n";
pub(super) const BAD_DELTA: &[u8] = b"CLIENT_ERROR invalid numeric delta argument\r\n";
pub(super) const BAD_DELETE: &[u8] =
    b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
pub(super) const NOT_NUMERIC: &[u8] =
    b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
pub(super) const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";
pub(super) const NO_ROOM: &[u8] = b"SERVER_ERROR out of memory storing object\r\n";
pub(super) const STORED: &[u8] = b"STORED\r\n";
pub(super) const NOT_STORED: &[u8] = b"NOT_STORED\r\n";
pub(super) const EXISTS: &[u8] = b"EXISTS\r\n";
pub(super) const NOT_FOUND: &[u8] = b"NOT_FOUND\r\n";
pub(super) const DELETED: &[u8] = b"DELETED\r\n";
pub(super) const TOUCHED: &[u8] = b"TOUCHED\r\n";
pub(super) const OK: &[u8] = b"OK\r\n";
pub(super) const END: &[u8] = b"END\r\n";

/// Appends a number in decimal digits.
pub(super) fn push_number(output: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut left = number;
    let mut length = 0;
    for place in digits.iter_mut().rev() {
        *place = b'0' + (left % 10) as u8;
        left /= 10;
        length += 1;
        if left == 0 {
            break;
        }
    }
    output.extend_from_slice(digits.get(20 - length..).unwrap_or_default());
}

/// Appends a number in decimal digits, with its sign.
pub(super) fn push_signed(output: &mut Vec<u8>, number: i64) {
    if number < 0 {
        output.push(b'-');
    }
    push_number(output, number.unsigned_abs());
}

/// Returns the seconds that an item has left; -1 if it does not expire.
pub(super) fn seconds_left(expiry_s: u32, now_s: u32) -> i64 {
    match expiry_s {
        0 => -1,
        _ => i64::from(expiry_s) - i64::from(now_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written() {
        for number in [0, 9, 10, 12345, u64::MAX] {
            let mut output = Vec::new();
            push_number(&mut output, number);
            assert_eq!(output, number.to_string().into_bytes());
        }
        let mut output = Vec::new();
        push_signed(&mut output, i64::MIN);
        assert_eq!(output, i64::MIN.to_string().into_bytes());
    }
}
