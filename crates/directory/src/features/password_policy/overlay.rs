//! The directives of the overlay.

use std::fmt;

use fulgurite_ldap::LdapResult;
use fulgurite_policy::{OverlaySettings, Sourced};
use fulgurite_schema::Dn;

use super::state::StateTypes;
use crate::features::compilation::Compilation;
use crate::features::truth;

/// The overlay of a database.
#[derive(Clone, Debug)]
pub(crate) struct PasswordPolicy {
    /// The policy of entries that name none.
    pub(crate) default: Option<Dn>,
    /// True if passwords in clear are hashed when they are stored.
    pub(crate) hash_cleartext: bool,
    /// True if a bind of a locked name learns of the lock.
    pub(crate) use_lockout: bool,
    /// True if binds write no state.
    pub(crate) disable_write: bool,
    /// True if a copy tells its provider of binds.
    pub(crate) forward_updates: bool,
    /// True if clients without the control get Netscape's.
    pub(crate) netscape_controls: bool,
    pub(crate) types: StateTypes,
}

/// A refusal by a policy: the result, and the value for the response control.
pub(crate) struct PolicyRefusal {
    pub(crate) result: LdapResult,
    pub(crate) response: fulgurite_ldap::control::PasswordPolicyResponse,
}

impl fmt::Debug for PolicyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.result, self.response)
    }
}

impl PasswordPolicy {
    /// Compiles the directives of the overlay.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(in crate::features) fn compile(
        compilation: &mut Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<PasswordPolicy, Sourced<String>> {
        let types = StateTypes::of(compilation.schema).map_err(|name| {
            let text = format!("overlay ppolicy: the schema has no attribute type {name}");
            Sourced::new(text, settings.origin.clone())
        })?;
        let mut overlay = PasswordPolicy {
            default: None,
            hash_cleartext: false,
            use_lockout: false,
            disable_write: false,
            forward_updates: false,
            netscape_controls: false,
            types,
        };
        for line in &settings.lines {
            let wrong = |text: String| Sourced::new(text, line.origin.clone());
            let (keyword, value) = (line.directive.keyword, line.first());
            if line.arguments.len() > 1 {
                let text = format!("<{keyword}> extra cruft after <policyDN>.");
                return Err(wrong(text));
            }
            if keyword == "ppolicy_default" {
                if value.is_empty() {
                    let text = format!("keyword <{keyword}> missing <policyDN> argument");
                    return Err(wrong(text));
                }
                let dn = Dn::parse(compilation.schema, value);
                let text = format!("<{keyword}> invalid DN 21 (Invalid syntax)");
                overlay.default = Some(dn.map_err(|_| wrong(text))?);
                continue;
            }
            let on = truth::parse(value);
            let on = on.ok_or_else(|| wrong(format!("<{keyword}> invalid value")))?;
            match keyword {
                "ppolicy_hash_cleartext" => overlay.hash_cleartext = on,
                "ppolicy_use_lockout" => overlay.use_lockout = on,
                "ppolicy_disable_write" => overlay.disable_write = on,
                "ppolicy_send_netscape_controls" => overlay.netscape_controls = on,
                _ => overlay.forward_updates = on,
            }
        }
        Ok(overlay)
    }
}
