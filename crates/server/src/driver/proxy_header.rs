//! The header of the PROXY protocol (version 2), which a load balancer sends before the bytes of
//! its client.
//!
//! ```text
//!   signature (12)  version, command (1)  protocol (1)  length (2)  addresses  options
//! ```

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// The first bytes. No LDAP message and no TLS record begins so.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// The bytes before the addresses.
const FIXED: usize = 16;
/// The bytes of options behind the addresses, at most.
const OPTIONS_MAX: usize = 1024;

/// A header, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct ProxyHeader(Vec<u8>);

/// A whole header, and the bytes behind it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Introduction {
    /// The address of the client; `None` for a connection of the load balancer itself.
    pub(super) client: Option<SocketAddr>,
    pub(super) rest: Vec<u8>,
}

impl ProxyHeader {
    /// Takes bytes. Returns what the header says once it is whole.
    ///
    /// # Errors
    /// slapd's sentence about a header that is none.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Option<Introduction>, String> {
        let held = &mut self.0;
        held.extend_from_slice(bytes);
        if !held.iter().zip(&SIGNATURE).all(|(one, other)| one == other) {
            return Err("invalid header signature".to_owned());
        }
        let Some(&[version, protocol, high, low]) = held.get(SIGNATURE.len()..FIXED) else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let address_len = check(version, protocol, length)?;
        let Some((header, rest)) = held.split_at_checked(FIXED + length) else {
            return Ok(None);
        };
        let addresses = header.get(FIXED..FIXED + address_len).unwrap_or_default();
        let introduction = Introduction {
            client: client(addresses),
            rest: rest.to_vec(),
        };
        Ok(Some(introduction))
    }
}

/// Checks the fixed part. Returns the number of bytes of the addresses, 0 if they do not count.
fn check(version: u8, protocol: u8, length: usize) -> Result<usize, String> {
    if version >> 4 != 2 {
        return Err(format!("invalid header version {:x}", version & 0xf0));
    }
    let address_len = match (version & 0xf, protocol) {
        (0, _) => 0,
        (1, 0x11) => 12,
        (1, 0x21) => 36,
        (1, protocol) => return Err(format!("unsupported protocol {protocol:x}")),
        (command, _) => return Err(format!("invalid command {command}")),
    };
    if length < address_len {
        return Err(format!(
            "address length {length} too small, expecting {address_len}"
        ));
    }
    let options = length - address_len;
    if options > OPTIONS_MAX {
        return Err(format!("options size {options} too big"));
    }
    Ok(address_len)
}

/// Returns the address that the addresses of source and destination begin with.
fn client(addresses: &[u8]) -> Option<SocketAddr> {
    if let &[a, b, c, d, _, _, _, _, high, low, _, _] = addresses {
        let port = u16::from_be_bytes([high, low]);
        return Some(SocketAddr::from((Ipv4Addr::new(a, b, c, d), port)));
    }
    let source: [u8; 16] = *addresses.first_chunk()?;
    let port = addresses.get(32..34)?.try_into().ok()?;
    Some(SocketAddr::from((
        Ipv6Addr::from(source),
        u16::from_be_bytes(port),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: [u8; 12] = [192, 0, 2, 7, 198, 51, 100, 1, 0x12, 0x67, 1, 0x85];

    fn header(version: u8, protocol: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).expect("short");
        let fixed = [&[version, protocol][..], &length.to_be_bytes()].concat();
        [&SIGNATURE[..], &fixed, content].concat()
    }

    fn read(bytes: &[u8]) -> Result<Option<Introduction>, String> {
        ProxyHeader::default().take(bytes)
    }

    #[test]
    fn a_header_comes_in_any_pieces() {
        let mut v6 = [0; 36];
        v6[..16].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        v6[33] = 9;
        for (bytes, client) in [
            (header(0x21, 0x11, &V4), Some("192.0.2.7:4711")),
            (
                header(0x21, 0x11, &[&V4[..], &[4, 0, 1, 0]].concat()),
                Some("192.0.2.7:4711"),
            ),
            (header(0x21, 0x21, &v6), Some("[::1]:9")),
            (header(0x20, 0, &[]), None),
            (header(0x20, 0x11, &V4), None),
        ] {
            let client = client.map(|text| text.parse().expect("an address"));
            let whole = [&bytes[..], b"0\x05"].concat();
            for cut in 0..=whole.len() {
                let mut reader = ProxyHeader::default();
                let first = reader.take(&whole[..cut]).expect("sound");
                let introduced = match first {
                    Some(introduction) => introduction,
                    None => reader.take(&whole[cut..]).expect("sound").expect("whole"),
                };
                assert_eq!(introduced.client, client);
                assert!(b"0\x05".starts_with(&introduced.rest));
            }
        }
    }

    #[test]
    fn other_beginnings_get_the_sentences_of_slapd() {
        for (bytes, text) in [
            (b"0\x0c\x02\x01\x01".to_vec(), "invalid header signature"),
            (b"PROXY TCP4 1.2.3.4 ".to_vec(), "invalid header signature"),
            (header(0x11, 0x11, &V4), "invalid header version 10"),
            (header(0x22, 0x11, &V4), "invalid command 2"),
            (header(0x21, 0, &[]), "unsupported protocol 0"),
            (header(0x21, 0x31, &[0; 216]), "unsupported protocol 31"),
            (header(0x21, 0x12, &V4), "unsupported protocol 12"),
            (
                header(0x21, 0x11, &V4[..4]),
                "address length 4 too small, expecting 12",
            ),
            (header(0x21, 0x11, &[0; 2000]), "options size 1988 too big"),
        ] {
            assert_eq!(read(&bytes), Err(text.to_owned()));
        }
    }

    #[test]
    fn any_damage_is_a_header_or_an_error() {
        let whole = header(0x21, 0x11, &V4);
        for at in 0..whole.len() {
            for byte in 0..=u8::MAX {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let outcome = read(&bytes);
                let is_damaged = at < SIGNATURE.len() && byte != whole[at];
                assert!(!is_damaged || outcome.is_err());
                let _ = read(&bytes[..at]).expect("the beginning is sound");
            }
        }
    }
}
