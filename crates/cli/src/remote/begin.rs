//! The beginning of a command: a connection, and the suffix to work below.

use fulgurite_client::Client;

use super::login::connect;
use super::root_dse::suffix;
use crate::arguments::server::{BaseFlag, ServerFlags};

/// Connects, and finds the suffix.
pub(crate) fn begin(server: &ServerFlags, base: &BaseFlag) -> anyhow::Result<(Client, String)> {
    let mut client = connect(server)?;
    let suffix = suffix(&mut client, base.base.as_deref())?;
    Ok((client, suffix))
}
