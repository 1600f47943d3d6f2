//! The session of a client, as the sequencer needs it.

use std::sync::Arc;

use fulgurite_auth::Mechanism;

use super::bytes::{Reader, WireError, put_bytes, put_optional};
use crate::core::connection::{
    ChannelBindings, Connection, EndPoint, PeerCredentials, Strength, TlsFacts,
};
use crate::core::session::{Identity, Method, Name, Session, SessionParts};

/// The number of the method of a name and a password.
const SIMPLE: u8 = 1;
/// The number of the methods of SASL.
const SASL: u8 = 2;

pub(super) fn put(out: &mut Vec<u8>, session: &Session) {
    put_identity(out, session.identity());
    let real = session.acts_for_another().then(|| session.real_identity());
    put_optional(out, real, put_identity);
    match session.method() {
        Method::None => out.push(0),
        Method::Simple => out.push(SIMPLE),
        Method::Sasl(name) => {
            out.push(SASL);
            put_bytes(out, name.as_bytes());
        }
    }
    put_optional(out, session.version(), |out, version| out.push(version));
    out.push(u8::from(session.must_change_password()));
    put_connection(out, session.connection());
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Session, WireError> {
    let identity = identity(reader)?;
    let real = reader.optional(self::identity)?;
    let method = match reader.byte()? {
        0 => Method::None,
        SIMPLE => Method::Simple,
        SASL => {
            let mechanism = Mechanism::from_name(reader.bytes()?);
            let mechanism = mechanism.ok_or(WireError("the mechanism is unknown"))?;
            Method::Sasl(mechanism.name())
        }
        _ => return Err(WireError("the method is unknown")),
    };
    let version = reader.optional(Reader::byte)?;
    let is_restricted = reader.truth()?;
    Ok(Session::restored(SessionParts {
        identity,
        real,
        method,
        version,
        is_restricted,
        connection: Arc::new(connection(reader)?),
    }))
}

fn put_identity(out: &mut Vec<u8>, identity: &Identity) {
    put_optional(out, identity.name(), |out, name| {
        put_bytes(out, name.normal().as_bytes());
        put_bytes(out, name.pretty().as_bytes());
    });
}

fn identity(reader: &mut Reader<'_>) -> Result<Identity, WireError> {
    let name = reader.optional(|reader| Ok(Name::restored(reader.text()?, reader.text()?)))?;
    Ok(name.map_or(Identity::Anonymous, Identity::User))
}

fn put_connection(out: &mut Vec<u8>, connection: &Connection) {
    out.extend(connection.id.to_be_bytes());
    put_end_point(out, &connection.peer);
    put_end_point(out, &connection.socket);
    put_bytes(out, connection.listener_url.as_bytes());
    put_text(out, connection.domain.as_deref());
    let Strength {
        transport,
        tls,
        sasl,
    } = connection.strength;
    for factor in [transport, tls, sasl] {
        out.extend(factor.to_be_bytes());
    }
    put_optional(out, connection.tls.as_ref(), |out, tls| {
        put_bytes(out, tls.version.as_bytes());
        put_bytes(out, tls.cipher.as_bytes());
        put_text(out, tls.client_dn.as_deref());
    });
    put_optional(out, connection.peer_credentials, |out, peer| {
        out.extend(peer.uid.to_be_bytes());
        out.extend(peer.gid.to_be_bytes());
    });
}

fn connection(reader: &mut Reader<'_>) -> Result<Connection, WireError> {
    Ok(Connection {
        id: reader.number()?,
        peer: end_point(reader)?,
        socket: end_point(reader)?,
        listener_url: reader.text()?.to_owned(),
        domain: text(reader)?,
        strength: Strength {
            transport: reader.word()?,
            tls: reader.word()?,
            sasl: reader.word()?,
        },
        // An update does not start TLS.
        offers_tls: false,
        tls: reader.optional(|reader| {
            Ok(TlsFacts {
                version: reader.text()?.to_owned(),
                cipher: reader.text()?.to_owned(),
                client_dn: text(reader)?,
                channel_bindings: ChannelBindings::default(),
            })
        })?,
        peer_credentials: reader.optional(|reader| {
            Ok(PeerCredentials {
                uid: reader.word()?,
                gid: reader.word()?,
            })
        })?,
    })
}

fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    put_optional(out, text, |out, text| put_bytes(out, text.as_bytes()));
}

fn text(reader: &mut Reader<'_>) -> Result<Option<String>, WireError> {
    reader.optional(|reader| reader.text().map(str::to_owned))
}

fn put_end_point(out: &mut Vec<u8>, end: &EndPoint) {
    match end {
        EndPoint::Unknown => out.push(0),
        EndPoint::Ip(address) => {
            out.push(1);
            put_bytes(out, address.to_string().as_bytes());
        }
        EndPoint::Path(path) => {
            out.push(2);
            put_bytes(out, path.as_bytes());
        }
    }
}

fn end_point(reader: &mut Reader<'_>) -> Result<EndPoint, WireError> {
    match reader.byte()? {
        0 => Ok(EndPoint::Unknown),
        1 => {
            let address = reader.text()?.parse();
            let address = address.map_err(|_| WireError("an address is none"))?;
            Ok(EndPoint::Ip(address))
        }
        2 => Ok(EndPoint::Path(reader.text()?.to_owned())),
        _ => Err(WireError("the kind of an address is unknown")),
    }
}
