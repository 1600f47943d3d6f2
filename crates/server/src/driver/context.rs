//! The data that all threads of a running server borrow.

use super::live_settings::{LiveSettings, LiveValues};
use super::settings::ServerSettings;
use crate::session::bind_delays::BindDelays;
use crate::session::log::OperationLog;
use crate::session::quota::IdentityQuotas;
use crate::statistics::Statistics;
use crate::tls::reload::TlsSlot;

/// The data that all threads of a running server borrow.
pub(crate) struct ServerContext<'h, H> {
    pub(crate) handler: &'h H,
    pub(crate) settings: &'h ServerSettings,
    pub(crate) live: &'h LiveSettings,
    /// The sink of lines about operations, in use if the live settings say so.
    pub(crate) log: &'h dyn OperationLog,
    pub(crate) statistics: &'h Statistics,
    pub(crate) identities: &'h IdentityQuotas,
    pub(crate) bind_delays: &'h BindDelays,
    pub(crate) tls: &'h TlsSlot,
}

impl<'h, H> ServerContext<'h, H> {
    /// Returns the sink of lines about operations if these settings log them.
    pub(crate) fn log_of(&self, values: &LiveValues) -> Option<&'h dyn OperationLog> {
        values.log_operations.then_some(self.log)
    }
}

impl<H> Clone for ServerContext<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for ServerContext<'_, H> {}
