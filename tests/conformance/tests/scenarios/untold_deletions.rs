//! A deletion that slapd tells nobody, because its refresh only names what is there.
//!
//! ```text
//!   slapd --> first, second;   first <--> second (both ours)
//!   slapd adds an entry while the second one is away, and deletes it while the first one is
//! ```
//! The second server never had the entry. So nothing there says that it is gone.

use crate::copies::{top, wait_for};
use crate::data::SUFFIX;
use crate::repaired::{Node, syncrepl};
use crate::stage::{Running, Stage, is_ours};

#[test]
fn a_server_that_never_had_an_entry_brings_its_deletion() {
    if !is_ours() {
        return;
    }
    let slapd = Node::new(Stage::with_original("untold-slapd"));
    let nodes = ["untold-1", "untold-2"].map(|label| Node::new(Stage::new(label)));
    let [one, two] = &nodes;
    slapd.configure(1, "");
    let lines = |other: &Node| {
        let lines = syncrepl(1, &slapd.url) + &syncrepl(2, &other.url);
        lines + "multiprovider on\n"
    };
    one.configure(2, &lines(two));
    two.configure(3, &lines(one));
    let file = slapd.stage.file("top.ldif", &top());
    let added = slapd.stage.tool("a", &["-w", "-S", "1", "-l", &file], "");
    added.well();
    let provider = slapd.start();
    let (first, second) = (one.start(), two.start());
    wait_for(&provider, &first, &one.stage);
    wait_for(&provider, &second, &two.stage);

    second.stop();
    let victim = format!("cn=victim,{SUFFIX}");
    let entry = format!("dn: {victim}\nobjectClass: person\ncn: victim\nsn: x\n");
    provider.root("ldapadd", &[], &entry).well();
    wait_for(&provider, &first, &one.stage);
    let has_victim = |server: &Running<'_>| !server.search(&["(cn=victim)"]).is_empty();
    assert!(has_victim(&first));
    first.stop();
    provider.root("ldapdelete", &[&victim], "").well();
    let second = two.start();
    wait_for(&provider, &second, &two.stage);
    assert!(!has_victim(&second));

    provider.stop();
    let first = one.start();
    wait_for(&second, &first, &one.stage);
    assert!(!has_victim(&first), "the entry is left over");
    first.stop();
    second.stop();
}
