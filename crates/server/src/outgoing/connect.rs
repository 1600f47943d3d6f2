//! The way to a provider: its address, the socket and its options, TLS.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use fulgurite_config::{ListenScheme, ListenUrl};
use fulgurite_ldap::{ExtendedRequest, Request, Response, ResponseMessage, encode, oid};
use fulgurite_policy::{Keepalive, ProviderLink, StartTls};

use super::client_tls;
use super::stream::{ProviderStream, Socket};

/// Connects to the provider, with TLS as the settings want it. Warnings name the `user` of the
/// connection.
///
/// # Errors
/// The reason, with the URL.
pub(crate) fn connect(
    settings: &ProviderLink,
    user: &str,
    timeout: Duration,
) -> Result<ProviderStream, String> {
    let failed = |reason: String| format!("{}: {reason}", settings.url);
    let deadline = Instant::now() + timeout;
    let left = || deadline.saturating_duration_since(Instant::now());
    let url = provider_url(&settings.url).map_err(failed)?;
    let mut stream = match url.scheme {
        ListenScheme::Ldapi => {
            let socket = UnixStream::connect(&url.path);
            let socket = socket.map_err(|error| failed(error.to_string()))?;
            ProviderStream::new(Socket::Unix(socket))
        }
        ListenScheme::Ldap | ListenScheme::Ldaps => {
            let socket = tcp(&url, settings, deadline);
            let socket = socket.map_err(|error| failed(error.to_string()))?;
            ProviderStream::new(Socket::Tcp(socket))
        }
    };
    if url.scheme == ListenScheme::Ldaps {
        let tls = client_tls::connection(&settings.tls, &url.host).map_err(failed)?;
        let done = stream.encrypt(tls, left());
        done.map_err(|error| failed(format!("TLS: {error}")))?;
    } else if settings.start_tls != StartTls::No {
        start_tls(&mut stream, (settings, user), &url, left()).map_err(failed)?;
    }
    Ok(stream)
}

/// Reads the URL of a provider. A name after the host has no meaning.
fn provider_url(text: &str) -> Result<ListenUrl, String> {
    let bare = match text.split_once("://") {
        Some((scheme, rest)) if !scheme.eq_ignore_ascii_case("ldapi") => {
            let host = rest.split(['/', '?']).next().unwrap_or(rest);
            format!("{}://{host}", scheme.to_ascii_lowercase())
        }
        _ => text.to_owned(),
    };
    match bare.parse::<ListenUrl>()? {
        url if url.proxied => Err("no header of the PROXY protocol is sent".to_owned()),
        url => Ok(url),
    }
}

fn tcp(url: &ListenUrl, settings: &ProviderLink, deadline: Instant) -> io::Result<TcpStream> {
    let host = match url.host.as_str() {
        "" => "localhost",
        host => host,
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, url.port).to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                keep_alive(&socket, settings.keepalive)?;
                if settings.tcp_user_timeout_ms > 0 {
                    let timeout = settings.tcp_user_timeout_ms;
                    rustix::net::sockopt::set_tcp_user_timeout(&socket, timeout)?;
                }
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn keep_alive(socket: &TcpStream, keepalive: Keepalive) -> io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(socket, true)?;
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    if keepalive.idle_s > 0 {
        sockopt::set_tcp_keepidle(socket, seconds(keepalive.idle_s))?;
    }
    if keepalive.probes > 0 {
        sockopt::set_tcp_keepcnt(socket, keepalive.probes)?;
    }
    if keepalive.interval_s > 0 {
        sockopt::set_tcp_keepintvl(socket, seconds(keepalive.interval_s))?;
    }
    Ok(())
}

/// Asks for TLS. Without it, `starttls=yes` goes on in clear, as in slapd.
fn start_tls(
    stream: &mut ProviderStream,
    (settings, user): (&ProviderLink, &str),
    url: &ListenUrl,
    timeout: Duration,
) -> Result<(), String> {
    let request = Request::Extended(ExtendedRequest {
        oid: oid::START_TLS.as_bytes(),
        value: None,
    });
    let mut bytes = Vec::new();
    // The consumer's own ids begin anew: this exchange is over before.
    encode::request(&mut bytes, 1, &request, &[]);
    let text = |error: io::Error| error.to_string();
    stream.send(&bytes, timeout).map_err(text)?;
    let answer = stream.receive(timeout).map_err(text)?;
    let answer = answer.ok_or("no answer to StartTLS")?;
    let answer = ResponseMessage::decode(answer).map_err(|error| error.to_string())?;
    let Response::Extended { result, .. } = &answer.response else {
        return Err("another answer than that to StartTLS".to_owned());
    };
    if !result.is_success() {
        let refusal = format!("StartTLS is refused: {}", result.diagnostic);
        return match settings.start_tls {
            StartTls::Critical => Err(refusal),
            _ => {
                tracing::warn!("{user}: {refusal}; going on in clear");
                Ok(())
            }
        };
    }
    let tls = client_tls::connection(&settings.tls, &url.host)?;
    let done = stream.encrypt(tls, timeout);
    done.map_err(|error| format!("TLS: {error}"))
}
