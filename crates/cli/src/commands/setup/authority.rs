//! An own certificate authority, and the certificate of this server.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};

use super::files::{Files, Owner, WantedFile};

/// Validity of the authority in days.
const AUTHORITY_DAYS: u64 = 3650;

/// Validity of the server's certificate in days; some clients refuse a longer one.
const SERVER_DAYS: u64 = 825;

/// Seconds before now at which certificates become valid, for clients whose clocks are late.
const EARLY: Duration = Duration::from_secs(86_400);

/// The beginning of the authority's name.
const AUTHORITY: &str = "Fulgurite authority of ";

/// The files of an own authority.
pub(super) struct AuthorityFiles {
    pub(super) authority: PathBuf,
    authority_key: PathBuf,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl AuthorityFiles {
    /// Returns the files in the folder `tls`, next to the settings.
    pub(super) fn beside(config: &Path) -> AuthorityFiles {
        let folder = config.with_file_name("tls");
        AuthorityFiles {
            authority: folder.join("ca.pem"),
            authority_key: folder.join("ca-key.pem"),
            certificate: folder.join("server.pem"),
            key: folder.join("server-key.pem"),
        }
    }

    fn all(&self) -> [&Path; 4] {
        [
            &self.authority,
            &self.authority_key,
            &self.certificate,
            &self.key,
        ]
    }

    /// Makes what is missing. The server's user owns the server's key; the authority's key stays
    /// with the user that calls.
    pub(super) fn make(
        &self,
        files: &mut Files,
        hosts: &[String],
        owner: Owner,
        renews: bool,
    ) -> anyhow::Result<()> {
        if renews {
            return self.renew(files, hosts, owner);
        }
        let kept = self.all().into_iter().filter(|path| files.exists(path));
        match kept.count() {
            4 => {
                for path in self.all() {
                    files.kept(path);
                }
                Ok(())
            }
            // The authority's key may be in a safe.
            3 if !files.exists(&self.authority_key) => {
                for path in [&self.authority, &self.certificate, &self.key] {
                    files.kept(path);
                }
                Ok(())
            }
            0 => self.make_all(files, hosts, owner),
            _ => bail!(
                "some files of {} are missing: restore them, or remove the others to make all anew",
                self.authority.with_file_name("").display()
            ),
        }
    }

    fn make_all(&self, files: &mut Files, hosts: &[String], owner: Owner) -> anyhow::Result<()> {
        let authority = Authority::new(hosts.first().map_or("localhost", String::as_str))?;
        let server = authority.sign(hosts)?;
        let parts = [
            (&self.authority, authority.pem.as_str(), 0o644, None),
            (&self.authority_key, &authority.key_pem, 0o600, None),
            (&self.certificate, &server.pem, 0o644, None),
            (&self.key, &server.key_pem, 0o600, owner),
        ];
        for (path, text, mode, owner) in parts {
            files.file(&WantedFile {
                path,
                text,
                mode,
                owner,
            })?;
        }
        Ok(())
    }

    /// Signs a new certificate for a new key with the authority that exists.
    fn renew(&self, files: &mut Files, hosts: &[String], owner: Owner) -> anyhow::Result<()> {
        let read = |path: &Path| {
            let place = files.place(path);
            std::fs::read_to_string(&place)
                .with_context(|| format!("cannot read {}", place.display()))
        };
        let key_pem = read(&self.authority_key)?;
        let pem = read(&self.authority)?;
        let server = Authority::read(&files.place(&self.authority), pem, key_pem)?.sign(hosts)?;
        let parts = [
            (&self.certificate, &server.pem, 0o644, None),
            (&self.key, &server.key_pem, 0o600, owner),
        ];
        for (path, text, mode, owner) in parts {
            files.replace(&WantedFile {
                path,
                text,
                mode,
                owner,
            })?;
        }
        Ok(())
    }
}

/// A certificate with its key, as PEM.
pub(crate) struct Signed {
    pub(crate) pem: String,
    pub(crate) key_pem: String,
}

/// A certificate authority with its key.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
    pub(crate) key_pem: String,
}

impl Authority {
    /// Makes an authority. Its name has the day, so that two of one host differ.
    pub(crate) fn new(host: &str) -> anyhow::Result<Authority> {
        let key = KeyPair::generate()?;
        let day = since_epoch()?.as_secs() / 86_400;
        let name = format!("{AUTHORITY}{host} {day}");
        let mut parameters = parameters_of(&name);
        set_validity(&mut parameters, AUTHORITY_DAYS)?;
        let pem = parameters.self_signed(&key)?.pem();
        Authority::of(&name, pem, key.serialize_pem())
    }

    /// Returns the authority of a certificate that this program has made, and of its key.
    pub(crate) fn read(file: &Path, pem: String, key_pem: String) -> anyhow::Result<Authority> {
        let facts = fulgurite_server::certificate_facts(file)?;
        let name = facts
            .subject
            .and_then(|dn| Some(dn.strip_prefix("cn=")?.to_owned()));
        let name = name.filter(|name| name.starts_with(AUTHORITY) && !name.contains(['\\', ',']));
        let name = name.with_context(|| format!("fulgurite did not make {}", file.display()))?;
        Authority::of(&name, pem, key_pem)
    }

    fn of(name: &str, pem: String, key_pem: String) -> anyhow::Result<Authority> {
        let key = KeyPair::from_pem(&key_pem)?;
        Ok(Authority {
            issuer: Issuer::new(parameters_of(name), key),
            pem,
            key_pem,
        })
    }

    /// Makes a server's certificate for its names and addresses, of which the first is its subject.
    pub(crate) fn sign(&self, hosts: &[String]) -> anyhow::Result<Signed> {
        let mut parameters = CertificateParams::new(hosts.to_vec())?;
        parameters.distinguished_name = DistinguishedName::new();
        let subject = hosts.first().map_or("localhost", String::as_str);
        parameters
            .distinguished_name
            .push(DnType::CommonName, subject);
        parameters.is_ca = IsCa::ExplicitNoCa;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        // A server of several copies is a client of the others.
        parameters.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        parameters.use_authority_key_identifier_extension = true;
        set_validity(&mut parameters, SERVER_DAYS)?;
        let key = KeyPair::generate()?;
        let certificate = parameters.signed_by(&key, &self.issuer)?;
        Ok(Signed {
            // Clients that trust the authority need no more, and others see what is above.
            pem: certificate.pem() + &self.pem,
            key_pem: key.serialize_pem(),
        })
    }
}

fn parameters_of(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    parameters
}

/// Sets the time in which a certificate is valid, from yesterday on.
fn set_validity(parameters: &mut CertificateParams, days: u64) -> anyhow::Result<()> {
    let begin = rcgen::date_time_ymd(1970, 1, 1) + (since_epoch()? - EARLY);
    parameters.not_before = begin;
    parameters.not_after = begin + Duration::from_secs(days * 86_400);
    Ok(())
}

fn since_epoch() -> anyhow::Result<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.ok().filter(|now| *now > EARLY);
    now.context("the clock of this machine is wrong")
}
