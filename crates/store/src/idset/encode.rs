//! Encoding of chunks in their shortest form.

use super::bitmap::Bitmap;
use super::chunk::Chunk;
use super::form::{ARRAY, BITMAP, HEADER_LEN, RUNS, header, shortest};
use super::position::CHUNK_IDS;

/// Replaces `out` by the shortest form of a chunk; an empty chunk leaves it empty.
pub(crate) fn encode(bits: &Bitmap, out: &mut Vec<u8>) {
    out.clear();
    let (cardinality, runs) = (bits.len(), bits.runs());
    if cardinality == 0 {
        return;
    }
    let kind = shortest(cardinality, runs);
    header(out, kind, cardinality);
    match kind {
        ARRAY => bits
            .iter()
            .for_each(|low| out.extend_from_slice(&low.to_le_bytes())),
        RUNS => encode_runs(bits, out),
        _ => bits
            .words()
            .iter()
            .for_each(|word| out.extend_from_slice(&word.to_le_bytes())),
    }
    debug_assert!(is_chunk_of(out, cardinality), "the chunk can be read again");
}

/// Returns true if the bytes are a chunk of this number of ids.
fn is_chunk_of(bytes: &[u8], cardinality: usize) -> bool {
    Chunk::parse(bytes).is_ok_and(|chunk| chunk.len() == cardinality)
}

/// As [`encode`], for positions in ascending order. Mostly they are few, so no bitmap is made
/// first.
pub(crate) fn encode_sorted(positions: &[u16], out: &mut Vec<u8>) {
    if let [low] = positions {
        // Most chunks of a load have one position. An array has no header.
        out.clear();
        return out.extend_from_slice(&low.to_le_bytes());
    }
    let (mut runs, mut ascend) = (1, true);
    for pair in positions.windows(2) {
        if let [low, high] = *pair {
            runs += usize::from(high != low.wrapping_add(1));
            ascend &= low < high;
        }
    }
    let cardinality = positions.len();
    let kind = shortest(cardinality, runs);
    if cardinality == 0 || !ascend || kind == BITMAP {
        let mut bits = Bitmap::new();
        for low in positions {
            bits.insert(*low);
        }
        return encode(&bits, out);
    }
    out.clear();
    header(out, kind, cardinality);
    if kind == ARRAY {
        let start = out.len();
        out.resize(start + cardinality * 2, 0);
        let room = out.get_mut(start..).unwrap_or_default().as_chunks_mut().0;
        let bytes = positions.iter().map(|low| low.to_le_bytes());
        room.iter_mut().zip(bytes).for_each(|(to, low)| *to = low);
        debug_assert!(is_chunk_of(out, cardinality), "the array can be read again");
        return;
    }
    let next_to = |a: &u16, b: &u16| *b == a.wrapping_add(1);
    for run in positions.chunk_by(next_to) {
        for end in [run.first(), run.last()].into_iter().flatten() {
            out.extend_from_slice(&end.to_le_bytes());
        }
    }
}

/// As [`encode`], for ascending runs with gaps between them. Returns false if a bitmap is shorter;
/// `out` is undefined then.
pub(super) fn encode_few_runs(runs: &[(u16, u16)], out: &mut Vec<u8>) -> bool {
    out.clear();
    debug_assert!(
        runs.is_sorted_by(|a, b| a.1 < b.0),
        "runs ascend without overlap"
    );
    let len = |(first, last): &(u16, u16)| usize::from(*last - *first) + 1;
    let cardinality: usize = runs.iter().map(len).sum();
    if cardinality == 0 {
        return true;
    }
    let kind = shortest(cardinality, runs.len());
    header(out, kind, cardinality);
    if kind == ARRAY {
        runs.iter()
            .flat_map(|(first, last)| *first..=*last)
            .for_each(|low| out.extend_from_slice(&low.to_le_bytes()));
        return true;
    }
    for (first, last) in runs {
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&last.to_le_bytes());
    }
    kind == RUNS
}

/// Starts a bitmap whose cardinality is [set later](set_cardinality).
pub(super) fn begin_bitmap(out: &mut Vec<u8>) {
    header(out, BITMAP, 0);
    debug_assert_eq!(out.len(), HEADER_LEN, "the bits follow the header");
}

pub(super) fn set_cardinality(out: &mut [u8], cardinality: usize) {
    debug_assert_eq!(out.first(), Some(&BITMAP), "only a bitmap is counted late");
    debug_assert!(cardinality <= CHUNK_IDS, "a chunk has no more ids");
    if let Some(position) = out.get_mut(1..3) {
        position.copy_from_slice(&u16::try_from(cardinality).unwrap_or(u16::MAX).to_le_bytes());
    }
}

fn encode_runs(bits: &Bitmap, out: &mut Vec<u8>) {
    let mut from = 0;
    while let Some(first) = bits.next(from) {
        let end = bits.next_gap(usize::from(first));
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&u16::try_from(end - 1).unwrap_or(u16::MAX).to_le_bytes());
        from = end;
    }
    debug_assert_eq!(
        (out.len() - HEADER_LEN) / 4,
        bits.runs(),
        "four bytes for a run"
    );
}
