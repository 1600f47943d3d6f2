//! The client's side of SCRAM (RFC 5802), without channel binding.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq as _;

use super::{ScramHash, ScramKeys};

/// The iterations that a server may ask for at most.
const ITERATIONS_MAX: u32 = 1_000_000;

/// The messages of one exchange, on the side of the client.
#[derive(Clone, Debug)]
pub struct ScramClient {
    hash: ScramHash,
    header: String,
    first_bare: String,
    nonce: String,
    /// The proof that the server has to send, once it is known.
    expected: Option<String>,
}

impl ScramClient {
    /// Begins an exchange with bytes that nobody can guess.
    #[must_use]
    pub fn new(hash: ScramHash, user: &str, authorization: &str, nonce: &[u8; 18]) -> ScramClient {
        let nonce = STANDARD.encode(nonce);
        let header = match authorization {
            "" => "n,,".to_owned(),
            name => format!("n,a={},", escaped(name)),
        };
        ScramClient {
            hash,
            header,
            first_bare: format!("n={},r={nonce}", escaped(user)),
            nonce,
            expected: None,
        }
    }

    /// Returns the first message.
    #[must_use]
    pub fn first(&self) -> Vec<u8> {
        format!("{}{}", self.header, self.first_bare).into_bytes()
    }

    /// Returns the proof for the server's first message, or `None` after its last one.
    ///
    /// # Errors
    /// A clause about a message that is malformed or proves nothing.
    pub fn answer(&mut self, message: &[u8], password: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let malformed = || "a message of SCRAM is malformed".to_owned();
        let text = str::from_utf8(message).map_err(|_| malformed())?;
        if let Some(expected) = &self.expected {
            let is_right: bool = expected.as_bytes().ct_eq(text.as_bytes()).into();
            return match is_right {
                true => Ok(None),
                false => Err("the server does not know the password".to_owned()),
            };
        }
        let mut parts = text.split(',');
        let mut next = |prefix: &str| parts.next()?.strip_prefix(prefix);
        let nonce = next("r=").ok_or_else(malformed)?;
        let salt = next("s=").and_then(|salt| STANDARD.decode(salt).ok());
        let salt = salt.ok_or_else(malformed)?;
        let iterations = next("i=").and_then(|count| count.parse::<u32>().ok());
        let iterations = iterations.filter(|count| (1..=ITERATIONS_MAX).contains(count));
        let iterations = iterations.ok_or_else(malformed)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the server answers another exchange".to_owned());
        }
        let channel = STANDARD.encode(&self.header);
        let without_proof = format!("c={channel},r={nonce}");
        let signed = format!("{},{text},{without_proof}", self.first_bare);
        let (client_key, keys) = ScramKeys::derive_all(self.hash, password, &salt, iterations);
        let signature = self.hash.hmac(&keys.server_key, signed.as_bytes());
        self.expected = Some(format!("v={}", STANDARD.encode(signature)));
        let signature = self.hash.hmac(&keys.stored_key, signed.as_bytes());
        let proof: Vec<u8> = client_key
            .iter()
            .zip(signature)
            .map(|(a, b)| a ^ b)
            .collect();
        let proof = STANDARD.encode(proof);
        Ok(Some(format!("{without_proof},p={proof}").into_bytes()))
    }
}

fn escaped(name: &str) -> String {
    name.replace('=', "=3D").replace(',', "=2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scram::{ChannelBinding, ClientFirst};

    #[test]
    fn both_sides_prove_the_password() {
        for hash in ScramHash::ALL {
            let mut client = ScramClient::new(hash, "a,b=c", "dn:cn=x", &[7; 18]);
            let first = ClientFirst::parse(&client.first(), false, ChannelBinding::default());
            let first = first.expect("a first message");
            assert_eq!(
                (first.user.as_str(), first.authorization_id.as_str()),
                ("a,b=c", "dn:cn=x")
            );
            let keys = ScramKeys::derive(hash, b"pencil", b"salt", 4096);
            let server = first.answer(b"salt", 4096, &[9; 18]);
            let proof = client.answer(server.message().as_bytes(), b"pencil");
            let proof = proof.expect("a message").expect("a proof");
            let last = server.verify(&proof, &keys).expect("the right password");
            assert_eq!(client.answer(last.as_bytes(), b"pencil"), Ok(None));
            assert!(client.answer(b"v=AAAA", b"pencil").is_err());
        }
    }

    #[test]
    fn wrong_messages_are_errors() {
        for message in [
            "",
            "r=x",
            "r=x,s=!,i=1",
            "r=other,s=AAAA,i=4096",
            "e=other-error",
        ] {
            let mut client = ScramClient::new(ScramHash::Sha256, "u", "", &[7; 18]);
            assert!(
                client.answer(message.as_bytes(), b"p").is_err(),
                "{message}"
            );
        }
        let mut client = ScramClient::new(ScramHash::Sha256, "u", "", &[7; 18]);
        let huge = format!("r={}x,s=AAAA,i=4000000000", client.nonce);
        assert!(client.answer(huge.as_bytes(), b"p").is_err());
    }
}
