//! Truth values in directives of overlays.

pub(in crate::features) use fulgurite_policy::overlay_truth as parse;
