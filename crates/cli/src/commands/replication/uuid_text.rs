//! The text of a UUID.

/// Returns a UUID as text.
pub(super) fn uuid_text(uuid: [u8; 16]) -> String {
    let uuid = format!("{:032x}", u128::from_be_bytes(uuid));
    let parts = [
        &uuid[..8],
        &uuid[8..12],
        &uuid[12..16],
        &uuid[16..20],
        &uuid[20..],
    ];
    parts.join("-")
}
