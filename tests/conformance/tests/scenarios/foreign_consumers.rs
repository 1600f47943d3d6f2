//! Row 10 of the interop matrix: consumers of other programs, which know nothing of our server.
//!
//! `replication` has `ldapsearch -E sync`. The UnboundID SDK asks in `scripts/clients/java.sh`.

use std::path::Path;
use std::process::Command;

use crate::copies::top;
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Stage, ran};

#[test]
fn the_consumer_of_python_ldap_follows() {
    let stage = Stage::new("python-consumer");
    let module = stage.distribution();
    let database = stage.database(
        "db",
        SUFFIX,
        "index entryCSN,entryUUID eq\noverlay syncprov\n",
    );
    stage.configure(&format!(
        "modulepath {module}/usr/lib/ldap\nmoduleload syncprov.so\nserverID 1\n{database}"
    ));
    stage.add(&top()).well();
    let server = stage.start();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join("../../build/venv/bin/python");
    assert!(
        python.exists(),
        "build/venv is missing: run `make test`, or scripts/setup.sh, which makes it"
    );
    let mut command = Command::new(python);
    command.arg(here.join("tests/scenarios/syncrepl_consumer.py"));
    command.arg(&server.url).args([SUFFIX, ROOT, PASSWORD]);
    let out = ran(&mut command, "").well();
    assert!(out.ends_with("all is well\n"), "{out}");
    server.stop();
}
