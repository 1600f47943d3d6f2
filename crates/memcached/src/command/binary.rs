//! The refusal of the binary protocol, in that protocol.

/// The first byte of a request of the binary protocol. No text command begins with it.
pub(super) const REQUEST: u8 = 0x80;

/// Bytes of a header.
pub(super) const HEADER_BYTES: usize = 24;

const RESPONSE: u8 = 0x81;
const NOT_SUPPORTED: u16 = 0x83;
const TEXT: &[u8] = b"the binary protocol is not served; use the text or meta commands";

/// Writes the answer to a request.
pub(super) fn refuse(header: &[u8], output: &mut Vec<u8>) {
    let opcode = header.get(1).copied().unwrap_or_default();
    let opaque = header.get(12..16).unwrap_or(&[0; 4]);
    output.extend_from_slice(&[RESPONSE, opcode, 0, 0, 0, 0]);
    output.extend_from_slice(&NOT_SUPPORTED.to_be_bytes());
    output.extend_from_slice(&(TEXT.len() as u32).to_be_bytes());
    output.extend_from_slice(opaque);
    output.extend_from_slice(&[0; 8]);
    output.extend_from_slice(TEXT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_names_the_request() {
        let mut header = [0; HEADER_BYTES];
        header[0] = REQUEST;
        header[1] = 0x0b;
        header[12..16].copy_from_slice(b"opaq");
        let mut output = Vec::new();
        refuse(&header, &mut output);
        assert_eq!(output.len(), HEADER_BYTES + TEXT.len());
        assert_eq!(output[1], 0x0b);
        assert_eq!(&output[12..16], b"opaq");
    }
}
