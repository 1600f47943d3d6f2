//! Password policies (slapd's overlay `ppolicy`, draft-behera-ldap-password-policy-10).
//!
//! ```text
//!   policy entry -> rules      entry of a user -> state
//!   bind_verdict:  rules + state + right or wrong + now -> answer + changes of the state
//!   change_rules:  rules + state + the new password     -> refusal, or changes of the state
//!   quality:       rules for the characters of a password, which a policy may also have
//! ```
//!
//! All of it decides without a store and without a clock. `op::bind_policy` judges binds, and
//! `write::password_policy` judges updates.

pub(crate) mod bind_verdict;
pub(crate) mod change_rules;
pub(crate) mod history;
pub(crate) mod overlay;
pub(crate) mod quality;
pub(crate) mod rules;
pub(crate) mod state;
pub(crate) mod usability;
