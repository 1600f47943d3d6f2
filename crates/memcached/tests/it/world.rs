//! A server in this process, and a client that sends bytes and compares bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use fulgurite_memcached::{Address, Options, ServeError, Server, StopHandle};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that stops when it is dropped.
pub(crate) struct Running {
    stop: StopHandle,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
    pub(crate) addresses: Vec<Address>,
}

/// Settings with one listener at a free port.
pub(crate) fn options(data: &Path) -> Options {
    Options {
        data: data.to_owned(),
        listen: vec![Address::Tcp("127.0.0.1".to_owned(), 0)],
        ..Options::default()
    }
}

impl Running {
    pub(crate) fn start(options: &Options) -> Running {
        let server = Server::open(options).expect("a server");
        let (stop, addresses) = (server.stop_handle(), server.addresses());
        let thread = Some(std::thread::spawn(move || server.run(false)));
        Running {
            stop,
            thread,
            addresses,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        let port = self.addresses.iter().find_map(|address| match address {
            Address::Tcp(_, port) => Some(*port),
            Address::Unix(_) => None,
        });
        port.expect("a listener over TCP")
    }

    pub(crate) fn client(&self) -> Client {
        Client::tcp(self.port())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.expect("no panic").expect("no error");
            }
        }
    }
}

/// Waits until `done` says so.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if done() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("waited in vain");
}

/// A server in another process, which is killed when it is dropped.
pub(crate) struct Spawned {
    process: Child,
    pub(crate) socket: PathBuf,
}

impl Spawned {
    /// Starts a server, and waits until it serves at its socket.
    pub(crate) fn start(command: &mut Command, socket: PathBuf) -> Spawned {
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}; try scripts/setup.sh all"));
        let spawned = Spawned { process, socket };
        for _ in 0..6000 {
            if UnixStream::connect(&spawned.socket).is_ok() {
                return spawned;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("{command:?} does not serve");
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection whose answers are read up to that of a `mn`.
pub(crate) struct Client {
    stream: Box<dyn Stream>,
}

pub(crate) trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

impl Client {
    pub(crate) fn tcp(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("an option");
        Client {
            stream: Box::new(stream),
        }
    }

    pub(crate) fn unix(path: &Path) -> Client {
        let stream = UnixStream::connect(path).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Client {
            stream: Box::new(stream),
        }
    }

    pub(crate) fn over(stream: impl Stream + 'static) -> Client {
        Client {
            stream: Box::new(stream),
        }
    }

    pub(crate) fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).expect("a request is sent");
        self.stream.flush().expect("a request is sent");
    }

    /// Returns the answers to a request, without that of the `mn` behind it.
    pub(crate) fn ask(&mut self, request: impl AsRef<[u8]>) -> String {
        let bytes = self.ask_bytes(request.as_ref());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn ask_bytes(&mut self, request: &[u8]) -> Vec<u8> {
        self.send(&[request, b"mn\r\n"].concat());
        let mut answer = Vec::new();
        let mut buffer = vec![0; 65536];
        while !answer.ends_with(b"MN\r\n") {
            let count = self.stream.read(&mut buffer).expect("an answer");
            assert!(
                count > 0,
                "the server closed after {:?}",
                String::from_utf8_lossy(&answer)
            );
            answer.extend_from_slice(&buffer[..count]);
        }
        answer.truncate(answer.len() - 4);
        answer
    }

    /// Returns all that comes until the server closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut answer = Vec::new();
        // A reset is an end too.
        let _ = self.stream.read_to_end(&mut answer);
        answer
    }

    /// Returns a figure of `stats`.
    pub(crate) fn figure(&mut self, name: &str) -> u64 {
        let answer = self.ask("stats\r\n");
        let line = answer.lines().find_map(|line| {
            let (found, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
            (found == name).then(|| value.to_owned())
        });
        line.and_then(|value| value.parse().ok()).expect("a figure")
    }
}
