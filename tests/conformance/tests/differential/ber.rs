//! Octets of requests, made without the code under test, so that odd ones can be made as well.

/// One element.
pub(crate) fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        len @ 0..=127 => out.push(len as u8),
        len @ 128..=255 => out.extend([0x81, len as u8]),
        len @ 256..=65_535 => out.extend([0x82, (len >> 8) as u8, len as u8]),
        len => {
            out.push(0x84);
            out.extend((len as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(content);
    out
}

/// An element made of others.
pub(crate) fn group(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(tag, &parts.concat())
}

/// SEQUENCE.
pub(crate) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    group(0x30, parts)
}

/// SET.
pub(crate) fn set(parts: &[Vec<u8>]) -> Vec<u8> {
    group(0x31, parts)
}

/// OCTET STRING.
pub(crate) fn octets(content: impl AsRef<[u8]>) -> Vec<u8> {
    tlv(0x04, content.as_ref())
}

/// INTEGER.
pub(crate) fn integer(number: i64) -> Vec<u8> {
    tlv(0x02, &shortest(number))
}

/// ENUMERATED.
pub(crate) fn enumerated(number: i64) -> Vec<u8> {
    tlv(0x0a, &shortest(number))
}

/// BOOLEAN.
pub(crate) fn boolean(value: bool) -> Vec<u8> {
    tlv(0x01, &[if value { 0xff } else { 0 }])
}

fn shortest(number: i64) -> Vec<u8> {
    let all = number.to_be_bytes();
    let fill = if number < 0 { 0xff } else { 0 };
    let mut from = 0;
    while from < 7 && all[from] == fill && (all[from + 1] & 0x80) == (fill & 0x80) {
        from += 1;
    }
    all[from..].to_vec()
}

/// The elements of some octets: tag and content, as far as they are well formed.
pub(crate) fn elements(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut found = Vec::new();
    while let Some((tag, content, rest)) = element(bytes) {
        found.push((tag, content));
        bytes = rest;
    }
    found
}

fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (octets, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        (
            octets
                .iter()
                .fold(0, |len, octet| len << 8 | usize::from(*octet)),
            rest,
        )
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}
