//! The data that all threads of a running server borrow.

use super::settings::ServerSettings;
use crate::session::log::OperationLog;
use crate::session::quota::IdentityQuotas;
use crate::statistics::Statistics;
use crate::tls::reload::TlsSlot;

/// The data that all threads of a running server borrow.
pub(crate) struct ServerContext<'h, H> {
    pub(crate) handler: &'h H,
    pub(crate) settings: &'h ServerSettings,
    pub(crate) log: Option<&'h dyn OperationLog>,
    pub(crate) statistics: &'h Statistics,
    pub(crate) identities: &'h IdentityQuotas,
    pub(crate) tls: &'h TlsSlot,
}

impl<H> Clone for ServerContext<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for ServerContext<'_, H> {}
