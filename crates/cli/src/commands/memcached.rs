//! `fulgurite memcached`.

use std::thread;

use fulgurite_config::LogLevel;
use fulgurite_memcached::{Options, Server, Tls};

use crate::arguments::memcached::Memcached;
use crate::lock::DataLock;
use crate::logging;

/// Event loops at most, if the command names no number.
const THREADS_MAX: usize = 4;

pub(crate) fn run(command: Memcached) -> anyhow::Result<()> {
    logging::begin(LogLevel::Info);
    // Only one server may number the changes of a cache.
    let _lock = DataLock::take_or_make(&command.data)?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = command.threads.map(usize::from);
    let tls = command.tls_certificate.zip(command.tls_key);
    let options = Options {
        data: command.data,
        listen: command.listen,
        threads: threads.unwrap_or(processors.min(THREADS_MAX)),
        bytes_max: command.max_bytes,
        no_eviction: command.no_eviction,
        value_max: usize::try_from(command.max_value)?,
        durability: command.durability,
        connections_max: command.connections,
        idle_timeout_s: command.idle_timeout,
        tls: tls.map(|(certificate, key)| Tls { certificate, key }),
        auth_file: command.auth_file,
        socket_mode: command.socket_mode,
        file_bytes_max: command.max_file.unwrap_or(0),
        ..Options::default()
    };
    // Each connection takes a descriptor.
    let _ = fulgurite_server::raise_descriptor_limit();
    let server = Server::open(&options)?;
    for address in server.addresses() {
        tracing::info!("serving {} at {address}", options.data.display());
    }
    server.run(true)?;
    tracing::info!("stopped");
    Ok(())
}
