//! Texts that several tools print as slapd does.

use fulgurite_schema::ViolationKind;

/// Formats a normal form with slapd's escapes.
pub(super) fn shown(normal: &str) -> String {
    let mut text = String::with_capacity(normal.len());
    let mut escaped = 0;
    for letter in normal.chars() {
        text.push(if escaped > 0 {
            letter.to_ascii_uppercase()
        } else {
            letter
        });
        escaped = match letter {
            '\\' => 2,
            _ => i32::max(escaped - 1, 0),
        };
    }
    text
}

/// Returns the result code for a violation of the schema.
pub(super) const fn code(kind: ViolationKind) -> u8 {
    match kind {
        ViolationKind::UndefinedAttributeType => 17,
        ViolationKind::Constraint => 19,
        ViolationKind::ValueExists => 20,
        ViolationKind::InvalidSyntax => 21,
        ViolationKind::Naming => 64,
        ViolationKind::ObjectClass => 65,
        ViolationKind::ObjectClassMods => 69,
    }
}

/// Returns slapd's text for that code.
pub(super) const fn code_name(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::UndefinedAttributeType => "Undefined attribute type",
        ViolationKind::Constraint => "Constraint violation",
        ViolationKind::ValueExists => "Type or value exists",
        ViolationKind::InvalidSyntax => "Invalid syntax",
        ViolationKind::Naming => "Naming violation",
        ViolationKind::ObjectClass => "Object class violation",
        ViolationKind::ObjectClassMods => "Cannot modify object class",
    }
}
