//! A wire that can be cut: it passes requests to a server, and loses answers when told.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A wire to one server.
#[derive(Debug)]
pub struct Wire {
    /// The URL of its near end.
    pub url: String,
    is_cut: Arc<AtomicBool>,
}

impl Wire {
    /// Puts a wire before a server with a URL of `http`.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn new(server_at: &str) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server_at = server_at.trim_start_matches("http://").to_owned();
        let is_cut = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_cut);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&server_at) else {
                    continue;
                };
                carry(&client, &server, None);
                carry(&server, &client, Some(Arc::clone(&flag)));
            }
        });
        Wire { url, is_cut }
    }

    /// Loses the next answers: the connection ends in their place.
    pub fn cut_answers(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }
}

fn carry(from: &TcpStream, to: &TcpStream, is_cut: Option<Arc<AtomicBool>>) {
    let mut from = from.try_clone().expect("a socket");
    let mut to = to.try_clone().expect("a socket");
    thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        loop {
            let len = from.read(&mut bytes).unwrap_or(0);
            let is_lost = is_cut
                .as_ref()
                .is_some_and(|cut| cut.load(Ordering::SeqCst));
            if len == 0 || is_lost || to.write_all(&bytes[..len]).is_err() {
                drop(from.shutdown(Shutdown::Both));
                drop(to.shutdown(Shutdown::Both));
                return;
            }
        }
    });
}
