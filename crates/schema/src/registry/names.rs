//! Case-insensitive names to numbers, looked up without allocation.

use rustc_hash::FxHashMap;

/// Longest name that is looked up on the stack; longer ones exist in theory only.
const SHORT: usize = 64;

/// Names and OIDs of one kind of definition.
#[derive(Debug, Default)]
pub(crate) struct Names {
    by_name: FxHashMap<Box<[u8]>, u32>,
}

impl Names {
    /// Adds a name. Answers the number it already stands for, if any.
    pub(crate) fn insert(&mut self, name: &str, number: u32) -> Option<u32> {
        self.by_name.insert(
            name.to_ascii_lowercase().into_bytes().into_boxed_slice(),
            number,
        )
    }

    /// The number a name stands for, in any case.
    pub(crate) fn get(&self, name: &[u8]) -> Option<u32> {
        let mut short = [0u8; SHORT];
        match short.get_mut(..name.len()) {
            Some(key) => {
                key.copy_from_slice(name);
                key.make_ascii_lowercase();
                self.by_name.get(&*key).copied()
            }
            None => self
                .by_name
                .get(name.to_ascii_lowercase().as_slice())
                .copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn any_case_any_length() {
        let mut names = Names::default();
        let long = "x".repeat(100);
        assert_eq!(names.insert("commonName", 7), None);
        assert_eq!(names.insert(&long, 8), None);
        assert_eq!(names.get(b"COMMONNAME"), Some(7));
        assert_eq!(names.get(long.to_uppercase().as_bytes()), Some(8));
        assert_eq!(names.get(b"commonNam"), None);
        assert_eq!(names.insert("CommonName", 9), Some(7));
    }
}
