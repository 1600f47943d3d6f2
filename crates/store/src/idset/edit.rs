//! Changing a few positions of a chunk without a bitmap. A single update does this to each of its
//! postings.

use super::bitmap::Bitmap;
use super::chunk::{Chunk, Content};
use super::encode;
use super::form::BITMAP_LEN;
use super::position::CHUNK_IDS;
use crate::error::Damage;

/// With more changes or more runs than this, a bitmap is as fast.
const FEW: usize = 64;

/// Replaces `out` by the chunk after some changes: positions inserted (`true`) and removed, in
/// order. An empty chunk leaves `out` empty. `before` is the chunk before the changes.
///
/// The result has the shortest form. The exception is a bitmap of middle size, which stays a bitmap
/// until its ids are counted again.
///
/// # Errors
/// [`Damage::Posting`] if `before` is no chunk.
pub(crate) fn edit(
    before: Option<&[u8]>,
    changes: &[(u16, bool)],
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    debug_assert!(
        changes.iter().all(|(low, _)| usize::from(*low) < CHUNK_IDS),
        "changes are within the chunk"
    );
    let chunk = before.map(Chunk::parse).transpose()?;
    if let [(low, present)] = changes {
        let done = match &chunk {
            None if *present => {
                encode::encode_sorted(&[*low], out);
                true
            }
            Some(chunk) => chunk.array_with(*low, *present, out)?,
            None => false,
        };
        if done {
            return Ok(());
        }
    }
    if changes.len() <= FEW {
        let done = match chunk.map(|chunk| chunk.content()) {
            None => edit_array(Vec::new(), changes, out),
            Some(Content::Array(positions)) => edit_array(positions?, changes, out),
            Some(Content::Runs(runs)) => edit_runs(runs?, changes, out),
            Some(Content::Bitmap(bytes, cardinality)) => {
                edit_bitmap(bytes, cardinality, changes, out)
            }
        };
        if done {
            return Ok(());
        }
    }
    let mut bits = Bitmap::new();
    if let Some(chunk) = chunk {
        chunk.or_into(&mut bits)?;
    }
    for (low, present) in changes {
        if *present {
            bits.insert(*low);
        } else {
            bits.remove(*low);
        }
    }
    encode::encode(&bits, out);
    Ok(())
}

fn edit_array(mut positions: Vec<u16>, changes: &[(u16, bool)], out: &mut Vec<u8>) -> bool {
    for (low, present) in changes {
        match (positions.binary_search(low), present) {
            (Err(at), true) => positions.insert(at, *low),
            (Ok(at), false) => {
                positions.remove(at);
            }
            _ => {}
        }
    }
    // The binary search relies on the order.
    debug_assert!(positions.is_sorted_by(|a, b| a < b), "positions ascend");
    encode::encode_sorted(&positions, out);
    true
}

fn edit_runs(mut runs: Vec<(u16, u16)>, changes: &[(u16, bool)], out: &mut Vec<u8>) -> bool {
    if runs.len() > FEW {
        return false;
    }
    for (low, present) in changes {
        edit_run(&mut runs, *low, *present);
    }
    debug_assert!(
        runs.iter().all(|(first, last)| first <= last),
        "no run is empty"
    );
    encode::encode_few_runs(&runs, out)
}

/// Inserts or removes one position.
fn edit_run(runs: &mut Vec<(u16, u16)>, low: u16, present: bool) {
    let at = runs.partition_point(|(_, last)| *last < low);
    let stored = runs.get_mut(at).filter(|(first, _)| *first <= low);
    let is_stored = stored.is_some();
    match stored {
        Some(run) if !present => {
            let (first, last) = *run;
            match (first == low, last == low) {
                (true, true) => {
                    runs.remove(at);
                }
                (true, false) => run.0 = low + 1,
                (false, true) => run.1 = low - 1,
                (false, false) => {
                    run.1 = low - 1;
                    runs.insert(at + 1, (low + 1, last));
                }
            }
        }
        _ if is_stored || !present => {}
        _ => {
            let (before, behind) = runs.split_at_mut(at);
            let left = before.last_mut().filter(|run| run.1 + 1 == low);
            let right = behind.first_mut().filter(|run| run.0 == low + 1);
            match (left, right) {
                (Some(left), Some(right)) => {
                    left.1 = right.1;
                    runs.remove(at);
                }
                (Some(left), None) => left.1 = low,
                (None, Some(right)) => right.0 = low,
                (None, None) => runs.insert(at, (low, low)),
            }
        }
    }
}

/// Changes the bitmap in place. Returns false if another form may be shorter, or if it is time to
/// check.
fn edit_bitmap(
    bytes: &[u8],
    cardinality: usize,
    changes: &[(u16, bool)],
    out: &mut Vec<u8>,
) -> bool {
    debug_assert_eq!(bytes.len(), BITMAP_LEN, "a bitmap has a bit for each id");
    out.clear();
    encode::begin_bitmap(out);
    let begin = out.len();
    out.extend_from_slice(bytes);
    let mut len = cardinality;
    for (low, present) in changes {
        let Some(byte) = out.get_mut(begin + usize::from(*low) / 8) else {
            return false;
        };
        let bit = 1 << (low % 8);
        match (*byte & bit != 0, present) {
            (false, true) => len += 1,
            (true, false) => len = len.saturating_sub(1),
            _ => {}
        }
        if *present {
            *byte |= bit;
        } else {
            *byte &= !bit;
        }
    }
    let is_middling = (CHUNK_IDS / 16 + 1..CHUNK_IDS - CHUNK_IDS / 32).contains(&len);
    if !is_middling || len.is_multiple_of(FEW) {
        return false;
    }
    encode::set_cardinality(out, len);
    debug_assert!(
        Chunk::parse(out).is_ok_and(|chunk| chunk.len() == len),
        "the header has the cardinality"
    );
    true
}
