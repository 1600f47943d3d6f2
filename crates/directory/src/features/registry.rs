//! The registry of features: the overlays that the server implements, and their compile functions.
//!
//! `fulgurite_policy::OVERLAYS` has every overlay of slapd with its class and directives, for the
//! readers of configurations. This table has a row for each of them that is built in.

use fulgurite_policy::{OverlaySupport, SortLimits, find_overlay};

use super::set::Features;
use crate::core::error::OpenError;
use crate::core::overlay::OverlaySettings;

/// Applies one directive, by its keyword in slapd.conf, with its value.
type Compile = fn(&mut Features, &str, &str);

/// A feature that implements an overlay.
struct Feature {
    overlay: &'static str,
    compile: Compile,
}

/// The features, by the overlays they implement.
const FEATURES: [Feature; 4] = [
    Feature {
        overlay: "sssvlv",
        compile: |features, keyword, value| features.sssvlv.set(keyword, value),
    },
    // The option `subordinate` of a database says all about glue.
    Feature {
        overlay: "glue",
        compile: |_, _, _| {},
    },
    // The server records the last bind in no entry, and accepts the directives.
    Feature {
        overlay: "lastbind",
        compile: |_, _, _| {},
    },
    // One writer applies all updates in their order.
    Feature {
        overlay: "seqmod",
        compile: |_, _, _| {},
    },
];

/// Compiles the overlays of all databases; `sort_limits` are the defaults of sorted searches.
///
/// # Errors
/// [`OpenError::Overlay`] for an overlay that the server must not ignore.
pub(crate) fn compile<'o>(
    overlays: impl Iterator<Item = &'o OverlaySettings>,
    sort_limits: SortLimits,
) -> Result<Features, OpenError> {
    let mut features = Features::new(sort_limits);
    for overlay in overlays {
        compile_overlay(overlay, &mut features)?;
    }
    Ok(features)
}

/// Compiles the settings of one overlay.
fn compile_overlay(settings: &OverlaySettings, features: &mut Features) -> Result<(), OpenError> {
    let refused = |reason: &str| OpenError::Overlay {
        name: settings.name.clone(),
        reason: reason.to_owned(),
    };
    let overlay = find_overlay(&settings.name).ok_or_else(|| refused("no such overlay"))?;
    match overlay.support {
        OverlaySupport::LeftOut(_) => return Ok(()),
        OverlaySupport::Refused(reason) => return Err(refused(reason)),
        OverlaySupport::BuiltIn => {}
    }
    let mut rows = FEATURES.iter();
    let feature = rows.find(|feature| feature.overlay == overlay.name);
    let feature = feature.ok_or_else(|| refused("no feature implements it"))?;
    for line in &settings.directives {
        if let Some((name, value)) = line.split_once(' ')
            && let Some(directive) = overlay.directive(name)
        {
            (feature.compile)(features, directive.keyword, value.trim());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_policy::OVERLAYS;

    fn compiled(name: &str, directives: &[&str]) -> Result<SortLimits, OpenError> {
        let overlay = OverlaySettings {
            name: name.to_owned(),
            directives: directives.iter().map(|&line| line.to_owned()).collect(),
        };
        let features = compile([&overlay].into_iter(), SortLimits::default())?;
        Ok(features.sssvlv.limits)
    }

    #[test]
    fn every_built_in_overlay_has_a_feature_and_no_other_overlay_has_one() {
        for overlay in OVERLAYS {
            let has_feature = FEATURES
                .iter()
                .any(|feature| feature.overlay == overlay.name);
            let is_built_in = overlay.support == OverlaySupport::BuiltIn;
            assert_eq!(has_feature, is_built_in, "{}", overlay.name);
        }
    }

    #[test]
    fn directives_of_sssvlv_set_the_limits_of_sorted_searches() {
        let directives = [
            "sssvlv-max 7",
            "olcSssVlvMaxKeys  3",
            "SSSVLV-MAXPERCONN x",
            "other 1",
        ];
        let limits = compiled("SssVlv", &directives).expect("it is built in");
        let expected = SortLimits {
            sorts_max: 7,
            keys_max: 3,
            ..SortLimits::default()
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn an_overlay_that_changes_answers_is_refused_and_others_are_left_out() {
        let refused = compiled("memberof", &[]).expect_err("answers would differ");
        assert_eq!(
            refused.to_string(),
            "overlay \"memberof\": groups would not show in the entries of their members"
        );
        assert!(compiled("nothing", &[]).is_err());
        assert_eq!(
            compiled("auditlog", &["auditlog /tmp/log"]).ok(),
            Some(SortLimits::default())
        );
    }
}
