//! A provider that follows a script, over plain or encrypted connections.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fulgurite_auth::{ChannelBinding, ClientFirst, ScramHash, ScramKeys, ServerFirst};
use fulgurite_ldap::control::{EntryState, PhaseEnd, SyncInfo, SyncState};
use fulgurite_ldap::{
    Authentication, Control, LdapResult, Limits, Message, MessageId, Request, ResultCode, encode,
    frame, oid,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The password of the scripted provider.
pub(crate) const PASSWORD: &str = "sesame";

/// The use of TLS by a provider.
pub(crate) enum Encryption {
    None,
    FromTheFirstByte(Arc<ServerConfig>),
    OnRequest(Arc<ServerConfig>),
}

/// The answers to a search: the number of the session, and the id to use.
type Answers = dyn Fn(usize, MessageId) -> Vec<Vec<u8>> + Send + Sync;

/// Writes the answers to a search. An error ends the session.
type Script = dyn Fn(usize, MessageId, &mut dyn Write) -> std::io::Result<()> + Send + Sync;

/// Starts a provider; the thread ends with the process.
pub(crate) fn start(encryption: Encryption, answers: Box<Answers>) -> (u16, Arc<AtomicUsize>) {
    let script = move |number: usize, id: MessageId, stream: &mut dyn Write| {
        for bytes in answers(number, id) {
            if bytes.is_empty() {
                // The script ends the session here.
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            stream.write_all(&bytes)?;
        }
        Ok(())
    };
    start_script(encryption, Box::new(script))
}

/// Starts a provider whose answers are never in memory all at once.
pub(crate) fn start_script(encryption: Encryption, script: Box<Script>) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let sessions = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sessions);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let number = count.fetch_add(1, Ordering::SeqCst);
            // A session that breaks off is what many tests are about.
            let _ = serve(stream, &encryption, number, &script);
        }
    });
    (port, sessions)
}

pub(crate) fn server_config(certificate: &Path) -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from_pem_file(certificate).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(certificate).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key);
    Arc::new(config.expect("a sound pair"))
}

fn serve(
    stream: TcpStream,
    encryption: &Encryption,
    number: usize,
    script: &Script,
) -> std::io::Result<()> {
    let encrypted = |stream, config: &Arc<ServerConfig>| {
        let connection = ServerConnection::new(Arc::clone(config)).expect("a connection");
        StreamOwned::new(connection, stream)
    };
    match encryption {
        Encryption::None => talk(stream, number, script),
        Encryption::FromTheFirstByte(config) => talk(encrypted(stream, config), number, script),
        Encryption::OnRequest(config) => {
            let mut stream = stream;
            let mut buffer = Vec::new();
            let (id, is_request) = read(&mut stream, &mut buffer, |message| {
                (message.id, matches!(message.request, Request::Extended(_)))
            })?;
            let mut out = Vec::new();
            let code = match is_request {
                true => ResultCode::Success,
                false => ResultCode::ConfidentialityRequired,
            };
            encode::extended_result(&mut out, id, &LdapResult::new(code), None, None, &[]);
            stream.write_all(&out)?;
            talk(encrypted(stream, config), number, script)
        }
    }
}

/// Reads one request.
fn read<T>(
    stream: &mut impl Read,
    buffer: &mut Vec<u8>,
    use_it: impl FnOnce(&Message<'_>) -> T,
) -> std::io::Result<T> {
    loop {
        if let Ok(Some(len)) = frame(buffer, 1 << 20) {
            let pdu: Vec<u8> = buffer.drain(..len).collect();
            let message = Message::decode(&pdu, &Limits::default()).expect("a sound request");
            return Ok(use_it(&message));
        }
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer.extend(&bytes[..count]);
    }
}

fn talk(mut stream: impl Read + Write, number: usize, script: &Script) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    let mut exchange = None;
    loop {
        let (id, is_search, answer) = read(&mut stream, &mut buffer, |message| {
            let answer = match &message.request {
                Request::Bind(bind) => bound(message.id, &bind.authentication, &mut exchange),
                _ => Vec::new(),
            };
            (
                message.id,
                matches!(message.request, Request::Search(_)),
                answer,
            )
        })?;
        stream.write_all(&answer)?;
        if is_search {
            script(number, id, &mut stream)?;
        }
        stream.flush()?;
    }
}

/// Answers a bind: simple ones by the password, SCRAM by its proofs.
fn bound(
    id: MessageId,
    authentication: &Authentication<'_>,
    exchange: &mut Option<ServerFirst>,
) -> Vec<u8> {
    let keys = ScramKeys::derive(ScramHash::Sha256, PASSWORD.as_bytes(), b"salt", 4096);
    let (code, value) = match (authentication, exchange.take()) {
        (Authentication::Simple(password), _) if *password == PASSWORD.as_bytes() => {
            (ResultCode::Success, None)
        }
        (Authentication::Sasl { credentials, .. }, None) => {
            let first = credentials.unwrap_or_default();
            let first = ClientFirst::parse(first, false, ChannelBinding::default());
            let first = first
                .expect("a first message")
                .answer(b"salt", 4096, &[7; 18]);
            let message = first.message().to_owned();
            *exchange = Some(first);
            (ResultCode::SaslBindInProgress, Some(message))
        }
        (Authentication::Sasl { credentials, .. }, Some(first)) => {
            match first.verify(credentials.unwrap_or_default(), &keys) {
                Ok(proof) => (ResultCode::Success, Some(proof)),
                Err(_) => (ResultCode::InvalidCredentials, None),
            }
        }
        _ => (ResultCode::InvalidCredentials, None),
    };
    let value = value.map(String::into_bytes);
    let mut out = Vec::new();
    encode::bind_result(&mut out, id, &LdapResult::new(code), value.as_deref(), &[]);
    out
}

/// Returns an entry of a refresh.
pub(crate) fn entry(id: MessageId, uuid: u8, dn: &str, attributes: &[(&str, &str)]) -> Vec<u8> {
    entry_of(id, [uuid; 16], dn, attributes)
}

/// Returns one of many entries of a refresh.
pub(crate) fn numbered_entry(
    id: MessageId,
    number: u32,
    dn: &str,
    attributes: &[(&str, &str)],
) -> Vec<u8> {
    let mut uuid = [0xee; 16];
    uuid[..4].copy_from_slice(&number.to_be_bytes());
    entry_of(id, uuid, dn, attributes)
}

fn entry_of(id: MessageId, uuid: [u8; 16], dn: &str, attributes: &[(&str, &str)]) -> Vec<u8> {
    let value = SyncState {
        state: EntryState::Add,
        entry_uuid: uuid,
        cookie: None,
    };
    entry_with(id, &value.encode(), dn, attributes)
}

/// Returns an entry with any value of the Sync State control.
pub(crate) fn entry_with(
    id: MessageId,
    state: &[u8],
    dn: &str,
    attributes: &[(&str, &str)],
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = encode::search_entry(&mut out, id, dn.as_bytes());
    for (name, value) in attributes {
        writer.whole_attribute(name.as_bytes(), [value.as_bytes()].into_iter());
    }
    writer.finish(&[Control::with_value(oid::SYNC_STATE, false, state)]);
    out
}

/// Returns the end of a refresh that named everything.
pub(crate) fn end(id: MessageId, number: usize) -> Vec<u8> {
    let cookie = format!("rid=001,sid=001,csn=20260101000000.{number:06}Z#000000#001#000000");
    let end = PhaseEnd {
        cookie: Some(cookie.as_bytes()),
        refresh_done: true,
    };
    let mut out = Vec::new();
    encode::sync_info(&mut out, id, &SyncInfo::RefreshPresent(end));
    out
}
