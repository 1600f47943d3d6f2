//! Controls as the texts of a record.

use std::fmt::Write as _;

use fulgurite_ldap::Control;

/// Returns controls in the form of slapd: `{0}{1.3.6.1.1.12 criticality TRUE controlValue "A3"}`.
pub(crate) fn control_texts<'c>(controls: impl Iterator<Item = Control<'c>>) -> Vec<Vec<u8>> {
    let texts = controls.enumerate().map(|(number, control)| {
        let mut text = format!("{{{number}}}{{{}", String::from_utf8_lossy(control.oid));
        if control.critical {
            text.push_str(" criticality TRUE");
        }
        if let Some(value) = control.value {
            text.push_str(" controlValue \"");
            for byte in value {
                let _ = write!(text, "{byte:02X}");
            }
            text.push('"');
        }
        text.push('}');
        text.into_bytes()
    });
    texts.collect()
}
