//! The registry of features: the overlays that the server implements, and their compile functions.
//!
//! `fulgurite_policy::OVERLAYS` has every overlay of slapd with its class and directives, for the
//! readers of configurations. This table has a row for each of them that is built in.

use fulgurite_policy::{OverlaySettings, OverlaySupport, SortLimits, Sourced, find_overlay};
use fulgurite_schema::{Dn, Schema};

use super::accesslog::AccessLogSettings;
use super::auditlog::AuditLog;
use super::compilation::{Compilation, OverlayReport};
use super::constraint::Constraint;
use super::dynlist;
use super::guards::Guard;
use super::last_bind::BindTime;
use super::memberof::MemberOf;
use super::password_policy::overlay::PasswordPolicy;
use super::refint::Refint;
use super::set::Features;
use super::sssvlv;
use super::syncprov::Provider;
use super::unique::Unique;
use super::valsort;
use crate::core::error::OpenError;

/// Compiles the directives of an overlay. An error is a sentence with its place.
type Compile =
    fn(&mut Compilation<'_>, &OverlaySettings, &mut Features) -> Result<(), Sourced<String>>;

/// A feature that implements an overlay.
struct Feature {
    overlay: &'static str,
    compile: Compile,
}

/// The features, by the overlays they implement.
const FEATURES: &[Feature] = &[
    Feature {
        overlay: "sssvlv",
        compile: |compilation, settings, _| sssvlv::compile(compilation.sort_limits, settings),
    },
    // The option `subordinate` of a database says all about searches.
    Feature {
        overlay: "glue",
        compile: |_, _, features| {
            features.has_glue = true;
            Ok(())
        },
    },
    Feature {
        overlay: "lastbind",
        compile: |compilation, settings, features| {
            let time = BindTime::compile(compilation, settings)?;
            features.bind_times.extend(time);
            Ok(())
        },
    },
    // The options of a copy have the servers that its updates go to.
    Feature {
        overlay: "chain",
        compile: |_, _, _| Ok(()),
    },
    // Searches of all databases take the control.
    Feature {
        overlay: "deref",
        compile: |_, _, _| Ok(()),
    },
    // One writer applies all updates in their order.
    Feature {
        overlay: "seqmod",
        compile: |_, _, _| Ok(()),
    },
    Feature {
        overlay: "unique",
        compile: |compilation, settings, features| {
            let unique = Unique::compile(compilation, settings)?;
            features.add_guard(Guard::Unique(unique));
            Ok(())
        },
    },
    Feature {
        overlay: "constraint",
        compile: |compilation, settings, features| {
            let constraint = Constraint::compile(compilation, settings)?;
            features.add_guard(Guard::Constraint(constraint));
            Ok(())
        },
    },
    Feature {
        overlay: "memberof",
        compile: |compilation, settings, features| {
            let overlay = MemberOf::compile(compilation, settings)?;
            features.memberships.push(overlay.membership);
            features.dropped_members.extend(overlay.dropped);
            let guard = overlay.refused.map(Guard::ExistingMembers);
            guard
                .into_iter()
                .for_each(|guard| features.add_guard(guard));
            features.refint.extend(overlay.refint);
            Ok(())
        },
    },
    Feature {
        overlay: "dynlist",
        compile: |compilation, settings, features| {
            let (lists, memberships) = dynlist::compile(compilation, settings)?;
            features.memberships.extend(memberships);
            features.lists = Some(Box::new(lists));
            Ok(())
        },
    },
    Feature {
        overlay: "accesslog",
        compile: |compilation, settings, features| {
            features.access_log = Some(AccessLogSettings::compile(compilation, settings)?);
            Ok(())
        },
    },
    Feature {
        overlay: "auditlog",
        compile: |_, settings, features| {
            features.audit_log = AuditLog::compile(settings)?;
            Ok(())
        },
    },
    Feature {
        overlay: "ppolicy",
        compile: |compilation, settings, features| {
            if features.password_policy.is_some() {
                let text = "overlay_config(): overlay \"ppolicy\" already in list".to_owned();
                return Err(Sourced::new(text, settings.origin.clone()));
            }
            let policy = PasswordPolicy::compile(compilation, settings)?;
            features.password_policy = Some(policy);
            Ok(())
        },
    },
    Feature {
        overlay: "syncprov",
        compile: |compilation, settings, features| {
            if features.provider.is_some() {
                let text = "overlay_config(): overlay \"syncprov\" already in list".to_owned();
                return Err(Sourced::new(text, settings.origin.clone()));
            }
            let provider = Provider::compile(compilation, settings)?;
            features.provider = Some(Provider {
                is_glued: features.has_glue,
                ..provider
            });
            Ok(())
        },
    },
    Feature {
        overlay: "valsort",
        compile: |compilation, settings, features| {
            let orders = valsort::compile(compilation, settings)?;
            features.weights.extend(valsort::weights(&orders));
            features.value_orders.extend(orders);
            Ok(())
        },
    },
    Feature {
        overlay: "refint",
        compile: |compilation, settings, features| {
            let refint = Refint::compile(compilation, settings)?;
            features.refint.push(refint);
            Ok(())
        },
    },
];

/// Compiles the overlays of a database, in the order of the configuration. An overlay may change
/// the limits of sorted searches.
///
/// # Errors
/// [`OpenError::Overlay`] for an overlay that the server must not ignore, or a wrong directive.
pub(crate) fn compile(
    schema: &Schema,
    suffixes: &[Dn],
    overlays: &[OverlaySettings],
    sort_limits: &mut SortLimits,
) -> Result<Features, OpenError> {
    let compiled = compile_all(schema, suffixes, overlays, sort_limits);
    let (features, _) = compiled.map_err(OpenError::Overlay)?;
    Ok(features)
}

/// Checks the overlays of a database without opening it.
///
/// # Errors
/// The first error, with its place.
pub fn check_overlays(
    schema: &Schema,
    suffixes: &[Dn],
    overlays: &[OverlaySettings],
) -> Result<OverlayReport, Sourced<String>> {
    let compiled = compile_all(schema, suffixes, overlays, &mut SortLimits::default());
    compiled.map(|(_, report)| report)
}

fn compile_all(
    schema: &Schema,
    suffixes: &[Dn],
    overlays: &[OverlaySettings],
    sort_limits: &mut SortLimits,
) -> Result<(Features, OverlayReport), Sourced<String>> {
    let mut compilation = Compilation {
        schema,
        suffixes,
        sort_limits,
        report: OverlayReport::default(),
    };
    let mut features = Features::default();
    for overlay in overlays {
        compile_overlay(overlay, &mut compilation, &mut features)?;
    }
    Ok((features, compilation.report))
}

/// Compiles the settings of one overlay.
fn compile_overlay(
    settings: &OverlaySettings,
    compilation: &mut Compilation<'_>,
    features: &mut Features,
) -> Result<(), Sourced<String>> {
    let refused = |reason: &str| {
        let text = format!("overlay {:?}: {reason}", settings.name);
        Sourced::new(text, settings.origin.clone())
    };
    let overlay = find_overlay(&settings.name).ok_or_else(|| refused("no such overlay"))?;
    match overlay.support {
        OverlaySupport::Refused(reason) => return Err(refused(reason)),
        OverlaySupport::BuiltIn | OverlaySupport::PerDatabase => {}
    }
    let mut rows = FEATURES.iter();
    let feature = rows.find(|feature| feature.overlay == overlay.name);
    let feature = feature.ok_or_else(|| refused("no feature implements it"))?;
    (feature.compile)(compilation, settings, features)
}

#[cfg(test)]
mod tests;
