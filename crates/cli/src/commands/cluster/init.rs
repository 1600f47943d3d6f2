//! `fulgurite cluster init`.

use anyhow::Context as _;
use fulgurite_etcd::{ClusterMeta, Creation, EtcdLog};
use fulgurite_schema::{Dn, Schema};

use super::connect;
use crate::arguments::cluster::Init;

/// The exit status if there is a cluster of this name.
const PRESENT: u8 = 1;

/// Makes a cluster. Returns the exit status.
pub(super) fn run(command: &Init) -> anyhow::Result<u8> {
    let schema = Schema::standard();
    let suffix = Dn::parse(&schema, &command.suffix);
    let suffix = suffix.with_context(|| format!("--suffix {}", command.suffix))?;
    let cluster = match &command.cluster {
        Some(cluster) => cluster.clone(),
        None => random_name()?,
    };
    let settings = connect::settings(&command.etcd, &cluster)?;
    let log = EtcdLog::new(&settings)?;
    match log.create(&ClusterMeta::new(suffix.pretty()))? {
        Creation::Created => {
            println!("{cluster}");
            Ok(0)
        }
        Creation::Present(present) => {
            eprintln!(
                "fulgurite: there is a cluster {cluster} for {}: choose another name",
                present.suffix
            );
            Ok(PRESENT)
        }
    }
}

/// Returns a random UUID.
fn random_name() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let mut number = u128::from_be_bytes(bytes);
    // Version 4, variant 1 (RFC 9562).
    number = number & !(0xf << 76) | (4 << 76);
    number = number & !(3 << 62) | (2 << 62);
    let digits = format!("{number:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    Ok(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_random_uuids() {
        let (one, other) = (random_name().unwrap(), random_name().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(&one[14..15], "4");
        assert!(["8", "9", "a", "b"].contains(&&one[19..20]), "{one}");
    }
}
