//! Demands on SASL mechanisms: slapd's `sasl-secprops`.

use std::str::FromStr;

use crate::Mechanism;

/// Demands on mechanisms. The default is slapd's: `noplain,noanonymous`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityProperties {
    /// No passwords in the clear, unless a layer of more than integrity protects the connection.
    pub no_plain: bool,
    /// No mechanism that active attackers can use.
    pub no_active: bool,
    /// No mechanism whose messages allow guessing passwords offline.
    pub no_dictionary: bool,
    /// No ANONYMOUS.
    pub no_anonymous: bool,
    /// Only mechanisms with forward secrecy; none of ours.
    pub forward_secrecy: bool,
    /// Only mechanisms that pass credentials on; none of ours.
    pub pass_credentials: bool,
    /// Strength the connection must have, as none of the mechanisms adds to it.
    pub ssf_min: u32,
    /// Accepted, and of no effect without security layers.
    pub ssf_max: u32,
    /// Accepted, and of no effect without security layers.
    pub buffer_size_max: u32,
}

impl Default for SecurityProperties {
    fn default() -> Self {
        SecurityProperties {
            no_plain: true,
            no_anonymous: true,
            ..SecurityProperties::none()
        }
    }
}

impl SecurityProperties {
    const fn none() -> Self {
        SecurityProperties {
            no_plain: false,
            no_active: false,
            no_dictionary: false,
            no_anonymous: false,
            forward_secrecy: false,
            pass_credentials: false,
            ssf_min: 0,
            ssf_max: u32::MAX,
            buffer_size_max: 65_536,
        }
    }

    /// Checks that the mechanism meets the demands on a connection whose other layers have this
    /// strength.
    ///
    /// # Errors
    /// The property that is missing.
    pub fn permit(&self, mechanism: Mechanism, ssf: u32) -> Result<(), PropertyError> {
        if ssf < self.ssf_min {
            return Err(PropertyError::TooWeak);
        }
        let protected = ssf > 1;
        if mechanism == Mechanism::Plain && self.no_plain && !protected {
            return Err(PropertyError::NeedsProtection);
        }
        let is_scram = mechanism.scram().is_some();
        let excluded = self.forward_secrecy
            || self.pass_credentials
            || self.no_anonymous && mechanism == Mechanism::Anonymous
            || self.no_active && !is_scram
            || self.no_dictionary
                && mechanism != Mechanism::External
                && mechanism != Mechanism::Anonymous;
        if excluded {
            Err(PropertyError::Excluded)
        } else {
            Ok(())
        }
    }
}

/// Why a mechanism may not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyError {
    /// The connection is not strong enough.
    TooWeak,
    /// Not without protection of the connection.
    NeedsProtection,
    /// Not at all.
    Excluded,
}

impl FromStr for SecurityProperties {
    type Err = String;

    /// Reads `noplain,minssf=128,...`. Properties that are not named are off; `none` names nothing.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut properties = SecurityProperties::none();
        for word in text.split(',').map(str::trim) {
            let lower = word.to_ascii_lowercase();
            let number = |digits: &str| {
                digits
                    .parse::<u32>()
                    .map_err(|_| format!("\"{word}\" has no number after the equals sign"))
            };
            match lower.split_once('=') {
                Some(("minssf", digits)) => properties.ssf_min = number(digits)?,
                Some(("maxssf", digits)) => properties.ssf_max = number(digits)?,
                Some(("maxbufsize", digits)) => properties.buffer_size_max = number(digits)?,
                Some(_) => return Err(unknown(word)),
                None => match lower.as_str() {
                    "none" => {}
                    "noplain" => properties.no_plain = true,
                    "noactive" => properties.no_active = true,
                    "nodict" => properties.no_dictionary = true,
                    "noanonymous" => properties.no_anonymous = true,
                    "forwardsec" => properties.forward_secrecy = true,
                    "passcred" => properties.pass_credentials = true,
                    _ => return Err(unknown(word)),
                },
            }
        }
        Ok(properties)
    }
}

fn unknown(word: &str) -> String {
    format!(
        "\"{word}\" is none of none, noplain, noactive, nodict, noanonymous, forwardsec, passcred, minssf=, maxssf= and maxbufsize="
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_needs_a_layer_unless_the_properties_allow_it() {
        let default = SecurityProperties::default();
        assert_eq!(
            default.permit(Mechanism::Plain, 0),
            Err(PropertyError::NeedsProtection)
        );
        assert_eq!(default.permit(Mechanism::Plain, 71), Ok(()));
        assert_eq!(
            default.permit(Mechanism::Anonymous, 71),
            Err(PropertyError::Excluded)
        );
        let none: SecurityProperties = "none".parse().unwrap();
        assert_eq!(none.permit(Mechanism::Plain, 0), Ok(()));
        assert_eq!(none.permit(Mechanism::Anonymous, 0), Ok(()));
    }

    #[test]
    fn words_and_numbers() {
        let properties: SecurityProperties = "NoDict,minssf=56, maxssf=256".parse().unwrap();
        assert!(properties.no_dictionary && !properties.no_plain);
        assert_eq!(
            properties.permit(Mechanism::External, 0),
            Err(PropertyError::TooWeak)
        );
        assert_eq!(properties.permit(Mechanism::External, 71), Ok(()));
        assert_eq!(
            properties.permit(Mechanism::Plain, 71),
            Err(PropertyError::Excluded)
        );
        assert!("minssf=x".parse::<SecurityProperties>().is_err());
        assert!(
            "nothing"
                .parse::<SecurityProperties>()
                .unwrap_err()
                .contains("nothing")
        );
    }
}
