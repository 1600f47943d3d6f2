//! A filter that owns its bytes.

use std::fmt;
use std::str::FromStr;

use fulgurite_ber::{Reader, Writer};

use super::{Filter, FilterTextError, parse};
use crate::{Fault, Limits};

/// A filter in its encoded form: made from text or from a tree, kept, and lent as a [`Filter`].
#[derive(Clone, PartialEq, Eq)]
pub struct FilterBuf {
    /// One valid filter element within [`LIMITS`].
    encoded: Vec<u8>,
}

/// The limits of a buffer: as deep as any decoder accepts, of any size.
const LIMITS: Limits = Limits {
    filter_depth_max: super::FILTER_DEPTH_CEILING,
    filter_parts_max: u32::MAX,
};

impl FilterBuf {
    /// Parses the text form (RFC 4515).
    ///
    /// Beyond the RFC, the outermost parentheses may be missing and spaces may stand between parts.
    ///
    /// # Errors
    /// [`FilterTextError`] with the position of what cannot be understood.
    pub fn parse(text: &str) -> Result<Self, FilterTextError> {
        let mut encoded = Vec::with_capacity(text.len() + 16);
        parse::parse(text, &mut Writer::new(&mut encoded))?;
        Ok(FilterBuf { encoded })
    }

    /// Takes the encoding of a filter, as requests and control values have it.
    ///
    /// # Errors
    /// A [`Fault`] unless `encoded` is exactly one filter.
    pub fn from_encoded(encoded: Vec<u8>) -> Result<Self, Fault> {
        let mut reader = Reader::new(&encoded);
        Filter::decode(&mut reader, &LIMITS)?;
        reader.end()?;
        Ok(FilterBuf { encoded })
    }

    /// Keeps a tree.
    ///
    /// # Errors
    /// A [`Fault`] for a tree built by hand that no decoder would accept: too deep, or with empty
    /// substrings.
    pub fn from_tree(filter: &Filter<'_>) -> Result<Self, Fault> {
        let mut encoded = Vec::new();
        filter.encode(&mut Writer::new(&mut encoded));
        FilterBuf::from_encoded(encoded)
    }

    /// Returns the tree, borrowed; decoded anew by each call.
    #[must_use]
    pub fn filter(&self) -> Filter<'_> {
        Filter::decode(&mut Reader::new(&self.encoded), &LIMITS)
            .expect("every constructor has seen to it that this decodes")
    }

    /// Returns the encoding.
    #[must_use]
    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }
}

impl FromStr for FilterBuf {
    type Err = FilterTextError;

    fn from_str(text: &str) -> Result<Self, FilterTextError> {
        FilterBuf::parse(text)
    }
}

impl fmt::Display for FilterBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.filter(), f)
    }
}

impl fmt::Debug for FilterBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FilterBuf({self})")
    }
}
