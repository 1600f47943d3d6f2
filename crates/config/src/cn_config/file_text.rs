//! The text of one file of a configuration directory.

use std::io;

use fulgurite_ldif::Writer;

use super::entry::ConfigEntry;

/// Returns the text of the file of an entry: slapd's header with the check sum, and the record.
pub(super) fn file_text(entry: &ConfigEntry) -> io::Result<Vec<u8>> {
    let name = entry.dn.split(',').next().unwrap_or_default();
    let text = entry_text(entry, name)?;
    let header = format!(
        "# AUTO-GENERATED FILE - DO NOT EDIT!! Use ldapmodify.\n# CRC32 {:08x}\n",
        crc32(&text)
    );
    Ok([header.as_bytes(), &text].concat())
}

/// Returns the record. Its name is relative to the folder, and the last class is the structural
/// one.
fn entry_text(entry: &ConfigEntry, name: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text);
    writer.name(name)?;
    for (attribute, values) in &entry.attributes {
        for value in values {
            writer.value(attribute, value.as_bytes())?;
        }
    }
    if entry.values("structuralObjectClass").is_empty()
        && let Some(class) = entry.values("objectClass").last()
    {
        let class = match class.as_str() {
            "olcFrontendConfig" => "olcDatabaseConfig",
            class => class,
        };
        writer.value("structuralObjectClass", class.as_bytes())?;
    }
    writer.into_inner()?;
    Ok(text)
}

/// Returns the check sum of ISO 3309, which slapd compares with the file.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |mut sum: u32| {
        for _ in 0..8 {
            sum = match sum & 1 {
                1 => sum >> 1 ^ 0xedb8_8320,
                _ => sum >> 1,
            };
        }
        sum
    };
    !bytes
        .iter()
        .fold(u32::MAX, |sum, byte| step(sum ^ u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_the_common_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
