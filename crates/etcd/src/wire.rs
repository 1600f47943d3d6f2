//! One connection to a member: requests in JSON, one at a time.

use std::sync::Arc;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::error::EtcdError;
use crate::settings::Member;

/// Bytes of an answer, at most: some batches in base64.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A connection that takes the next request.
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    /// Connects to a member. A task of the runtime drives the connection.
    pub(crate) async fn open(
        member: &Member,
        tls: Option<&Arc<ClientConfig>>,
    ) -> Result<Connection, EtcdError> {
        let socket = TcpStream::connect((member.host.as_str(), member.port)).await;
        let socket = socket.map_err(|error| silence(&error))?;
        socket.set_nodelay(true).map_err(|error| silence(&error))?;
        if !member.is_tls {
            return shake_hands(socket).await;
        }
        let missing = || EtcdError::Setting("https needs the files of TLS".to_owned());
        let connector = TlsConnector::from(Arc::clone(tls.ok_or_else(missing)?));
        let name = ServerName::try_from(member.host.clone());
        let name = name.map_err(|error| EtcdError::Setting(error.to_string()))?;
        let stream = connector.connect(name, socket).await;
        shake_hands(stream.map_err(|error| silence(&error))?).await
    }

    /// Sends a question and returns the answer.
    pub(crate) async fn post(
        &mut self,
        member: &Member,
        path: &str,
        token: Option<&str>,
        body: Bytes,
    ) -> Result<Value, EtcdError> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(HOST, format!("{}:{}", member.host, member.port))
            .header(CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        let (status, body) = self.send(request.body(Full::new(body))).await?;
        let answer: Option<Value> = serde_json::from_slice(&body).ok();
        match answer {
            Some(answer) if status.is_success() && answer.get("error").is_none() => Ok(answer),
            answer => Err(refusal(status.as_u16(), &answer.unwrap_or_default())),
        }
    }

    /// Returns a page of text.
    pub(crate) async fn get(&mut self, member: &Member, path: &str) -> Result<String, EtcdError> {
        let request = Request::builder()
            .uri(path)
            .header(HOST, format!("{}:{}", member.host, member.port))
            .body(Full::default());
        let (status, body) = self.send(request).await?;
        match str::from_utf8(&body) {
            Ok(text) if status.is_success() => Ok(text.to_owned()),
            _ => Err(refusal(status.as_u16(), &Value::Null)),
        }
    }

    async fn send(
        &mut self,
        request: Result<Request<Full<Bytes>>, hyper::http::Error>,
    ) -> Result<(StatusCode, Bytes), EtcdError> {
        let request = request.map_err(|error| EtcdError::Setting(error.to_string()))?;
        self.0.ready().await.map_err(|error| silence(&error))?;
        let response = self.0.send_request(request).await;
        let response = response.map_err(|error| silence(&error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX)
            .collect()
            .await;
        let body = body.map_err(|error| EtcdError::Silence(error.to_string()))?;
        Ok((status, body.to_bytes()))
    }
}

async fn shake_hands<S>(stream: S) -> Result<Connection, EtcdError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let hands = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = hands.map_err(|error| silence(&error))?;
    // Its end shows in the next request.
    drop(tokio::spawn(connection));
    Ok(Connection(sender))
}

/// Returns the error that an answer tells about. Streams have it one level below.
fn refusal(status: u16, answer: &Value) -> EtcdError {
    let text = answer.get("error").filter(|error| error.is_object());
    let error = text.unwrap_or(answer);
    let code = error.get("code").or_else(|| error.get("grpc_code"));
    let message = error.get("message").or_else(|| error.get("error"));
    let message = message.and_then(Value::as_str).unwrap_or_default();
    EtcdError::of(status, code.and_then(Value::as_u64), message)
}

fn silence(error: &dyn std::fmt::Display) -> EtcdError {
    EtcdError::Silence(error.to_string())
}
