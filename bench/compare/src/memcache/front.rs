//! A store as a server of memcached's text protocol: `set` and `get`, a thread for each connection.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context as _, anyhow, ensure};

use crate::store::{Job, Reader as _, Setup, Store, Writer as _};

/// The longest line and value.
const LINE_BYTES_MAX: u64 = 512;
const VALUE_BYTES_MAX: u64 = 1 << 20;

/// A front end that is to serve.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) setup: Setup,
    /// Connections after which it ends.
    pub(crate) connections: u64,
    /// True if writers have to wait for each other here, because the engine does not do it.
    pub(crate) one_writer: bool,
}

impl Job for Front {
    type Output = ();

    /// Prints the port, and serves.
    fn run<S: Store>(&self) -> anyhow::Result<()> {
        let store = S::open(&self.setup)?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        println!("{}", listener.local_addr()?.port());
        let lock = Mutex::new(());
        let lock = self.one_writer.then_some(&lock);
        thread::scope(|scope| {
            let store = &store;
            let mut threads = Vec::new();
            for _ in 0..self.connections {
                let (stream, _) = listener.accept()?;
                threads.push(scope.spawn(move || serve(store, &stream, lock)));
            }
            for thread in threads {
                thread.join().map_err(|_| anyhow!("a thread panicked"))??;
            }
            Ok(())
        })
    }
}

/// Answers one connection until its end.
fn serve<S: Store>(store: &S, stream: &TcpStream, lock: Option<&Mutex<()>>) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream);
    let mut output = BufWriter::new(stream);
    let (mut line, mut value) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if (&mut input)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(());
        }
        let text = std::str::from_utf8(&line).context("a line that is no text")?;
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["set", key, _flags, _expiry, length] => {
                let length: u64 = length.parse().context("a length")?;
                ensure!(length <= VALUE_BYTES_MAX, "a value of {length} bytes");
                value.clear();
                (&mut input).take(length + 2).read_to_end(&mut value)?;
                let value = value
                    .strip_suffix(b"\r\n")
                    .context("a value without an end")?;
                // The lock guards no data, so a panic elsewhere leaves it sound.
                let held = lock.map(|lock| lock.lock().unwrap_or_else(|held| held.into_inner()));
                store.write(|writer| writer.put(key.as_bytes(), value))?;
                drop(held);
                output.write_all(b"STORED\r\n")?;
            }
            ["get", key] => {
                value.clear();
                let is_there = store
                    .reader()?
                    .get(key.as_bytes(), |found| value.extend_from_slice(found))?;
                if is_there {
                    write!(output, "VALUE {key} 0 {}\r\n", value.len())?;
                    output.write_all(&value)?;
                    output.write_all(b"\r\n")?;
                }
                output.write_all(b"END\r\n")?;
            }
            _ => output.write_all(b"ERROR\r\n")?,
        }
        output.flush()?;
    }
}
