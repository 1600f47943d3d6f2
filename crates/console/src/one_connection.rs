//! One connection without a listener, for tests with hostile bytes.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::app::App;
use crate::edge::converse;
use crate::options::ConsoleOptions;
use crate::places::Places;

/// The time for all answers. A refused login takes longer, and then the connection ends without.
const TIME_MAX: Duration = Duration::from_millis(200);

/// Returns the answers of a new console to the bytes of one connection.
///
/// # Errors
/// Those of the system.
pub fn answer_bytes(options: ConsoleOptions, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let (client, console) = UnixStream::pair()?;
    console.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()?;
    let app = Arc::new(App::new(options));
    std::thread::scope(|scope| {
        let asked = scope.spawn(move || exchange(client, bytes));
        runtime.block_on(async {
            let stream = tokio::net::UnixStream::from_std(console)?;
            let peer = Ipv4Addr::LOCALHOST.into();
            let place = Arc::<Places>::default().take(peer);
            let place = place.ok_or(io::ErrorKind::ResourceBusy)?;
            // Dropping the connection closes it.
            let _ = timeout(TIME_MAX, converse(app, TokioIo::new(stream), peer, place)).await;
            Ok::<_, io::Error>(())
        })?;
        Ok(asked.join().unwrap_or_default())
    })
}

/// Sends bytes, and returns what comes until the other side closes.
fn exchange(mut client: UnixStream, bytes: &[u8]) -> Vec<u8> {
    let mut answers = Vec::new();
    // The console may close before it has read all.
    let _ = client.write_all(bytes);
    let _ = client.shutdown(Shutdown::Write);
    let _ = client.read_to_end(&mut answers);
    answers
}
