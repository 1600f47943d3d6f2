//! Connections to the members of etcd that a test can cut.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The ways to the members.
pub(crate) struct Cuts(Vec<Arc<AtomicBool>>);

impl Cuts {
    /// Leads the way to each URL through a listener of this test. Returns the URLs of these.
    pub(crate) fn of(urls: &[String]) -> (Cuts, Vec<String>) {
        let way = |url: &String| {
            let target = url.strip_prefix("http://").expect("no TLS").to_owned();
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            let address = listener.local_addr().expect("an address");
            let is_cut = Arc::new(AtomicBool::new(false));
            let cut = Arc::clone(&is_cut);
            std::thread::spawn(move || serve(&listener, &target, &cut));
            (is_cut, format!("http://{address}"))
        };
        let (cuts, urls) = urls.iter().map(way).unzip();
        (Cuts(cuts), urls)
    }

    /// Cuts all connections to a member, or lets them be made again.
    pub(crate) fn set(&self, member: usize, is_cut: bool) {
        self.0[member].store(is_cut, Ordering::SeqCst);
    }
}

fn serve(listener: &TcpListener, target: &str, is_cut: &Arc<AtomicBool>) {
    for client in listener.incoming().flatten() {
        if is_cut.load(Ordering::SeqCst) {
            continue;
        }
        let Ok(member) = TcpStream::connect(target) else {
            continue;
        };
        let pairs = [(&client, &member), (&member, &client)];
        for (from, to) in pairs {
            let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else {
                continue;
            };
            let is_cut = Arc::clone(is_cut);
            std::thread::spawn(move || carry(from, to, &is_cut));
        }
    }
}

/// Carries bytes until the connection ends, or is cut.
fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut bytes = [0; 16 * 1024];
    drop(from.set_read_timeout(Some(Duration::from_millis(100))));
    while !is_cut.load(Ordering::SeqCst) {
        let len = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => break,
        };
        if to.write_all(&bytes[..len]).is_err() {
            break;
        }
    }
    drop(from.shutdown(Shutdown::Both));
    drop(to.shutdown(Shutdown::Both));
}
