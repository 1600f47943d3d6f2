//! Serves the same sessions by different drivers, to measure which one to build on.
//!
//! ```text
//!   mio              the product: an event loop per core, an acceptor hands connections out
//!   tokio-threads    tokio's work-stealing runtime, one task per connection
//!   tokio-per-core   a single-threaded tokio runtime per core, connections handed out in turn
//! ```
//!
//! It serves a directory or, to measure the drivers alone, one fixed entry per search.
//! The numbers and the choice are in docs/driver-choice.md.

#![forbid(unsafe_code)]

mod asynchronous;
mod fixed;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use fulgurite_config::{Layer, ListenUrl, Settings};
use fulgurite_server::{Handler, Live, Server, ServerSettings, open_directory};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Driver {
    Mio,
    TokioThreads,
    TokioPerCore,
}

/// Serves until SIGTERM.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(value_enum)]
    driver: Driver,
    /// Address and port.
    #[arg(long, default_value = "127.0.0.1:3891")]
    listen: std::net::SocketAddr,
    /// Threads that answer.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The store to serve; without it, every search for a uid finds one made-up entry.
    #[arg(long, requires = "suffix")]
    data: Option<PathBuf>,
    /// Suffix of the store.
    #[arg(long)]
    suffix: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Some(data) = &arguments.data else {
        return serve(&arguments, fixed::Fixed);
    };
    let mut layer = Layer::default();
    layer.set_flag("--data", "data", data.display().to_string().as_str())?;
    if let Some(suffix) = &arguments.suffix {
        layer.set_flag("--suffix", "suffix", suffix.as_str())?;
    }
    let settings = Settings::new(layer)?;
    serve(&arguments, Live::new(open_directory(&settings)?))
}

fn serve<H>(arguments: &Arguments, handler: H) -> anyhow::Result<()>
where
    H: Handler + Send + 'static,
    for<'h> H::Search<'h>: Send,
    H::Identity: Sync,
{
    let settings = ServerSettings {
        workers: arguments.threads,
        handle_signals: true,
        ..ServerSettings::default()
    };
    if arguments.driver == Driver::Mio {
        let url = ListenUrl::ldap(&arguments.listen.ip().to_string(), arguments.listen.port());
        return Ok(Server::bind(&[url], settings)?.run(&handler)?);
    }
    let listener = std::net::TcpListener::bind(arguments.listen)
        .with_context(|| format!("cannot listen on {}", arguments.listen))?;
    // The process ends by a signal; until then everything lives.
    let handler: &'static H = Box::leak(Box::new(handler));
    let settings: &'static ServerSettings = Box::leak(Box::new(settings));
    match arguments.driver {
        Driver::TokioThreads => asynchronous::work_stealing(listener, handler, settings),
        _ => asynchronous::per_core(listener, handler, settings),
    }
}
