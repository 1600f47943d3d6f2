//! The messages of an exchange and their proofs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq as _;

use super::{ScramHash, ScramKeys};

/// Bytes of a nonce at most: clients send some twenty.
const NONCE_BYTES_MAX: usize = 512;

/// Why an exchange fails. Nothing in it reveals whether a user exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScramError {
    /// Not a message of SCRAM.
    #[error("Invalid SCRAM input")]
    Malformed,
    /// The client wants an extension that is not known.
    #[error("extensions-not-supported")]
    Extension,
    /// The client could bind to the TLS layer and believes that the server cannot. A third party
    /// has changed the list of mechanisms.
    #[error("server-does-support-channel-binding")]
    Downgrade,
    /// The binding asked for is none of this layer.
    #[error("unsupported-channel-binding-type")]
    BindingType,
    /// The layer is not the one the client sees, or the client repeats another header than it began
    /// with.
    #[error("channel-bindings-dont-match")]
    BindingMismatch,
    /// The nonce is not the one of this exchange.
    #[error("Nonce mismatch")]
    Nonce,
    /// The proof is wrong.
    #[error("invalid-proof")]
    Proof,
}

/// The channel bindings of a connection's TLS layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChannelBinding<'b> {
    /// `tls-server-end-point` (RFC 5929).
    pub server_end_point: Option<&'b [u8]>,
    /// `tls-exporter` (RFC 9266).
    pub exporter: Option<&'b [u8]>,
}

impl ChannelBinding<'_> {
    /// Returns true if there is anything to bind to.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.server_end_point.is_some() || self.exporter.is_some()
    }

    /// Returns the bytes that a binding of that name covers. The library of OpenLDAP calls its
    /// binding `ldap`, whatever its real name is. The name of the real binding then comes before
    /// the bytes.
    fn of_type(&self, name: &str) -> Option<Vec<u8>> {
        match name {
            "tls-server-end-point" => self.server_end_point.map(<[u8]>::to_vec),
            "tls-exporter" => self.exporter.map(<[u8]>::to_vec),
            "ldap" => {
                let end_point = self.server_end_point?;
                Some([b"tls-server-end-point:", end_point].concat())
            }
            _ => None,
        }
    }
}

/// The client's first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFirst {
    /// The name that the client claims, not yet prepared.
    pub user: String,
    /// Whom it wants to act for; empty for itself.
    pub authorization_id: String,
    /// The header before the first attribute, repeated in the last message.
    header: Vec<u8>,
    /// The binding that the header names.
    binding: Vec<u8>,
    bare: String,
    nonce: String,
}

impl ClientFirst {
    /// Reads the message (RFC 5802, section 7), for a mechanism with (`plus`) or without channel
    /// binding on a connection that offers `binding`.
    ///
    /// # Errors
    /// [`ScramError`]; the exchange is over then.
    pub fn parse(
        message: &[u8],
        plus: bool,
        binding: ChannelBinding<'_>,
    ) -> Result<ClientFirst, ScramError> {
        let text = std::str::from_utf8(message).map_err(|_| ScramError::Malformed)?;
        let (flag, rest) = text.split_once(',').ok_or(ScramError::Malformed)?;
        let (authorization, bare) = rest.split_once(',').ok_or(ScramError::Malformed)?;
        // Clients of Cyrus SASL leave -PLUS out of the name and bind all the same.
        let bound = match flag.strip_prefix("p=") {
            Some(name) => binding.of_type(name).ok_or(ScramError::BindingType)?,
            None if flag == "n" && !plus => Vec::new(),
            None if flag == "y" && !plus && binding.is_available() => {
                return Err(ScramError::Downgrade);
            }
            None if flag == "y" && !plus => Vec::new(),
            _ => return Err(ScramError::Malformed),
        };
        let authorization_id = match authorization {
            "" => String::new(),
            text => name(text.strip_prefix("a=").ok_or(ScramError::Malformed)?)?,
        };
        if bare.starts_with("m=") {
            return Err(ScramError::Extension);
        }
        let mut attributes = bare.split(',');
        let mut next = |prefix: &str| {
            attributes
                .next()
                .and_then(|attribute| attribute.strip_prefix(prefix))
                .ok_or(ScramError::Malformed)
        };
        let user = name(next("n=")?)?;
        let nonce = next("r=")?;
        if nonce.is_empty() || nonce.len() > NONCE_BYTES_MAX || !is_printable(nonce) {
            return Err(ScramError::Malformed);
        }
        let header_end = message.len() - bare.len();
        Ok(ClientFirst {
            user,
            authorization_id,
            header: message.get(..header_end).unwrap_or_default().to_vec(),
            binding: bound,
            bare: bare.to_owned(),
            nonce: nonce.to_owned(),
        })
    }

    /// Answers with a salt and the server's part of the nonce, eighteen bytes that nobody can
    /// guess.
    #[must_use]
    pub fn answer(self, salt: &[u8], iterations: u32, nonce: &[u8; 18]) -> ServerFirst {
        let nonce = format!("{}{}", self.nonce, STANDARD.encode(nonce));
        let message = format!("r={nonce},s={},i={iterations}", STANDARD.encode(salt));
        ServerFirst {
            client: self,
            nonce,
            message,
        }
    }
}

/// An exchange that waits for the client's proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFirst {
    /// The client's first message, without its header.
    pub client: ClientFirst,
    nonce: String,
    message: String,
}

impl ServerFirst {
    /// Returns the message to send.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Checks the client's last message; gives the server's proof to send. The comparison takes the
    /// same time wherever the difference is.
    ///
    /// # Errors
    /// [`ScramError`]; the client is not who it says.
    pub fn verify(&self, message: &[u8], keys: &ScramKeys) -> Result<String, ScramError> {
        let text = std::str::from_utf8(message).map_err(|_| ScramError::Malformed)?;
        let (without_proof, proof) = text.rsplit_once(",p=").ok_or(ScramError::Malformed)?;
        let mut attributes = without_proof.split(',');
        let mut next = |prefix: &str| {
            attributes
                .next()
                .and_then(|attribute| attribute.strip_prefix(prefix))
                .ok_or(ScramError::Malformed)
        };
        let binding = STANDARD
            .decode(next("c=")?)
            .map_err(|_| ScramError::Malformed)?;
        if next("r=")? != self.nonce {
            return Err(ScramError::Nonce);
        }
        let expected = [&self.client.header[..], &self.client.binding].concat();
        if !bool::from(binding.ct_eq(&expected)) {
            return Err(ScramError::BindingMismatch);
        }
        let proof = STANDARD.decode(proof).map_err(|_| ScramError::Malformed)?;
        let signed = format!("{},{},{without_proof}", self.client.bare, self.message);
        check_proof(keys, signed.as_bytes(), &proof)?;
        let signature = keys.hash.hmac(&keys.server_key, signed.as_bytes());
        Ok(format!("v={}", STANDARD.encode(signature)))
    }
}

/// Returns the proof is the client's key, hidden by its signature; what is stored is the hash of
/// that key.
fn check_proof(keys: &ScramKeys, signed: &[u8], proof: &[u8]) -> Result<(), ScramError> {
    let hash: ScramHash = keys.hash;
    let signature = hash.hmac(&keys.stored_key, signed);
    if proof.len() != signature.len() {
        return Err(ScramError::Proof);
    }
    let client_key: Vec<u8> = proof.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
    if hash.hash(&client_key).ct_eq(&keys.stored_key).into() {
        Ok(())
    } else {
        Err(ScramError::Proof)
    }
}

/// Returns a name, with its commas and equals signs back.
fn name(text: &str) -> Result<String, ScramError> {
    let mut name = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('=') {
        name.push_str(before);
        rest = if let Some(rest) = after.strip_prefix("2C") {
            name.push(',');
            rest
        } else if let Some(rest) = after.strip_prefix("3D") {
            name.push('=');
            rest
        } else {
            return Err(ScramError::Malformed);
        };
    }
    name.push_str(rest);
    if name.contains('\0') {
        return Err(ScramError::Malformed);
    }
    Ok(name)
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an exchange whose nonce is as published, instead of a random one.
    fn exchange(first: &str, nonce: &str, salt: &str, hash: ScramHash) -> (ServerFirst, ScramKeys) {
        let client =
            ClientFirst::parse(first.as_bytes(), false, ChannelBinding::default()).unwrap();
        let salt = STANDARD.decode(salt).unwrap();
        let keys = ScramKeys::derive(hash, b"pencil", &salt, 4096);
        let mut server = client.answer(&salt, 4096, &[0; 18]);
        server.message = server.message.replace(&server.nonce, nonce);
        server.nonce = nonce.to_owned();
        (server, keys)
    }

    #[test]
    fn the_example_of_rfc_5802() {
        let (server, keys) = exchange(
            "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
            "fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j",
            "QSXCR+Q6sek8bf92",
            ScramHash::Sha1,
        );
        assert_eq!(
            server.message(),
            "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096"
        );
        let last =
            b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=";
        assert_eq!(
            server.verify(last, &keys).as_deref(),
            Ok("v=rmF9pqV8S7suAoZWja4dJRkFsKQ=")
        );
    }

    #[test]
    fn the_example_of_rfc_7677() {
        let (server, keys) = exchange(
            "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
            "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
            "W22ZaJ0SNY7soEsUEjb6gQ==",
            ScramHash::Sha256,
        );
        let last = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(
            server.verify(last, &keys).as_deref(),
            Ok("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
        );
        let wrong = ScramKeys::derive(ScramHash::Sha256, b"pencils", &keys.salt, 4096);
        assert_eq!(server.verify(last, &wrong), Err(ScramError::Proof));
        let other_nonce =
            b"c=biws,r=rOprNGfwEbeRWgbNEkqO,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(server.verify(other_nonce, &keys), Err(ScramError::Nonce));
        let other_header = b"c=eSws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(
            server.verify(other_header, &keys),
            Err(ScramError::BindingMismatch)
        );
    }

    /// Returns a client, written independently of the server's code.
    fn client_proof(
        keys_password: &[u8],
        server: &ServerFirst,
        without_proof: &str,
        hash: ScramHash,
    ) -> String {
        let salt_text = server
            .message
            .split(",s=")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap();
        let salt = STANDARD.decode(salt_text).unwrap();
        let mut salted = vec![0; hash.length()];
        match hash {
            ScramHash::Sha512 => {
                pbkdf2::pbkdf2_hmac::<sha2::Sha512>(keys_password, &salt, 4096, &mut salted)
            }
            _ => panic!("one is enough"),
        }
        let client_key = hash.hmac(&salted, b"Client Key");
        let signed = format!("{},{},{without_proof}", server.client.bare, server.message);
        let signature = hash.hmac(&hash.hash(&client_key), signed.as_bytes());
        let proof: Vec<u8> = client_key
            .iter()
            .zip(signature)
            .map(|(a, b)| a ^ b)
            .collect();
        format!("{without_proof},p={}", STANDARD.encode(proof))
    }

    #[test]
    fn a_proof_is_bound_to_its_layer() {
        let binding = ChannelBinding {
            server_end_point: Some(b"hash of the certificate"),
            exporter: Some(b"exported"),
        };
        for (name, data) in [
            ("tls-exporter", &b"exported"[..]),
            ("tls-server-end-point", b"hash of the certificate"),
            ("ldap", b"tls-server-end-point:hash of the certificate"),
        ] {
            let first = format!("p={name},,n=user,r=abc");
            let client = ClientFirst::parse(first.as_bytes(), true, binding).unwrap();
            let server = client.answer(b"salt", 4096, &[7; 18]);
            let keys = ScramKeys::derive(ScramHash::Sha512, b"pencil", b"salt", 4096);
            let last = |bound: &[u8]| {
                let header = [format!("p={name},,").as_bytes(), bound].concat();
                let without = format!("c={},r={}", STANDARD.encode(header), server.nonce);
                client_proof(b"pencil", &server, &without, ScramHash::Sha512)
            };
            assert!(server.verify(last(data).as_bytes(), &keys).is_ok());
            assert_eq!(
                server.verify(last(b"of another layer").as_bytes(), &keys),
                Err(ScramError::BindingMismatch)
            );
        }
    }

    #[test]
    fn headers_that_do_not_fit() {
        let none = ChannelBinding::default();
        let tls = ChannelBinding {
            server_end_point: Some(b"x"),
            exporter: None,
        };
        for (message, plus, binding, error) in [
            ("", false, none, ScramError::Malformed),
            ("n,n=user,r=abc", false, none, ScramError::Malformed),
            ("x,,n=user,r=abc", false, none, ScramError::Malformed),
            ("n,,n=user", false, none, ScramError::Malformed),
            ("n,,n=user,r=", false, none, ScramError::Malformed),
            ("n,,n=us=er,r=abc", false, none, ScramError::Malformed),
            ("n,x,n=user,r=abc", false, none, ScramError::Malformed),
            ("n,,m=x,n=user,r=abc", false, none, ScramError::Extension),
            ("n,,n=user,r=abc", true, tls, ScramError::Malformed),
            (
                "p=tls-server-end-point,,n=user,r=abc",
                false,
                none,
                ScramError::BindingType,
            ),
            ("y,,n=user,r=abc", false, tls, ScramError::Downgrade),
            (
                "p=tls-unique,,n=user,r=abc",
                true,
                tls,
                ScramError::BindingType,
            ),
            (
                "p=tls-exporter,,n=user,r=abc",
                true,
                tls,
                ScramError::BindingType,
            ),
        ] {
            let parsed = ClientFirst::parse(message.as_bytes(), plus, binding);
            assert_eq!(parsed.unwrap_err(), error, "{message}");
        }
        let client = ClientFirst::parse(b"y,a=u:x=2Cy=3D,n=a=2Cb,r=abc,x=y", false, none).unwrap();
        assert_eq!(client.user, "a,b");
        assert_eq!(client.authorization_id, "u:x,y=");
    }
}
