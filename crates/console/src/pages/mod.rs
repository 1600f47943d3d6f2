//! The pages.

pub(crate) mod entry;
pub(crate) mod groups;
pub(crate) mod layout;
pub(crate) mod login;
pub(crate) mod members;
pub(crate) mod overview;
pub(crate) mod own;
pub(crate) mod plot;
pub(crate) mod schema;
pub(crate) mod tree;
pub(crate) mod users;
