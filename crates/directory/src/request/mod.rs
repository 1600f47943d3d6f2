//! From a request to what it asks for: controls, restrictions, aliases, referrals.

pub(crate) mod alias;
pub(crate) mod controls;
pub(crate) mod modifiers;
pub(crate) mod referral;
pub(crate) mod restrictions;
