//! HTTP: connections and their bounds of bytes and time.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::options::{ConsoleOptions, TlsSource};
use crate::places::{Places, TakenPlace};
use crate::request::{PageRequest, PageResponse, pairs};
use crate::routes::answer;

/// Bytes of a form, of a head, and of a request's target at most.
const FORM_BYTES_MAX: usize = 1 << 20;
const HEAD_BYTES_MAX: usize = 16 << 10;
const TARGET_BYTES_MAX: usize = 8 << 10;

/// The time for a handshake, for a head, for a body, and for a whole connection.
const STEP_TIME_MAX: Duration = Duration::from_secs(10);
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(120);

/// The interval at which sessions whose time is over are ended.
const SWEEP: Duration = Duration::from_secs(60);

/// Threads that make pages, and the bytes of their stacks.
const THREADS_MAX: usize = 16;
const STACK_BYTES: usize = 1 << 20;

/// Headers of every response. The pages need no script, and nothing from elsewhere.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    ("x-frame-options", "DENY"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), microphone=(), geolocation=()",
    ),
    ("cache-control", "no-store"),
];

struct Edge {
    app: Arc<App>,
    tls: Option<TlsSource>,
    places: Arc<Places>,
}

/// Serves until `stop` is sent or dropped.
pub(crate) fn run(
    listeners: Vec<TcpListener>,
    options: ConsoleOptions,
    stop: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS_MAX)
        .thread_stack_size(STACK_BYTES)
        .thread_name("console-page")
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!("console: cannot begin: {error}"),
    };
    let edge = Arc::new(Edge {
        tls: options.tls.clone(),
        app: Arc::new(App::new(options)),
        places: Arc::default(),
    });
    runtime.block_on(async {
        for listener in listeners {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => drop(tokio::spawn(accept(Arc::clone(&edge), listener))),
                Err(error) => tracing::error!("console: cannot listen: {error}"),
            }
        }
        tokio::spawn(sweep(Arc::clone(&edge)));
        // A sender that is gone stops the console, too.
        let _ = stop.await;
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

async fn sweep(edge: Arc<Edge>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let app = Arc::clone(&edge.app);
        drop(tokio::task::spawn_blocking(move || {
            app.sessions.sweep(Instant::now())
        }));
    }
}

async fn accept(edge: Arc<Edge>, listener: tokio::net::TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Connections beyond the bound are closed at once.
                if let Some(place) = edge.places.take(peer.ip()) {
                    let served = serve(Arc::clone(&edge), stream, peer, Arc::clone(&place));
                    place.is_served_by(tokio::spawn(served).abort_handle());
                }
            }
            Err(error) => {
                tracing::debug!("console: cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve(edge: Arc<Edge>, stream: TcpStream, peer: SocketAddr, place: Arc<TakenPlace>) {
    let (app, peer) = (Arc::clone(&edge.app), peer.ip());
    let Some(tls) = &edge.tls else {
        return converse(app, TokioIo::new(stream), peer, place).await;
    };
    // Without a certificate nobody may see the pages.
    let Some(config) = tls() else { return };
    let handshake = timeout(STEP_TIME_MAX, TlsAcceptor::from(config).accept(stream));
    match handshake.await {
        Ok(Ok(stream)) => converse(app, TokioIo::new(stream), peer, place).await,
        Ok(Err(error)) => tracing::debug!("console: TLS failed: {error}"),
        Err(_) => {}
    }
}

pub(crate) async fn converse<S>(app: Arc<App>, io: TokioIo<S>, peer: IpAddr, place: Arc<TakenPlace>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static,
{
    let service = hyper::service::service_fn(move |request| {
        let (app, place) = (Arc::clone(&app), Arc::clone(&place));
        async move { Ok::<_, Infallible>(respond(app, request, peer, place).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(STEP_TIME_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(io, service);
    if let Ok(Err(error)) = timeout(CONNECTION_TIME_MAX, connection).await {
        tracing::debug!("console: a connection failed: {error}");
    }
}

/// Answers one request. Pages are made on threads that may wait for the directory.
///
/// A client that leaves keeps its place until its page would have left. Otherwise it could ask for
/// as many pages, and try as many passwords, as it can open connections.
async fn respond(
    app: Arc<App>,
    request: Request<Incoming>,
    peer: IpAddr,
    place: Arc<TakenPlace>,
) -> Response<Full<Bytes>> {
    let is_head = request.method() == Method::HEAD;
    place.begin_request();
    let taken = Arc::clone(&place);
    let page = match read(request, peer).await {
        Err(refusal) => refusal,
        Ok(request) => {
            let made = tokio::spawn(async move {
                let page =
                    tokio::task::spawn_blocking(move || answer(&app, &request, Instant::now()));
                let page = page.await;
                if let Some(at) = page.as_ref().ok().and_then(|page| page.not_before) {
                    sleep_until(at.into()).await;
                }
                drop(place);
                page
            });
            let made = made.await.and_then(|page| page);
            made.unwrap_or_else(|_| PageResponse::text(500, "the console failed; its log says why"))
        }
    };
    taken.end_request();
    built(page, is_head)
}

async fn read(request: Request<Incoming>, peer: IpAddr) -> Result<PageRequest, PageResponse> {
    let (head, body) = request.into_parts();
    let is_post = match head.method {
        Method::GET | Method::HEAD => false,
        Method::POST => true,
        _ => {
            return Err(PageResponse::text(
                405,
                "only GET, HEAD and POST are answered here",
            ));
        }
    };
    if head.uri.to_string().len() > TARGET_BYTES_MAX {
        return Err(PageResponse::text(414, "the address is too long"));
    }
    let form = if is_post {
        form(&head.headers, body).await?
    } else {
        Vec::new()
    };
    let text = |name: HeaderName| {
        let value = head.headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let cookies = head.headers.get_all(header::COOKIE).iter();
    let cookies: Vec<&str> = cookies.filter_map(|value| value.to_str().ok()).collect();
    Ok(PageRequest {
        is_post,
        path: head.uri.path().to_owned(),
        query: pairs(head.uri.query().unwrap_or_default().as_bytes()),
        form,
        host: host(&head.uri, &head.headers).unwrap_or_default(),
        origin: text(header::ORIGIN),
        fetch_site: text(HeaderName::from_static("sec-fetch-site")),
        cookies: cookies.join("; "),
        peer,
    })
}

/// Returns the host that a request names. The address goes before the field, as RFC 9112 demands
/// in section 3.2.2. `None` if there is no host, or more than one.
fn host(address: &Uri, headers: &HeaderMap) -> Option<String> {
    if let Some(authority) = address.authority() {
        return Some(authority.to_string());
    }
    let mut fields = headers.get_all(header::HOST).iter();
    let (host, other) = (fields.next()?, fields.next());
    let host = host.to_str().ok().filter(|_| other.is_none())?;
    Some(host.to_owned())
}

async fn form(headers: &HeaderMap, body: Incoming) -> Result<Vec<(String, String)>, PageResponse> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(PageResponse::text(415, "only forms are taken here"));
    }
    let whole = within(Limited::new(body, FORM_BYTES_MAX).collect()).await;
    match whole {
        None => Err(PageResponse::text(408, "the request takes too long")),
        Some(Err(_)) => Err(PageResponse::text(413, "the form is too large or broken")),
        Some(Ok(body)) => Ok(pairs(&body.to_bytes())),
    }
}

async fn within<F: Future>(future: F) -> Option<F::Output> {
    timeout(STEP_TIME_MAX, future).await.ok()
}

fn built(answer: PageResponse, is_head: bool) -> Response<Full<Bytes>> {
    let body = if is_head { String::new() } else { answer.body };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(answer.content_type),
    );
    if let Some(location) = answer
        .location
        .and_then(|at| HeaderValue::try_from(at).ok())
    {
        headers.insert(header::LOCATION, location);
    }
    for cookie in answer.cookies {
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            headers.append(header::SET_COOKIE, cookie);
        }
    }
    response
}

/// Makes a listener ready for the runtime.
pub(crate) fn prepare(listener: &TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::Ipv4Addr;
    use std::os::unix::net::UnixStream;
    use std::sync::{Mutex, mpsc};

    use fulgurite_client::ClientError;

    use super::*;
    use crate::about::AboutServer;
    use crate::sessions::lock;

    #[test]
    fn a_client_that_leaves_keeps_its_place_until_the_refusal() {
        let (asked, is_asked) = mpsc::channel();
        let (answer, answered) = mpsc::channel::<()>();
        let answered = Mutex::new(answered);
        let app = App::new(ConsoleOptions {
            dial: Arc::new(move || {
                let _ = asked.send(());
                let _ = lock(&answered).recv();
                Err(ClientError::Timeout)
            }),
            tls: None,
            hosts: Vec::new(),
            about: AboutServer::default(),
        });
        let places = Arc::new(Places::default());
        let peer = IpAddr::from(Ipv4Addr::new(192, 0, 2, 1));
        let place = places.take(peer).unwrap();
        let (mut client, console) = UnixStream::pair().unwrap();
        console.set_nonblocking(true).unwrap();
        let form = "form=a&name=ada&password=wrong";
        let head = format!(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nCookie: fulgurite-login=a\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
            form.len()
        );
        client.write_all((head + form).as_bytes()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let console = tokio::net::UnixStream::from_std(console).unwrap();
            let conversation = converse(Arc::new(app), TokioIo::new(console), peer, place);
            let conversation = tokio::spawn(conversation);
            let asked = tokio::task::spawn_blocking(move || is_asked.recv());
            asked.await.unwrap().unwrap();
            drop(client);
            conversation.await.unwrap();
            assert_eq!(places.taken(), 1);
            answer.send(()).unwrap();
            while places.taken() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
}
