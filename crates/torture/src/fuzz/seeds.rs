//! Inputs to begin with, made on the spot: small files of our own, pages of them, texts.

use std::path::Path;

use fulgurite::{Database, DatabaseFlags, Durability, Environment, KeyOrder};

use super::files::in_scratch;

const PAGE: usize = 4096;

/// Data files: empty, with named databases, with duplicates, with a free list and overflow runs.
pub(super) fn files() -> Vec<Vec<u8>> {
    let makers: [fn(&Environment); 4] = [|_| {}, plain, duplicates, freed];
    let mut images: Vec<Vec<u8>> = makers.iter().map(image).collect();
    // As `open_write` wants it: what to do, then the file.
    let steps: Vec<u8> = (0..48).collect();
    let with_steps: Vec<Vec<u8>> = images
        .iter()
        .map(|image| [&steps[..], image].concat())
        .collect();
    images.extend(with_steps);
    images
}

/// Backups of those files.
pub(super) fn backups() -> Vec<Vec<u8>> {
    super::tools::backups_of(&files())
}

fn image(make: &fn(&Environment)) -> Vec<u8> {
    let mut image = Vec::new();
    in_scratch(|path: &Path| {
        let options = Environment::options().durability(Durability::NoSync);
        let environment = options.open(path).expect("a new environment");
        make(&environment);
        drop(environment);
        image = std::fs::read(path.join("data.mdb")).expect("read the file back");
    });
    image
}

fn plain(environment: &Environment) {
    let mut txn = environment.write().expect("a transaction");
    let db = txn
        .create_database("plain", KeyOrder::Lexical)
        .expect("a database");
    for number in 0..200_u32 {
        txn.put(db, &number.to_be_bytes(), &[7; 60]).expect("a put");
    }
    txn.commit().expect("a commit");
}

fn duplicates(environment: &Environment) {
    let mut txn = environment.write().expect("a transaction");
    for (name, flags) in [
        (&b"few"[..], DatabaseFlags::DUP_SORT),
        (b"fixed", DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED),
    ] {
        let db = txn
            .create_named(name, DatabaseFlags(flags))
            .expect("a database");
        for number in 0..300_u32 {
            let key = [number as u8 % 3];
            txn.put(db, &key, &number.to_be_bytes()).expect("a put");
        }
    }
    txn.commit().expect("a commit");
}

fn freed(environment: &Environment) {
    for round in 0..4_u8 {
        let mut txn = environment.write().expect("a transaction");
        for number in 0..12_u8 {
            let len = usize::from(number) * 700;
            txn.put(Database::MAIN, &[number], &vec![round; len])
                .expect("a put");
        }
        txn.delete(Database::MAIN, &[round]).expect("a deletion");
        txn.commit().expect("a commit");
    }
}

/// Pages of the files, each under the number and kind that the target asks for.
pub(super) fn pages() -> Vec<Vec<u8>> {
    let mut pages = Vec::new();
    for image in files().iter().take(4) {
        for page in image.chunks_exact(PAGE).skip(2) {
            let is_leaf = page[10] & 0x02 != 0;
            let is_packed = page[10] & 0x20 != 0;
            let mut seed = match (is_leaf, is_packed) {
                (true, true) => vec![1, 252],
                (true, false) => vec![2],
                _ => vec![0],
            };
            seed.push(3);
            seed.extend(0..24);
            seed.extend_from_slice(&7_u64.to_le_bytes());
            seed.extend_from_slice(&page[8..]);
            pages.push(seed);
        }
    }
    pages.truncate(24);
    pages
}

/// Meta pages, and records of trees out of them.
pub(super) fn metas() -> Vec<Vec<u8>> {
    let mut metas = Vec::new();
    for image in files().iter().take(4) {
        for page in image.chunks_exact(PAGE).take(2) {
            metas.push(page[..160].to_vec());
            metas.push(page[40..88].to_vec());
            metas.push(page[88..136].to_vec());
        }
    }
    metas
}

/// Records of the free list, and overflow runs.
pub(super) fn free_records() -> Vec<Vec<u8>> {
    let record = |numbers: &[u64]| {
        let mut seed = vec![200, 0];
        seed.extend_from_slice(&(numbers.len() as u64).to_le_bytes());
        for number in numbers {
            seed.extend_from_slice(&number.to_le_bytes());
        }
        seed
    };
    let mut run = vec![200, 0];
    run.extend_from_slice(&7_u64.to_le_bytes());
    run.extend_from_slice(&[0, 0, 4, 0, 3, 0, 0, 0]);
    vec![record(&[]), record(&[5, 3, 2]), record(&[199, 100]), run]
}

/// Steps of transactions.
pub(super) fn operations() -> Vec<Vec<u8>> {
    let steps = |factor: u32| -> Vec<u8> {
        (0..600_u32)
            .map(|number| (number.wrapping_mul(factor) >> 5) as u8)
            .collect()
    };
    vec![
        (0..=255).collect(),
        steps(0x9e37_79b1),
        steps(0x85eb_ca6b),
        steps(97),
    ]
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Dumps.
pub(super) fn dumps() -> Vec<Vec<u8>> {
    texts(&[
        "VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n 6b6579\n 76616c7565\nDATA=END\n",
        "VERSION=3\nformat=print\ndatabase=few\ntype=btree\nduplicates=1\ndupsort=1\ndb_pagesize=4096\nHEADER=END\n \
         key\n one\n key\n two\\0a\nDATA=END\n",
        "VERSION=3\nformat=bytevalue\ndatabase=fixed\nintegerkey=1\ndupfixed=1\ndupsort=1\nHEADER=END\n \
         01000000\n 0102\nDATA=END\nVERSION=3\nformat=print\nreversekey=1\nHEADER=END\nDATA=END\n",
        "key\nvalue\nother\nvalue\n",
    ])
}

/// LDIF.
pub(super) fn ldif() -> Vec<Vec<u8>> {
    texts(&[
        "version: 1\ndn: cn=a,dc=b\nobjectClass: person\ncn: a\ndescription:: YWJj\n folded\n\n",
        "dn: cn=a\nchangetype: modify\nadd: cn\ncn: b\n-\nreplace: sn\n-\ndelete: x\nx: 1\n-\n\n# c\n",
        "dn:: Y249YQ==\ncontrol: 1.2.3 true: x\nchangetype: modrdn\nnewrdn: cn=b\ndeleteoldrdn: 1\nnewsuperior: dc=c\n\n",
        "dn: cn=a\nchangetype: delete\n\ndn: cn=b\nchangetype: add\ncn;lang-de: b\n",
    ])
}

/// Configurations of slapd's.
pub(super) fn slapd_confs() -> Vec<Vec<u8>> {
    texts(&[
        "# c\n d\nsizelimit 5\ntimelimit time.soft=5\n time.hard=7\nloglevel stats 0x40\ndatabase mdb\nsuffix \"dc=x\"\n\
         rootdn cn=a,dc=x\nrootpw se\\ cret\nindex default eq\nindex cn,sn\naccess to dn.base=\"cn=a b\" by * read\n\
         limits users size.pr=5 size.prtotal=hard\noverlay sssvlv\nsssvlv-max 5\ndatabase monitor\n",
        "attributetype ( 1.2.3\n  NAME 'x' )\nobjectidentifier a 1.2\nsecurity ssf=1\nrequire none bind\nrestrict all\n\
         authz-regexp \"uid=(.*)\" cn=$1\nserverID 1 ldap://x\nTLSProtocolMin 3.3\nallow bind_v2 \\\nupdate_anon\n",
    ])
}

/// Settings in TOML.
pub(super) fn settings() -> Vec<Vec<u8>> {
    texts(&[
        "suffix = \"dc=x\"\nsecurity = [\"tls=1\"]\n[limits]\nsize = \"soft=1 hard=2\"\n[index]\nuid = [\"eq\", \"sub\"]\n",
        "access = [\"to * by * read\"]\n[[database]]\ntype = \"monitor\"\n[[database]]\nroot.dn = \"cn=a\"\n",
    ])
}

/// Requests and responses.
pub(super) fn messages() -> Vec<Vec<u8>> {
    vec![
        // A simple bind, an unbind, a search of the root entry, a bind's answer.
        b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00".to_vec(),
        b"\x30\x05\x02\x01\x02\x42\x00".to_vec(),
        b"\x30\x25\x02\x01\x03\x63\x20\x04\x00\x0a\x01\x00\x0a\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00\x87\x0bobjectClass\x30\x00"
            .to_vec(),
        b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00".to_vec(),
    ]
}

/// Filters.
pub(super) fn filters() -> Vec<Vec<u8>> {
    texts(&[
        "(cn=a)",
        "(&(objectClass=*)(|(cn=a*b*c)(!(sn>=x))))",
        "(cn:dn:2.4.6.8:=\\2a)",
    ])
}

/// Distinguished names.
pub(super) fn names() -> Vec<Vec<u8>> {
    texts(&["", "cn=a+sn=b,dc=c", "2.5.4.3=#040161,o=\\20x\\,y\\ "])
}

/// URLs.
pub(super) fn urls() -> Vec<Vec<u8>> {
    texts(&[
        "ldap://host:389/dc=a?cn,sn?sub?(cn=*)?!x=y",
        "ldap:///??one",
        "ldaps://[::1]/o=%20",
    ])
}

/// Values of controls.
pub(super) fn controls() -> Vec<Vec<u8>> {
    vec![
        b"\x30\x05\x02\x01\x0a\x04\x00".to_vec(),
        b"\xa3\x09\x04\x02cn\x04\x03abc".to_vec(),
        b"\x30\x0b\x30\x09\x04\x02sn\x81\x01\xff\x80\x00".to_vec(),
        b"\x30\x0e\x02\x01\x00\x02\x01\x09\xa0\x06\x02\x01\x01\x02\x01\x00".to_vec(),
        b"\x30\x06\x04\x01*\x04\x01+".to_vec(),
        b"\x30\x0a\x80\x02cn\x82\x04pass".to_vec(),
    ]
}

/// Schema definitions, in each of their forms.
pub(super) fn definitions() -> Vec<Vec<u8>> {
    [
        "objectidentifier base 1.2.3.4\nattributetype ( base:1 NAME ( 'one' 'eins' ) DESC 'x' SUP name )\n\
         objectclass ( base:2 NAME 'two' SUP top AUXILIARY MUST one MAY ( cn $ sn ) )\n",
        "dn: cn=x,cn=schema,cn=config\nobjectClass: olcSchemaConfig\nolcAttributeTypes: {0}( 1.2.3.1 NAME 'one'\n  EQUALITY caseIgnoreMatch\n  \
         SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{64} SINGLE-VALUE X-ORDERED 'VALUES' )\n",
        "dn: cn=schema\nattributeTypes: ( 1.2.3.1 NAME 'one' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
         objectClasses: ( 1.2.3.2 NAME 'two' SUP person STRUCTURAL MUST one )\n",
        "ldapsyntax ( 1.2.3.5 DESC 'x' X-SUBST '1.3.6.1.4.1.1466.115.121.1.15' )\nditcontentrule ( 2.5.6.6 NAME 'x' AUX uidObject )\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Values of several syntaxes.
pub(super) fn values() -> Vec<Vec<u8>> {
    [
        "text",
        "+1 555 0100",
        "20240229235960.5+0130",
        "'0101'B",
        "TRUE",
        "-42",
        "1 Road$Town\\24",
        "cn=a+sn=b,dc=c",
        "cn=a#'01'B",
        "1.2.840.113556",
        "{ serialNumber 1, issuer rdnSequence:\"cn=x\" }",
        "(host,user,domain)",
        "9f1f3b4e-0c1c-4d55-9f3e-0a4f8f3d2c11",
        "20240101000000.000000Z#000000#001#000000",
        "any $ mhs",
        "local $ box",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Access rules.
pub(super) fn rules() -> Vec<Vec<u8>> {
    [
        "to dn.regex=\"^uid=([^,]+),dc=x$\" attrs=userPassword,@person,!top by dn.exact,expand=\"cn=$1,dc=x\" write by * none stop",
        "to filter=(cn=*) attrs=cn val.regex=\"^a\" by group/groupOfNames/member.exact=\"cn=g,dc=x\" +rscx continue by * break",
        "to * by set=\"this/manager & user\" manage by peername.ip=10.0.0.0%255.0.0.0 ssf=56 read by self.level{1} =wzd",
        "dn.this.subtree=\"dc=x\" size.soft=5",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
