//! Damage to the content of a message with all lengths correct, so that it reaches the operations
//! behind the decoder.

use fulgurite_testkit::Random;

/// An element with elements or bytes as content.
#[derive(Debug, Clone)]
enum Node {
    Constructed(u8, Vec<Node>),
    Primitive(u8, Vec<u8>),
}

/// Contents with a meaning for some operation.
const MEANINGFUL: [&[u8]; 18] = [
    b"",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"*",
    b"+",
    b"1.1",
    b"objectClass",
    b"userPassword",
    b"entryUUID",
    b"cn;lang-de;x-a",
    b"dc=example,dc=com",
    b"uid=u1+cn=\\2C\\00,ou=People,dc=example,dc=com",
    b",,,",
    b"cn=\"open",
    b"\xc3\x28\xed\xa0\x80",
    b"{SSHA}////",
];

/// Changes one to three elements of `pdu`, which has to be a valid message.
pub(super) fn change(pdu: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let (Some(mut root), Some(other)) = (parse(pdu), parse(other)) else {
        return pdu.to_vec();
    };
    for _ in 0..1 + random.below(3) {
        let at = 1 + random.below(count(&root).saturating_sub(1));
        let donor = find(&other, &mut random.below(count(&other))).cloned();
        change_at(&mut root, &mut { at }, donor, random);
    }
    let mut out = Vec::new();
    write(&root, &mut out);
    out
}

fn parse(bytes: &[u8]) -> Option<Node> {
    let mut nodes = parse_all(bytes)?;
    if nodes.len() == 1 { nodes.pop() } else { None }
}

fn parse_all(mut bytes: &[u8]) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    while let [tag, first, rest @ ..] = bytes {
        let (length, rest) = match usize::from(*first) {
            short if short < 0x80 => (short, rest),
            long => {
                let (bytes, rest) = rest.split_at_checked(long & 0x7f)?;
                (
                    bytes
                        .iter()
                        .fold(0, |sum, &byte| sum << 8 | usize::from(byte)),
                    rest,
                )
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        nodes.push(match tag & 0x20 {
            0 => Node::Primitive(*tag, content.to_vec()),
            _ => Node::Constructed(*tag, parse_all(content)?),
        });
        bytes = rest;
    }
    bytes.is_empty().then_some(nodes)
}

fn count(node: &Node) -> usize {
    match node {
        Node::Primitive(..) => 1,
        Node::Constructed(_, parts) => 1 + parts.iter().map(count).sum::<usize>(),
    }
}

/// Returns the element `at` positions after `node`, in the order of encoding.
fn find<'n>(node: &'n Node, at: &mut usize) -> Option<&'n Node> {
    if *at == 0 {
        return Some(node);
    }
    *at -= 1;
    match node {
        Node::Primitive(..) => None,
        Node::Constructed(_, parts) => parts.iter().find_map(|part| find(part, at)),
    }
}

/// Changes the element `at` positions after `node`. Returns true once it is done.
fn change_at(node: &mut Node, at: &mut usize, donor: Option<Node>, random: &mut Random) -> bool {
    let Node::Constructed(_, parts) = node else {
        return false;
    };
    for number in 0..parts.len() {
        *at -= 1;
        if *at == 0 {
            change_part(parts, number, donor, random);
            return true;
        }
        if change_at(&mut parts[number], at, donor.clone(), random) {
            return true;
        }
    }
    false
}

fn change_part(parts: &mut Vec<Node>, number: usize, donor: Option<Node>, random: &mut Random) {
    match random.below(10) {
        0 => drop(parts.remove(number)),
        1 => parts.insert(number, parts[number].clone()),
        2 => {
            let other = random.below(parts.len());
            parts.swap(number, other);
        }
        3 | 4 => parts.extend(donor),
        5 => {
            let (Node::Constructed(tag, _) | Node::Primitive(tag, _)) = &mut parts[number];
            *tag ^= 1 << random.below(5);
        }
        _ => match &mut parts[number] {
            Node::Constructed(_, inside) => inside.extend(donor),
            Node::Primitive(_, content) => change_content(content, random),
        },
    }
}

fn change_content(content: &mut Vec<u8>, random: &mut Random) {
    match random.below(4) {
        0 => *content = MEANINGFUL[random.below(MEANINGFUL.len())].to_vec(),
        1 => content.extend((0..random.below(300)).map(|_| b'a')),
        2 if !content.is_empty() => {
            let at = random.below(content.len());
            content[at] = random.bits().to_le_bytes()[0];
        }
        _ => content.extend_from_slice(MEANINGFUL[random.below(MEANINGFUL.len())]),
    }
}

fn write(node: &Node, out: &mut Vec<u8>) {
    let (tag, content) = match node {
        Node::Primitive(tag, content) => (*tag, content.clone()),
        Node::Constructed(tag, parts) => {
            let mut content = Vec::new();
            parts.iter().for_each(|part| write(part, &mut content));
            (*tag, content)
        }
    };
    out.push(tag);
    match u8::try_from(content.len()) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let len = u32::try_from(content.len())
                .unwrap_or(u32::MAX)
                .to_be_bytes();
            out.extend_from_slice(&[0x84, len[0], len[1], len[2], len[3]]);
        }
    }
    out.extend_from_slice(&content);
}
