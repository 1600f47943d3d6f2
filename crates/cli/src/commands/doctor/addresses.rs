//! The addresses of the server: it answers there, or they are free.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use fulgurite_client::{Client, ClientError, Scope};
use fulgurite_config::{ListenScheme, ListenUrl, Settings};

use super::finding::{Findings, Severity};

const CHECK: &str = "address";

/// The longest wait for an answer.
const WAIT: Duration = Duration::from_secs(5);

/// The state of an address.
enum AddressState {
    /// A server answers; its suffixes, if it shows them.
    Answers(Vec<String>),
    /// Nobody listens.
    Silent(io::Error),
    /// The server that listens does not answer as one of LDAP.
    Odd(String),
}

/// Asks whether a server answers at one address.
pub(super) fn check_url(text: &str, findings: &mut Findings) {
    let url: ListenUrl = match text.parse() {
        Ok(url) => url,
        Err(reason) => return findings.add(CHECK, Severity::Failure, reason, ""),
    };
    check_answer(&url, findings);
}

/// Asks whether the server answers at all addresses of the settings.
pub(super) fn check_answers(settings: &Settings, findings: &mut Findings) {
    for url in &settings.global.listen {
        check_answer(&url.value, findings);
    }
}

fn check_answer(url: &ListenUrl, findings: &mut Findings) {
    let text = &url.text;
    match state_of(url) {
        AddressState::Answers(_) => findings.ok(CHECK, format!("{text} answers")),
        AddressState::Silent(reason) => {
            findings.add(CHECK, Severity::Failure, format!("{text}: {reason}"), "");
        }
        AddressState::Odd(reason) => {
            findings.add(CHECK, Severity::Failure, format!("{text}: {reason}"), "");
        }
    }
}

/// Asks at all addresses of the settings.
pub(super) fn check(settings: &Settings, findings: &mut Findings) {
    let urls = settings.global.listen.iter().map(|url| &url.value);
    let states: Vec<(&ListenUrl, AddressState)> = urls.map(|url| (url, state_of(url))).collect();
    let is_running = states
        .iter()
        .any(|(_, state)| matches!(state, AddressState::Answers(_)));
    for (url, state) in &states {
        check_state(settings, url, state, is_running, findings);
    }
    if !is_running {
        let text = "the server does not run";
        findings.add("server", Severity::Note, text, "systemctl start fulgurite");
    }
}

fn check_state(
    settings: &Settings,
    url: &ListenUrl,
    state: &AddressState,
    is_running: bool,
    findings: &mut Findings,
) {
    let shown = &url.text;
    match state {
        AddressState::Answers(suffixes) => {
            let own = settings.suffix().unwrap_or_default();
            let is_own = suffixes.is_empty()
                || suffixes
                    .iter()
                    .any(|suffix| suffix.eq_ignore_ascii_case(own));
            match is_own {
                true => findings.ok(CHECK, format!("{shown} answers")),
                false => {
                    let text = format!(
                        "{shown}: another server answers, with {}",
                        suffixes.join(" ")
                    );
                    findings.add(
                        CHECK,
                        Severity::Failure,
                        text,
                        "stop it, or change `listen`",
                    );
                }
            }
        }
        AddressState::Odd(reason) => {
            findings.add(CHECK, Severity::Failure, format!("{shown}: {reason}"), "");
        }
        AddressState::Silent(reason) if is_running => {
            let text = format!("{shown} does not answer: {reason}");
            let remedy = "a changed `listen` needs a restart";
            findings.add(CHECK, Severity::Failure, text, remedy);
        }
        AddressState::Silent(_) => check_free(url, findings),
    }
}

/// Checks that a server could listen at an address.
fn check_free(url: &ListenUrl, findings: &mut Findings) {
    let shown = &url.text;
    if url.scheme == ListenScheme::Ldapi {
        return findings.ok(CHECK, format!("{shown} is free"));
    }
    let host = match url.host.as_str() {
        "" => "0.0.0.0",
        host => host,
    };
    match TcpListener::bind((host, url.port)) {
        Ok(_) => findings.ok(CHECK, format!("{shown} is free")),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let text = format!("{shown}: this user may not take the port");
            let remedy = "ask as root; the service has the right";
            findings.add(CHECK, Severity::Note, text, remedy);
        }
        Err(error) => {
            let text = format!("{shown}: {error}");
            findings.add(CHECK, Severity::Failure, text, "change `listen`");
        }
    }
}

fn state_of(url: &ListenUrl) -> AddressState {
    let host = match url.host.as_str() {
        "" | "0.0.0.0" => "127.0.0.1",
        "::" => "::1",
        host => host,
    };
    match url.scheme {
        ListenScheme::Ldapi => match UnixStream::connect(&url.path) {
            Ok(_) => AddressState::Answers(Vec::new()),
            Err(error) => AddressState::Silent(error),
        },
        // More than a connection needs trust in the certificate, or the header of a load balancer.
        _ if url.scheme == ListenScheme::Ldaps || url.proxied => {
            match std::net::TcpStream::connect((host, url.port)) {
                Ok(_) => AddressState::Answers(Vec::new()),
                Err(error) => AddressState::Silent(error),
            }
        }
        _ => match Client::connect((host, url.port)) {
            Ok(client) => ask(client),
            Err(ClientError::Connect(error)) => AddressState::Silent(error),
            Err(error) => AddressState::Odd(error.to_string()),
        },
    }
}

/// Reads the root DSE. A refusal is an answer too.
fn ask(mut client: Client) -> AddressState {
    let found = client
        .set_read_timeout(Some(WAIT))
        .and_then(|()| client.search("", Scope::Base, "(objectClass=*)", &["namingContexts"]));
    match found {
        Ok(outcome) => {
            let values = outcome.entries.first();
            let values = values.map_or(&[][..], |entry| entry.values("namingContexts"));
            let texts = values
                .iter()
                .map(|value| String::from_utf8_lossy(value).into_owned());
            AddressState::Answers(texts.collect())
        }
        Err(error) => AddressState::Odd(error.to_string()),
    }
}
