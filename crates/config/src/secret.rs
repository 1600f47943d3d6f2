//! Texts that no output may contain.

use std::fmt;

/// Text that must not appear in logs; it prints as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(...)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print() {
        assert!(!format!("{:?}", Secret("opensesame".into())).contains("opensesame"));
    }
}
