//! Three-valued logic of filters (RFC 4511, section 4.5.1.7).

/// The outcome of a filter item.
///
/// An item is `Undefined` if its attribute, rule or assertion makes no sense. Such an item causes
/// no error; it cannot select an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// The item does not match.
    False,
    /// The item cannot be evaluated.
    Undefined,
    /// The item matches.
    True,
}

impl Truth {
    /// Returns the conjunction: False wins, then Undefined.
    #[must_use]
    pub fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Undefined,
        }
    }

    /// Returns the disjunction: True wins, then Undefined.
    #[must_use]
    pub fn or(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::True, _) | (_, Truth::True) => Truth::True,
            (Truth::False, Truth::False) => Truth::False,
            _ => Truth::Undefined,
        }
    }

    /// Returns the opposite; Undefined stays Undefined.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Undefined => Truth::Undefined,
        }
    }

    /// Returns true if an entry with this outcome is selected.
    #[must_use]
    pub fn is_true(self) -> bool {
        self == Truth::True
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{self, False, True, Undefined};

    #[test]
    fn truth_tables_of_rfc_4511() {
        for (a, b, and, or) in [
            (True, True, True, True),
            (True, False, False, True),
            (True, Undefined, Undefined, True),
            (False, False, False, False),
            (False, Undefined, False, Undefined),
            (Undefined, Undefined, Undefined, Undefined),
        ] {
            assert_eq!(a.and(b), and);
            assert_eq!(b.and(a), and);
            assert_eq!(a.or(b), or);
            assert_eq!(b.or(a), or);
        }
        assert_eq!(Undefined.not(), Undefined);
        assert_eq!(Truth::from(true).not(), False);
    }
}
