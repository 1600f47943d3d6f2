//! From a URL to a connection: TCP, a local socket, TLS from the first byte, StartTLS.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::time::Duration;

use fulgurite_ldap::{LdapUrl, Scheme, oid};

use crate::socket::Socket;
use crate::tls::{self, TlsSettings};
use crate::{Client, ClientError, Receiver, Sender};

/// How a connection is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectOptions {
    /// Bounds the connection and each later wait for the server; `None` waits for ever.
    pub timeout: Option<Duration>,
    /// The trust in the server's certificate.
    pub tls: TlsSettings,
    /// True asks an `ldap://` or `ldapi://` server for TLS, and fails without it.
    pub start_tls: bool,
}

impl Client {
    /// Connects to the server of a URL. Only its scheme, host and port count.
    ///
    /// # Errors
    /// [`ClientError::Connect`], [`ClientError::Tls`], and those of [`Client::start_tls`].
    pub fn open(url: &LdapUrl, options: &ConnectOptions) -> Result<Self, ClientError> {
        let host = url.host.as_deref().unwrap_or("localhost");
        let socket = match (url.scheme, url.scheme.default_port()) {
            (Scheme::Ldapi, _) | (_, None) => {
                let path = url.host.as_deref().ok_or_else(|| {
                    let text = "the URL names no socket";
                    ClientError::Connect(Error::new(ErrorKind::InvalidInput, text))
                })?;
                Socket::unix(Path::new(path))
            }
            (_, Some(port)) => {
                let address = (host, url.port.unwrap_or(port));
                Socket::tcp(address, options.timeout)
            }
        };
        let mut client = Client::of_socket(socket.map_err(ClientError::Connect)?)?;
        client.set_read_timeout(options.timeout)?;
        client.set_write_timeout(options.timeout)?;
        if url.scheme == Scheme::Ldaps {
            client.encrypt(&options.tls, host)?;
        } else if options.start_tls {
            client.start_tls(&options.tls, host)?;
        }
        Ok(client)
    }

    pub(crate) fn of_socket(socket: Socket) -> Result<Self, ClientError> {
        let other = socket.try_clone().map_err(ClientError::Connect)?;
        Ok(Client {
            sender: Sender::new(socket),
            receiver: Receiver::new(other),
        })
    }

    /// Asks the server for TLS (RFC 4511, section 4.14), and begins it. No other request may be
    /// under way.
    ///
    /// # Errors
    /// [`ClientError::StartTls`] for a refusal, [`ClientError::Tls`] for a handshake that fails.
    pub fn start_tls(&mut self, settings: &TlsSettings, host: &str) -> Result<(), ClientError> {
        let reply = self.extended(oid::START_TLS, None)?;
        if !reply.result.is_success() {
            return Err(ClientError::StartTls(reply.result));
        }
        self.encrypt(settings, host)
    }

    fn encrypt(&mut self, settings: &TlsSettings, host: &str) -> Result<(), ClientError> {
        // Plain bytes behind the answer to StartTLS would be of another sender.
        if !self.receiver.is_drained() {
            return Err(ClientError::Tls(
                "the server sent bytes before TLS".to_owned(),
            ));
        }
        let tls = tls::shake_hands(settings, host, self.sender.socket())?;
        self.receiver.decrypt_by(tls.clone());
        self.sender.encrypt_by(tls);
        Ok(())
    }
}
