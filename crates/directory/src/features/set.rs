//! The features of a directory, compiled once for each configuration.

use fulgurite_policy::SortLimits;

use super::sssvlv::Sssvlv;

/// The features of a directory, one field each.
#[derive(Debug)]
pub(crate) struct Features {
    pub(crate) sssvlv: Sssvlv,
}

impl Features {
    pub(super) fn new(sort_limits: SortLimits) -> Features {
        Features {
            sssvlv: Sssvlv::new(sort_limits),
        }
    }

    /// Takes over the state that searches of the previous configuration share.
    pub(crate) fn continue_from(&mut self, previous: &Features) {
        self.sssvlv.slots = previous.sssvlv.slots.clone();
    }
}
