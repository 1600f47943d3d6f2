use std::sync::Arc;

use fulgurite_directory::{Connection, TreeEntry, TreeSource as _};
use fulgurite_ldap::Operation;

use super::figures::SUFFIX;
use super::*;
use crate::statistics::{
    CertificateEnd, ClusterFigures, ClusterSource, OperationStage, Outcome, RunningOperation,
    SearchWork, Statistics,
};

fn monitor() -> (Monitor, Arc<Statistics>) {
    let statistics = Arc::<Statistics>::default();
    let database = |kind, suffix: &str| MonitoredDatabase {
        kind,
        suffixes: vec![suffix.to_owned()],
        glued: false,
        read_only: false,
        shown: true,
        shadow: false,
        update_refs: Vec::new(),
    };
    let databases = vec![
        database(MonitoredKind::Config, "cn=config"),
        database(MonitoredKind::Monitor, SUFFIX),
    ];
    (Monitor::new(Arc::clone(&statistics), databases), statistics)
}

fn value(entries: &[TreeEntry], dn: &str, name: &str) -> String {
    let entry = entries.iter().find(|entry| entry.dn == dn).expect(dn);
    let found = entry.attributes.iter().find(|(of, _)| of == name);
    let values = &found.unwrap_or_else(|| panic!("{dn} has no {name}")).1;
    String::from_utf8(values[0].clone()).expect("text")
}

#[test]
fn counters_are_live() {
    let (monitor, statistics) = monitor();
    let worker = statistics.worker();
    statistics.accepted();
    let facts = Arc::new(Connection {
        id: 1000,
        ..Connection::default()
    });
    let meter = worker.open(&facts);
    let entries = monitor.entries("cn=monitor");
    let search = "cn=Search,cn=Operations,cn=Monitor";
    assert_eq!(value(&entries, search, "monitorOpInitiated"), "0");
    meter.initiated(Operation::Search);
    meter.initiated(Operation::Bind);
    meter.completed(Operation::Bind, meter.round(), Outcome::Code(0));
    meter.bound("cn=me".to_owned());
    meter.searched(SearchWork {
        entries: 3,
        ..SearchWork::default()
    });
    meter.wrote_result();
    meter.outstanding(1, 0);
    let entries = monitor.entries("cn=monitor");
    assert_eq!(value(&entries, search, "monitorOpInitiated"), "1");
    assert_eq!(value(&entries, search, "monitorOpCompleted"), "0");
    let all = "cn=Operations,cn=Monitor";
    assert_eq!(value(&entries, all, "monitorOpInitiated"), "2");
    assert_eq!(
        value(
            &entries,
            "cn=Entries,cn=Statistics,cn=Monitor",
            "monitorCounter"
        ),
        "3"
    );
    assert_eq!(
        value(
            &entries,
            "cn=Current,cn=Connections,cn=Monitor",
            "monitorCounter"
        ),
        "1"
    );
    let connection = "cn=Connection 1000,cn=Connections,cn=Monitor";
    assert_eq!(
        value(&entries, connection, "monitorConnectionAuthzDN"),
        "cn=me"
    );
    assert_eq!(value(&entries, connection, "monitorConnectionMask"), "rx");
    worker.close(1000);
    let entries = monitor.entries("cn=connections,cn=monitor");
    assert!(!entries.iter().any(|entry| entry.dn == connection));
    assert_eq!(
        value(
            &entries,
            "cn=Total,cn=Connections,cn=Monitor",
            "monitorCounter"
        ),
        "1"
    );
}

#[test]
fn only_the_branch_asked_for_is_filled() {
    let (monitor, _) = monitor();
    let below = |base: &str| {
        let entries = monitor.entries(base).into_iter();
        let deep = entries.filter(|entry| entry.dn.matches(',').count() > 1);
        deep.map(|entry| entry.dn).collect::<Vec<_>>()
    };
    assert_eq!(
        below("cn=time,cn=monitor"),
        ["Start", "Current", "Uptime"].map(|name| format!("cn={name},cn=Time,cn=Monitor"))
    );
    assert_eq!(below("cn=start,cn=time,cn=monitor").len(), 3);
    assert_eq!(below("cn=log,cn=monitor"), [""; 0]);
    assert!(below("cn=monitor").len() > 35);
}

#[test]
fn every_entry_follows_its_superior() {
    let (monitor, _) = monitor();
    let mut seen = std::collections::HashSet::new();
    for entry in monitor.entries("cn=monitor") {
        if let Some((_, above)) = entry.dn.split_once(',') {
            assert!(seen.contains(above), "{}", entry.dn);
        }
        seen.insert(entry.dn);
    }
}

#[test]
fn operations_are_below_their_connection_and_can_be_ended() {
    let (monitor, statistics) = monitor();
    let worker = statistics.worker();
    let facts = Arc::new(Connection {
        id: 7,
        ..Connection::default()
    });
    let meter = worker.open(&facts);
    let operations = &meter.connection.operations;
    operations.publish(vec![RunningOperation {
        about: "(cn=?)".to_owned(),
        candidates: 12,
        ..RunningOperation::new(5, Operation::Search, 0, OperationStage::Runs)
    }]);
    let entries = monitor.entries("cn=connections,cn=monitor");
    let name = "cn=Operation 5,cn=Connection 7,cn=Connections,cn=Monitor";
    let entry = entries.iter().find(|entry| entry.dn == name).expect(name);
    let facts = format!("{entry:?}");
    assert_eq!(value(&entries, name, "monitoredInfo"), "kind: Search");
    assert!(!facts.contains("secret"), "{facts}");
    let normal = name.to_lowercase();
    for missing in [
        normal.replace("operation 5", "operation 6"),
        normal.replace("connection 7", "connection 8"),
        normal.replace("operation 5", "operation x"),
        format!("cn=x,{normal}"),
    ] {
        assert!(!monitor.end(&missing, false), "{missing}");
    }
    assert!(monitor.end(&normal, true));
    assert!(operations.take_cancels().is_empty(), "it was a trial");
    assert!(monitor.end(&normal, false));
    assert_eq!(operations.take_cancels(), [5]);
    assert!(operations.take_cancels().is_empty());
    operations.publish(Vec::new());
    assert!(!monitor.end(&normal, true));
}

#[test]
fn the_node_of_a_cluster_has_an_entry() {
    let (monitor, statistics) = monitor();
    let name = "cn=Cluster,cn=Monitor";
    let find = |base| {
        let mut entries = monitor.entries(base).into_iter();
        entries.find(|entry| entry.dn == name)
    };
    assert!(find("").is_none());
    statistics.set_cluster(ClusterSource::new(|| ClusterFigures {
        cluster: "prod".to_owned(),
        node: 2,
        leader: Some(1),
        position: 41,
        silence_ms: Some(12),
        trouble: Some("no answer".to_owned()),
        ..ClusterFigures::default()
    }));
    assert!(find("cn=time,cn=monitor").is_none());
    let entry = find("cn=cluster,cn=monitor").expect(name);
    let mut attributes = entry.attributes.iter();
    let (_, values) = attributes
        .find(|(name, _)| name == "monitoredInfo")
        .expect("facts");
    let values: Vec<_> = values
        .iter()
        .map(|value| String::from_utf8_lossy(value))
        .collect();
    assert_eq!(
        values,
        [
            "cluster: prod",
            "node: 2",
            "sequencer: 1",
            "position: 41",
            "durable: 0",
            "waiting: 0",
            "silence: 12 ms",
            "trouble: no answer",
        ]
    );
}

#[test]
fn the_certificate_has_an_entry() {
    let (monitor, statistics) = monitor();
    let name = "cn=Certificate,cn=TLS,cn=Monitor";
    let has_any = |monitor: &Monitor| {
        let entries = monitor.entries("cn=tls,cn=monitor");
        entries.iter().any(|entry| entry.dn == name)
    };
    assert!(!has_any(&monitor));
    statistics.set_certificate_end(CertificateEnd::new(|| Some(86_400)));
    let entries = monitor.entries("cn=tls,cn=monitor");
    assert_eq!(
        value(&entries, name, "monitoredInfo"),
        "ends: 19700102000000Z"
    );
    let entry = entries.iter().find(|entry| entry.dn == name).expect(name);
    let expired = b"expired: 19700102000000Z".to_vec();
    assert!(
        entry
            .attributes
            .iter()
            .any(|(_, values)| values.contains(&expired))
    );
}
