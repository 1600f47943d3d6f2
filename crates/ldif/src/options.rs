//! Limits and permissions of a reader.

/// The limits of a reader, and the name of its input.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// The name of the input in error messages.
    pub file: Option<String>,
    /// Bytes of one record at most, unfolded; comments do not count. 4 GiB is the upper bound.
    pub record_bytes_max: usize,
    /// True if `:< file:///path` may read local files. Never allow it for text from strangers.
    pub file_urls: bool,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            file: None,
            record_bytes_max: 64 << 20,
            file_urls: false,
        }
    }
}
