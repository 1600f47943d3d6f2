//! Keys and values, the same for everybody, and a digest of what is read.

/// A key: sixteen decimal digits, so that they are in the order of their numbers.
#[inline]
pub(crate) fn key(mut number: u64) -> [u8; 16] {
    let mut digits = [b'0'; 16];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    digits
}

/// A number below `count` for each position below it, each once: a shuffle that needs no memory.
pub(crate) fn scattered(position: u64, count: u64) -> u64 {
    let half_bits = (64 - count.max(2).leading_zeros()).div_ceil(2);
    let mask = (1 << half_bits) - 1;
    let mut number = position;
    // A Feistel network is a permutation of its range; what falls outside of ours is permuted
    // again.
    loop {
        let (mut left, mut right) = (number >> half_bits, number & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(right ^ (round << 32)) & mask));
        }
        number = (left << half_bits) | right;
        if number < count {
            return number;
        }
    }
}

/// A number that looks like any other (the finaliser of splitmix64).
pub(crate) fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Makes values of one length.
pub(crate) struct Values {
    value: Vec<u8>,
}

impl Values {
    pub(crate) fn new(len: usize) -> Self {
        let value = (0..len as u64).map(|at| mix(at) as u8).collect();
        Values { value }
    }

    /// The value of a key. It begins and ends with the key's number. Its generation is in the
    /// middle, where digests do not look. So readers next to a writer see the same digest at any
    /// time.
    #[inline]
    pub(crate) fn of(&mut self, number: u64, generation: u64) -> &[u8] {
        let len = self.value.len();
        let number = mix(number).to_le_bytes();
        self.patch(len / 2, generation.to_le_bytes());
        self.patch(0, number);
        self.patch(len.saturating_sub(8), number);
        &self.value
    }

    #[inline]
    fn patch(&mut self, at: usize, octets: [u8; 8]) {
        if let Some(place) = self.value.get_mut(at..at + 8) {
            place.copy_from_slice(&octets);
        }
    }
}

/// Adds all bytes to a digest, eight at a time.
#[inline]
pub(crate) fn sum(digest: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|&byte| u64::from(byte));
    words.chain(rest).fold(digest, u64::wrapping_add)
}

/// Folds bytes into a digest: the length, the first eight and the last eight. So both ends of a
/// value's memory are touched.
#[inline]
pub(crate) fn fold(digest: u64, octets: &[u8]) -> u64 {
    let first = octets.first_chunk::<8>().copied().unwrap_or_default();
    let last = octets.last_chunk::<8>().copied().unwrap_or_default();
    (digest.rotate_left(5) ^ u64::from_le_bytes(first))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(u64::from_le_bytes(last) ^ octets.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_met_once() {
        for count in [1, 2, 10, 1000, 4097] {
            let mut seen: Vec<u64> = (0..count).map(|at| scattered(at, count)).collect();
            if count == 1000 {
                assert!(
                    seen.windows(2)
                        .filter(|pair| pair[0] + 1 == pair[1])
                        .count()
                        < 10
                );
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn keys_are_in_the_order_of_their_numbers() {
        assert_eq!(&key(1_234_567), b"0000000001234567");
        assert!(key(99) < key(100));
    }

    #[test]
    fn a_digest_notices_order_length_and_ends() {
        let of = |records: &[&[u8]]| {
            records
                .iter()
                .fold(0, |digest, record| fold(digest, record))
        };
        let mut values = Values::new(100);
        let one = values.of(1, 0).to_vec();
        let two = values.of(2, 0).to_vec();
        assert_ne!(of(&[&one, &two]), of(&[&two, &one]));
        assert_ne!(of(&[&one]), of(&[&one[..99]]));
        // Generations are not seen, on purpose.
        assert_eq!(of(&[&one]), of(&[values.of(1, 7)]));
        assert_ne!(one, values.of(1, 7));
    }
}
