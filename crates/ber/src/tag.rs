//! The identifier byte of an element.

use std::fmt;

/// An identifier byte: class, constructed bit and a tag number below 31 (X.690 section 8.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag(pub u8);

impl Tag {
    /// Universal BOOLEAN.
    pub const BOOLEAN: Tag = Tag(0x01);
    /// Universal INTEGER.
    pub const INTEGER: Tag = Tag(0x02);
    /// Universal OCTET STRING, primitive.
    pub const OCTET_STRING: Tag = Tag(0x04);
    /// Universal NULL.
    pub const NULL: Tag = Tag(0x05);
    /// Universal ENUMERATED.
    pub const ENUMERATED: Tag = Tag(0x0a);
    /// Universal SEQUENCE and SEQUENCE OF, constructed.
    pub const SEQUENCE: Tag = Tag(0x30);
    /// Universal SET and SET OF, constructed.
    pub const SET: Tag = Tag(0x31);

    /// Returns the primitive tag `[APPLICATION number]`; `number` is below 31.
    #[must_use]
    pub const fn application(number: u8) -> Tag {
        assert!(number < 31);
        Tag(0x40 | number)
    }

    /// Returns the primitive context-specific tag `[number]`; `number` is below 31.
    #[must_use]
    pub const fn context(number: u8) -> Tag {
        assert!(number < 31);
        Tag(0x80 | number)
    }

    /// Returns the same tag with the constructed bit set.
    #[must_use]
    pub const fn constructed(self) -> Tag {
        Tag(self.0 | 0x20)
    }

    /// Returns true if the contents are themselves elements.
    #[must_use]
    pub const fn is_constructed(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// Returns the tag number, 0 to 31; 31 announces the long form, which LDAP never uses.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0 & 0x1f
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:02x}", self.0)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag(0x{:02x})", self.0)
    }
}
