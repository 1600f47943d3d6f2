//! The control with a position in the log of a cluster: a text such as `42@NAME`.

use super::kind::ControlKind;
use crate::{Fault, oid};

/// Bytes of the value, at most.
const BYTES_MAX: usize = 256;

/// A position in the log of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterPosition<'a> {
    /// The number of a batch.
    pub position: u64,
    /// The name of the cluster.
    pub cluster: &'a str,
}

impl<'a> ClusterPosition<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::CLUSTER_POSITION, "clusterPosition control", |value| {
            ClusterPosition::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but a number in its shortest form, `@` and a name.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(value).ok();
        let parts = text.and_then(|text| text.split_once('@'));
        let parsed = parts.and_then(|(digits, cluster)| {
            let position: u64 = digits.parse().ok()?;
            Some(ClusterPosition { position, cluster })
        });
        let is_exact = |parsed: &ClusterPosition<'_>| {
            value.len() <= BYTES_MAX && !parsed.cluster.is_empty() && parsed.encode() == value
        };
        parsed.filter(is_exact).ok_or(Fault::Form {
            what: "clusterPosition",
            form: "NUMBER@CLUSTER",
        })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        format!("{}@{}", self.position, self.cluster).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_one_form() {
        for position in [0, 7, u64::MAX] {
            let cluster = "5c2b0c9e-6f0e";
            let control = ClusterPosition { position, cluster };
            assert_eq!(ClusterPosition::decode(&control.encode()), Ok(control));
        }
        let long = format!("1@{}", "x".repeat(300));
        for wrong in [
            "",
            "7",
            "@a",
            "7@",
            "07@a",
            "+7@a",
            "-1@a",
            "18446744073709551616@a",
            &long,
        ] {
            assert!(
                ClusterPosition::decode(wrong.as_bytes()).is_err(),
                "{wrong}"
            );
        }
        assert!(ClusterPosition::decode(b"7@\xff").is_err());
    }
}
