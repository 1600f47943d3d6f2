//! The things an administrator sees of a cluster: figures, and the end of certificates.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use serde_json::Value;

use crate::nodes::{Node, wait};

/// The figures that each node has.
const FIGURES: [&str; 13] = [
    "leading",
    "ready",
    "position",
    "waiting",
    "silence_seconds",
    "epoch",
    "durable_position",
    "certificate_end_seconds",
    "log_answers_total",
    "log_answer_time_seconds_total",
    "log_silences_total",
    "etcd_size_bytes",
    "etcd_quota_bytes",
];

/// Days until the end of a certificate of which the server warns.
const DAYS: u64 = 10;

/// Returns the values of a figure, one for each set of labels.
pub(crate) fn values(page: &str, figure: &str) -> Vec<f64> {
    let name = format!("fulgurite_cluster_{figure}");
    let lines = page.lines().filter_map(|line| {
        let rest = line.strip_prefix(&name)?;
        let is_whole = rest.starts_with(['{', ' ']);
        let (_, value) = rest.rsplit_once(' ').filter(|_| is_whole)?;
        value.parse().ok()
    });
    lines.collect()
}

/// Returns the only value of a figure.
pub(crate) fn value(page: &str, figure: &str) -> f64 {
    match values(page, figure)[..] {
        [value] => value,
        ref found => panic!("{figure}: {found:?} in {page}"),
    }
}

/// Every node has every figure, and they agree where they speak of the same.
pub(crate) fn every_node_has_all_figures(nodes: &[Node; 3]) {
    let pages = nodes.each_ref().map(|node| {
        let mut page = String::new();
        // The first look at etcd's room is soon after the start.
        wait("all figures of a node", || {
            page = node.page("/metrics");
            let missing = FIGURES.iter().find(|name| values(&page, name).is_empty());
            missing.is_none()
        });
        page
    });
    let sum = |figure| pages.iter().map(|page| value(page, figure)).sum::<f64>();
    assert_eq!(sum("leading"), 1.0);
    assert_eq!(sum("ready"), 3.0);
    for page in &pages {
        assert_eq!(value(page, "epoch"), value(&pages[0], "epoch"));
        assert!(value(page, "position") > 0.0, "{page}");
        let quota = value(page, "etcd_quota_bytes");
        let size = value(page, "etcd_size_bytes");
        assert!(0.0 < size && size < quota, "{size} of {quota}");
        // The commands make certificates for 825 days.
        let left = value(page, "certificate_end_seconds") - now_s() as f64;
        assert!(left > 800.0 * 86_400.0, "{left} s");
        let answers = values(page, "log_answers_total");
        assert!(answers.iter().sum::<f64>() > 0.0, "{page}");
    }
}

fn now_s() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a time after 1970").as_secs()
}

/// A node warns of a certificate that ends soon, and so does the command.
pub(crate) fn a_certificate_near_its_end_is_told(authority: &Node, node: &mut Node) {
    let end_s = replace_certificate(authority, node);
    drop(node.server.take().expect("it runs").stop());
    node.start();
    let line = node.server().logged("cluster: the certificate of node");
    // It is a moment less than ten days.
    assert!(line.contains("expires in 9 days"), "{line}");
    assert!(line.contains("fulgurite cluster renew"), "{line}");
    node.wait_ready();
    wait("the figure has the new end", || {
        value(&node.page("/metrics"), "certificate_end_seconds") == end_s as f64
    });
    let output = node.status().arg("--json").output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status["certificate_end_s"], end_s, "{status}");
    let troubles = status["troubles"].as_array().expect("a list");
    let is_named = |text: &Value| text.to_string().contains("expires in 9 days");
    assert!(troubles.iter().any(is_named), "{status}");
}

/// Gives a node a certificate of the authority that ends soon. Returns the end.
fn replace_certificate(authority: &Node, node: &Node) -> u64 {
    let status = node.status().arg("--json").output().expect("it runs");
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let cluster = status["cluster"].as_str().expect("a name");
    let name = format!("node-3.{cluster}.fulgurite");
    let folder = |of: &Node| of.config().with_file_name("cluster");
    let read = |file: &str| std::fs::read_to_string(folder(authority).join(file)).expect(file);
    let facts = fulgurite_server::certificate_facts(&folder(authority).join("ca.pem"));
    let subject = facts.expect("facts").subject.expect("a subject");
    let mut issuer = CertificateParams::default();
    issuer.distinguished_name = DistinguishedName::new();
    let subject = subject.strip_prefix("cn=").expect("a common name");
    issuer.distinguished_name.push(DnType::CommonName, subject);
    let key = KeyPair::from_pem(&read("ca-key.pem")).expect("a key");
    let issuer = Issuer::new(issuer, key);
    let mut parameters = CertificateParams::new([name]).expect("a name");
    parameters.is_ca = IsCa::ExplicitNoCa;
    let end_s = now_s() + DAYS * 86_400;
    let zero = rcgen::date_time_ymd(1970, 1, 1);
    parameters.not_before = zero + Duration::from_secs(now_s() - 86_400);
    parameters.not_after = zero + Duration::from_secs(end_s);
    let key = KeyPair::generate().expect("a key");
    let certificate = parameters.signed_by(&key, &issuer).expect("a certificate");
    let write = |file: &str, text: &str| {
        std::fs::write(folder(node).join(file), text).expect("written");
    };
    write("node.pem", &(certificate.pem() + &read("ca.pem")));
    write("node-key.pem", &key.serialize_pem());
    end_s
}
