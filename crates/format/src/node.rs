//! The header of a node: the lengths of key and value, and flags.

use crate::{Malformed, NodeFlags, layout};

/// Returns the length of a key by the header of its node.
#[inline]
pub(crate) fn key_len(header: &[u8; 8]) -> usize {
    (u64::from_le_bytes(*header) >> 48) as usize
}

/// Returns the length of a key by the header of its node, in a leaf. Returns `None` if no key may
/// have that length, or if the node has flags.
#[inline(always)]
pub(crate) fn plain_key_len(header: u64) -> Option<usize> {
    // Turned round, the two are one number, which is in the range of lengths only if there are no
    // flags.
    let both = ((header >> 32) as u32).rotate_left(16);
    (both.wrapping_sub(1) < crate::KEY_LEN_MAX as u32).then_some(both as usize)
}

/// Bytes of a leaf node by its header, which is checked.
#[inline]
pub(crate) fn leaf_node_len(header: &[u8; 8], index: usize) -> Result<usize, Malformed> {
    let [d0, d1, d2, d3, f0, f1, _, _] = *header;
    let flags = u16::from_le_bytes([f0, f1]);
    let data_len = match flags {
        NodeFlags::OVERFLOW => layout::OVERFLOW_REF_LEN,
        flags if NodeFlags(flags).is_inline() => u32::from_le_bytes([d0, d1, d2, d3]) as usize,
        _ => return Err(Malformed::NodeFlags { index, flags }),
    };
    match key_len(header) {
        len @ 1..=crate::KEY_LEN_MAX => Ok(layout::leaf_node_len(len, data_len)),
        len => Err(Malformed::KeyLength { index, len }),
    }
}
