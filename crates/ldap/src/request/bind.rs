//! Bind (RFC 4511 section 4.2).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::Fault;

const SIMPLE: Tag = Tag::context(0);
const SASL: Tag = Tag::context(3).constructed();

/// A request to authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindRequest<'a> {
    /// The protocol version, 1 to 127; anything but 3 has to be refused.
    pub version: u8,
    /// DN text of who binds; empty for anonymous and for most SASL mechanisms.
    pub name: &'a [u8],
    /// How.
    pub authentication: Authentication<'a>,
}

/// The proof offered by a bind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// A password in the clear.
    Simple(&'a [u8]),
    /// One step of a SASL exchange.
    Sasl {
        /// Name of the mechanism; empty to abort an exchange.
        mechanism: &'a [u8],
        /// The mechanism's message.
        credentials: Option<&'a [u8]>,
    },
    /// A choice not known here; to be answered with `authMethodNotSupported`.
    Unknown(Tag),
}

impl std::fmt::Debug for Authentication<'_> {
    /// Tells everything but secrets, so that no log shows them by accident.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Authentication::Simple(password) => write!(f, "Simple({} bytes)", password.len()),
            Authentication::Sasl { mechanism, .. } => {
                write!(f, "Sasl({})", mechanism.escape_ascii())
            }
            Authentication::Unknown(tag) => write!(f, "Unknown({tag})"),
        }
    }
}

impl<'a> BindRequest<'a> {
    /// Returns a simple bind of version 3.
    #[must_use]
    pub const fn simple(dn: &'a str, password: &'a [u8]) -> Self {
        BindRequest {
            version: 3,
            name: dn.as_bytes(),
            authentication: Authentication::Simple(password),
        }
    }

    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let number = reader.integer()?;
        let version = u8::try_from(number)
            .ok()
            .filter(|version| (1..=127).contains(version))
            .ok_or(Fault::OutOfRange {
                what: "version",
                value: number,
            })?;
        let name = reader.octet_string()?;
        let authentication = if reader.peek() == Some(SASL) {
            let mut sasl = reader.nested(SASL)?;
            let mechanism = sasl.octet_string()?;
            let credentials = sasl.optional(Tag::OCTET_STRING)?;
            sasl.skip_extensions()?;
            Authentication::Sasl {
                mechanism,
                credentials,
            }
        } else {
            match reader.element()? {
                (SIMPLE, password) => Authentication::Simple(password),
                (tag, _) => Authentication::Unknown(tag),
            }
        };
        Ok(BindRequest {
            version,
            name,
            authentication,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.integer(i64::from(self.version));
        writer.octet_string(self.name);
        match self.authentication {
            Authentication::Simple(password) => writer.primitive(SIMPLE, password),
            Authentication::Sasl {
                mechanism,
                credentials,
            } => writer.container(SASL, |writer| {
                writer.octet_string(mechanism);
                if let Some(credentials) = credentials {
                    writer.octet_string(credentials);
                }
            }),
            Authentication::Unknown(tag) => writer.primitive(tag, &[]),
        }
    }
}
