//! Flags of `fulgurite memcached`.

use std::path::PathBuf;

use clap::Args;
use fulgurite_config::parse_bytes;
use fulgurite_memcached::{Address, Durability};

/// Serve a cache to clients of memcached; it survives restarts and crashes
///
/// The cache is an environment with LMDB's files, so `fulgurite env` works on it while it is
/// served. Clients use the text and the meta commands of memcached 1.6. The binary protocol and UDP
/// are left out. If the cache is full, items that nobody used for a while leave it.
///
/// With --durability none a crash of the server loses nothing, but a power loss may damage the
/// cache. With meta the cache stays sound and may miss its last commit. With full, each answer is
/// sent after its change is on the disk. SIGTERM and SIGINT stop the server.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite memcached --data /var/cache/fulgurite\n  fulgurite memcached --data /var/lib/sessions --listen /run/sessions.sock --durability full"
)]
pub(crate) struct Memcached {
    /// Directory of the cache; created if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// HOST:PORT or the path of a Unix socket; repeatable
    #[arg(long, short, value_name = "ADDRESS", default_value = "127.0.0.1:11211")]
    pub(crate) listen: Vec<Address>,
    /// Bytes of items, such as 4G, above which items leave the cache; 0 is no bound
    #[arg(long, short, value_name = "BYTES", default_value = "1G", value_parser = parse_bytes)]
    pub(crate) max_bytes: u64,
    /// Refuse new items if the cache is full, instead of removing others
    #[arg(long, short = 'M')]
    pub(crate) no_eviction: bool,
    /// Longest value, such as 8M; at most 1G
    #[arg(long, short = 'I', value_name = "BYTES", default_value = "1M", value_parser = value_bytes)]
    pub(crate) max_value: u64,
    /// Changes that survive a power loss: none, meta (all but the last commit) or full
    #[arg(long, value_name = "LEVEL", default_value_t = Durability::None)]
    pub(crate) durability: Durability,
    /// Event loops, each on a thread [default: the processors, at most 4]
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Connections at once
    #[arg(long, short, value_name = "NUMBER", default_value_t = 1024)]
    pub(crate) connections: usize,
    /// Seconds after which a silent connection is closed; 0 is never
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) idle_timeout: u64,
    /// Certificate in PEM: TLS for all connections over TCP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// File with lines USER:PASSWORD; each client then begins with a set of "USER PASSWORD"
    #[arg(long, short = 'Y', value_name = "FILE")]
    pub(crate) auth_file: Option<PathBuf>,
    /// Mode of Unix sockets, in octal digits
    #[arg(long, short = 'a', value_name = "MODE", default_value = "700", value_parser = octal)]
    pub(crate) socket_mode: u32,
    /// Largest size of the data file [default: 1 TiB of address space]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_file: Option<u64>,
}

fn octal(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok();
    let mode = mode.filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "give a mode such as 700".to_owned())
}

fn value_bytes(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1024;
    const MOST: u64 = 1 << 30;
    let bytes = parse_bytes(text)?;
    match (LEAST..=MOST).contains(&bytes) {
        true => Ok(bytes),
        false => Err("give 1K to 1G".to_owned()),
    }
}
