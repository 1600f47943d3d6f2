//! The parts of a request that all operations share: controls, limits, restrictions, aliases,
//! referrals.

pub(crate) mod alias;
pub(crate) mod change;
pub(crate) mod controls;
pub(crate) mod limits;
pub(crate) mod modifiers;
pub(crate) mod referral;
pub(crate) mod restrictions;
