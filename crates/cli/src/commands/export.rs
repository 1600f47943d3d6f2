//! `fulgurite export`.

use std::io::{self, BufWriter};
use std::sync::Arc;

use fulgurite_directory_tools::export;
use fulgurite_server::schema;
use fulgurite_store::{Store, StoreOptions};

use super::unless_pipe_closed;
use crate::arguments::Export;

/// Buffer size in bytes.
const BUFFER_BYTES: usize = 1 << 18;

pub(crate) fn run(command: Export) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    let schema = Arc::new(schema(&settings)?);
    let options = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let store = Store::open(settings.data()?, &options, schema)?;
    let output = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    unless_pipe_closed(export(&store, output).map(|_| ()).map_err(Into::into))
}
