//! Usage texts of the tools.

use super::tool::Tool;

/// The options that all tools except slappasswd share.
const COMMON: &str = "[-v] [-d debuglevel] [-f configfile] [-F configdir] [-o <name>[=<value>]]";
/// The options that select a database.
const DATABASE: &str = "[-c]\n\t[-g] [-n databasenumber | -b suffix]";

/// Returns the letters of a tool for getopt.
pub(super) fn letters(tool: Tool) -> &'static str {
    match tool {
        Tool::Slapd => "46c:d:f:F:g:h:il:n:o:r:s:tT:u:V",
        Tool::Slapadd | Tool::Slapmodify => "b:cd:f:F:gj:l:n:o:qsS:uvw",
        Tool::Slapcat | Tool::Slapschema => "a:b:cd:f:F:gH:l:n:o:s:v",
        Tool::Slapindex => "b:cd:f:F:gn:o:qtv",
        Tool::Slappasswd => "c:gh:no:s:T:uv",
        Tool::Slaptest => "d:f:F:n:o:Quv",
        Tool::Slapdn => "d:f:F:No:Pv",
        Tool::Slapauth => "d:f:F:M:o:R:U:vX:",
        Tool::Slapacl => "b:D:d:f:F:o:uU:vX:",
    }
}

/// Returns the usage of a tool; `program` is the name in messages.
pub(super) fn text(tool: Tool, program: &str) -> String {
    let name = tool.name();
    let change = "\n\t[-l ldiffile] [-j linenumber] [-q] [-u] [-s] [-w]";
    let read = "[-a filter] [-s subtree] [-H url]";
    let more = match tool {
        Tool::Slapd => return SLAPD.replace("{program}", program),
        Tool::Slappasswd => return SLAPPASSWD.to_owned(),
        Tool::Slapadd | Tool::Slapmodify => format!(" {DATABASE}{change}"),
        Tool::Slapcat => format!(" {DATABASE} [-l ldiffile] {read}"),
        Tool::Slapschema => format!(" {DATABASE} [-l errorfile] {read}"),
        Tool::Slapindex => format!(" {DATABASE} [attr ...] [-q] [-t]"),
        Tool::Slaptest => " [-n databasenumber] [-u] [-Q]".to_owned(),
        Tool::Slapdn => "\n\t[-N | -P] DN [...]".to_owned(),
        Tool::Slapauth => "\n\t[-U authcID] [-X authzID] [-R realm] [-M mech] ID [...]".to_owned(),
        Tool::Slapacl => "\n\t[-U authcID | -D authcDN] [-X authzID | -o authzDN=<DN>]\n\t\
                          -b DN [-u] [attr[/access][:value]] [...]"
            .to_owned(),
    };
    format!("usage: {name} {COMMON}{more}\n")
}

const SLAPPASSWD: &str = "\
Usage: slappasswd [options]
  -c format\tcrypt(3) salt format
  -g\t\tgenerate random password
  -h hash\tpassword scheme
  -n\t\tomit trailing newline
  -o <opt>[=val] options of modules: accepted, there are none
  -s secret\tnew password
  -u\t\tgenerate RFC2307 values (default)
  -v\t\tincrease verbosity
  -T file\tread file for new password
";

const SLAPD: &str = "\
usage: {program} options
\t-4\t\tIPv4 only
\t-6\t\tIPv6 only
\t-T {acl|add|auth|cat|dn|index|modify|passwd|schema|test}
\t\t\tRun in Tool mode
\t-c cookie\tSync cookie of consumer
\t-d level\tDebug level
\t-f filename\tConfiguration file
\t-F dir\tConfiguration directory
\t-g group\tGroup (id or name) to run as
\t-h URLs\t\tList of URLs to serve
\t-l facility\tSyslog facility (LOCAL4 unless given)
\t-n serverName\tService name
\t-o <opt>[=val] generic means to specify options
\t-r directory\tSandbox directory to chroot to
\t-s level\tSyslog level
\t-t\t\tCheck the configuration and exit
\t-u user\t\tUser (id or name) to run as
\t-V\t\tprint version info (-VV exit afterwards, -VVV print
\t\t\tinfo about overlays and backends)
";
