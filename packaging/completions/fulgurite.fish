# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_fulgurite_global_optspecs
    string join \n h/help V/version
end

function __fish_fulgurite_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_fulgurite_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_fulgurite_using_subcommand
    set -l cmd (__fish_fulgurite_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c fulgurite -n "__fish_fulgurite_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -s V -l version -d 'Print version'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "setup" -d 'Make a directory server: settings, root password, TLS, user, service'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "load" -d 'Create a new directory from LDIF files'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "serve" -d 'Serve a directory over LDAP'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "export" -d 'Write a directory as LDIF to standard output'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "generate" -d 'Write an invented organisation as LDIF to standard output'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "check" -d 'Check an environment for damage, and salvage the data of a damaged one'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "doctor" -d 'Check an installation: settings, rights, certificates, addresses, room, clock, store, backups'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "env" -d 'Administer an environment: a store of this program, or any other with LMDB\'s files'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "backup" -d 'Write, list and verify backups: whole copies of all databases'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "restore" -d 'Restore a database from a backup, also to a point in time'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "index" -d 'Build, drop or rebuild indexes, also while a server runs'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "modify" -d 'Apply change records of LDIF to a store, without a server'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "passwd" -d 'Make the hash of a password, for userPassword or the root password'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "check-config" -d 'Check a configuration; the same as `config check`'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "dn" -d 'Show the forms of DNs, or their errors'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "auth" -d 'Map authentication identities to DNs, as a bind does'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "access" -d 'Explain access rules'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "schema-check" -d 'Find entries that violate the schema'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "explain" -d 'Show the plan of a search, the results of each part of its filter, and missing indexes'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "import" -d 'Load the mdb database of an OpenLDAP server, release 2.4 to 2.6, without a dump'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "migrate" -d 'Take over an OpenLDAP server: report what will differ, copy its data, write its configuration'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "config" -d 'Check, show or change the configuration'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "replication" -d 'Look after copies of other servers\' databases'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "cluster" -d 'Make a cluster on etcd, change its nodes, and look at it'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "status" -d 'Show the state of a running server on one screen, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "top" -d 'Watch a running server: its operations and its clients, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "log" -d 'Change the log of a running server'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "user" -d 'Look after users of a running server'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "group" -d 'Look after groups of a running server'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "ou" -d 'Look after organizational units of a running server'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "search" -d 'Search a running server'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "apply" -d 'Bring entries of a running server to the state that a file describes'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "memcached" -d 'Serve a cache to clients of memcached; it survives restarts and crashes'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "dbload" -d 'Load a dump of Berkeley DB or GDBM into an environment, or write one'
complete -c fulgurite -n "__fish_fulgurite_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l suffix -d 'Name at the top of the data, such as dc=example,dc=org or example.org' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l organisation -d 'Name of the organisation, for the entry at the top' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l root-password-file -d 'File with the root\'s password, in clear or as a hash [default: a generated one, printed]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l tls -d 'Source of the certificate [default: self]' -r -f -a "self\t'An own authority signs it'
none\t'No TLS'
files\t'The files of --tls-certificate and --tls-key'"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l tls-certificate -d 'The server\'s certificate and those above it, PEM' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l tls-key -d 'Its private key, PEM' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l host -d 'Name or address of this host, for its certificate. Repeatable [default: the host\'s name]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l data -d 'Folder of the store [default: /var/lib/fulgurite]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l config -d 'File of settings [default: /etc/fulgurite/fulgurite.toml]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l user -d 'System user of the server [default: fulgurite]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l listen -d 'Address to listen on, as an LDAP URL. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l root -d 'Write below this folder, for a package or an image; start nothing' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -s y -l yes -d 'Ask nothing; take the defaults'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l force -d 'Replace files that have other content; they stay with the ending .old. Keys stay, and the root\'s password unless --root-password-file names another'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l renew -d 'Sign a new certificate of this server with the own authority'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l no-service -d 'Make no system user and no service'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l check -d 'Check an installation instead; the same as `fulgurite doctor`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -l json -d 'With --check: write one JSON object'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand setup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l index -d 'Keep an index: an attribute and any of eq, pres, sub, approx. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l parallel -d 'With --add: connections' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l no-default-indexes -d 'Use only the indexes of --index, none of the default ones'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s q -l quiet -d 'Show no progress'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l add -d 'Add the entries to a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l continue -d 'With --add: go on behind an entry that is refused'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l threads -d 'Threads that answer requests, or `cores` for one per core [default: cores]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l listen -d 'Addresses to listen on: `ldap://HOST:PORT`, `ldap://[::1]:PORT`, or `ldap://:PORT` for all addresses. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l root-dn -d 'Name of the identity that no access rule and no limit binds' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l root-password-file -d 'File that contains the root\'s password, in clear or as a hash' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l index -d 'Keep an index: an attribute and any of eq, pres, sub, approx. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l connections -d 'Connections at the same time [default: 10000]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l idle-timeout -d 'Seconds without a request after which the server closes a connection [default: unlimited]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l bind-delay -d 'Seconds by which answers to binds are late at most, after failed binds of the same name or address [default: 0]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l tcp-buffer -d 'Bytes of the buffers of TCP connections: `65536`, `read=64K`, `write=64K` or `listener=ldap://:389 65536`. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l size-limit -d 'Entries that one search may return, or `unlimited` [default: 500]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l time-limit -d 'Seconds that one search may take, or `unlimited` [default: 3600]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l durability -d 'State that a commit has reached when it is acknowledged: `full`, `no-meta-sync` or `no-sync` [default: full]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l log-bytes-max -d 'Bytes of the log of changes, from which consumers catch up [default: 256 MiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l tls-certificate -d 'The server\'s certificate and those above it, PEM' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l tls-key -d 'Its private key, PEM' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l metrics-listen -d 'Address for monitoring over HTTP: `/metrics` for Prometheus, and the probes `/healthz` and `/readyz`' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l console-listen -d 'Address of the console in the browser' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l log-level -d 'Least important messages that are logged: `error`, `warn`, `info`, `debug`, `trace` [default: info]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l log-format -d 'Form of the lines of the log: `text`, or `json` with one object a line [default: text]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l no-default-indexes -d 'Use only the indexes of --index, none of the default ones'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -l log-operations -d 'Log a line for every operation'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -l users -d 'Number of users' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -l seed -d 'Seed of the invented details' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -l suffix -d 'Suffix; its first RDN is a dc, an o or an ou' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -l groups -d 'Number of groups of names [default: one per hundred users]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -l group-members -d 'Maximum members of each group' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -l hash -d 'Write passwords as {SSHA} hashes; the password of user n is pw.n in any case'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l repair -d 'Write the salvaged data into a new environment in this directory; PATH is only read' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l any-order -d 'Skip the check of order in this database; `main` is the main database. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l snapshot -d 'Check this snapshot instead of the newest; it must be one of the two in the file' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l any-order-everywhere -d 'Skip the check of order in all databases'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l pages-only -d 'Check no entries of a store, only pages'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -l json -d 'Write one JSON object'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -s q -l quiet -d 'Write only damage, and show no progress'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -l backups -d 'Folder of backups that `fulgurite env backup` writes; its newest file must be young' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -l url -d 'Only ask whether a server answers at this address' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -l answers -d 'Only ask whether the server answers at its addresses, as a container\'s health check does'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -l json -d 'Write one JSON object'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "stat" -d 'Print the state of an environment: sizes, databases, free pages, readers'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "top" -d 'Watch an environment: its readers and the pages they hold, its writer, its growth'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "copy" -d 'Copy an environment while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "backup" -d 'Back up the changes of an environment since the last backup, while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "restore" -d 'Restore an environment from backups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "compact" -d 'Shrink the data file of an environment while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and not __fish_seen_subcommand_from stat top copy backup restore compact help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from stat" -l json -d 'Print one object of JSON instead of text'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from stat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from top" -l interval -d 'Seconds between reports' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from top" -l once -d 'Print one report, after one interval'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from copy" -s c -l compact -d 'Omit free pages and put the others in order'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from copy" -s q -l quiet -d 'Show no progress and no summary'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from copy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from backup" -l to -d 'Directory of the backups; created if missing' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from backup" -l list -d 'List the backups in a directory' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from backup" -l verify -d 'Verify all backups in a directory against their digests' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from backup" -l full -d 'Write a complete backup'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from backup" -s q -l quiet -d 'Show no progress and no summary'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from restore" -l to -d 'Directory of the new environment; created if missing' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from restore" -l txn -d 'Restore the backup of this transaction [default: the newest]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from restore" -l no-subdir -d 'PATH is the data file itself, with its lock file next to it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'Show no progress and no summary'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from compact" -l until -d 'Stop when the file has this size, such as 10G [default: as small as possible]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from compact" -l wait -d 'Total seconds to wait for readers that hold pages at the end of the file' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from compact" -l pause -d 'Milliseconds to pause after each transaction, for other writers' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from compact" -l punch -d 'Return free pages inside the file to the file system too, as holes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from compact" -s q -l quiet -d 'Show no progress and no summary'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "stat" -d 'Print the state of an environment: sizes, databases, free pages, readers'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "top" -d 'Watch an environment: its readers and the pages they hold, its writer, its growth'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "copy" -d 'Copy an environment while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "backup" -d 'Back up the changes of an environment since the last backup, while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Restore an environment from backups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "compact" -d 'Shrink the data file of an environment while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and not __fish_seen_subcommand_from now list verify help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and not __fish_seen_subcommand_from now list verify help" -f -a "now" -d 'Write a backup now'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and not __fish_seen_subcommand_from now list verify help" -f -a "list" -d 'List the backups in a directory, the oldest first'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and not __fish_seen_subcommand_from now list verify help" -f -a "verify" -d 'Verify a backup: its digests, its pages, and its entries with all indexes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and not __fish_seen_subcommand_from now list verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from now" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from now" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from now" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from now" -l to -d 'Directory of the backups [default: backup.to of the settings]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from now" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from list" -l json -d 'Write one JSON object a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from verify" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from verify" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from verify" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from verify" -l scratch -d 'Directory for the copies that --boot makes and removes [default: that of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from verify" -l boot -d 'Start a server aside, and compare the number of entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from help" -f -a "now" -d 'Write a backup now'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the backups in a directory, the oldest first'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Verify a backup: its digests, its pages, and its entries with all indexes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand backup; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -l to -d 'Directory of the restored database; created if missing' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -l suffix -d 'Suffix of the database, if the backup has several' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -l at -d 'Apply the changes up to this time: 2026-11-27T14:30:00Z or 20261127143000Z' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -l log -d 'Directory of the database whose log has the changes [default: the directory that the backup was made of]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l add -d 'Add this index: an attribute and any of eq, pres, sub, approx. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l remove -d 'Drop the indexes of this attribute. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l rebuild -d 'Rebuild all indexes, or those of the given attributes' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -l status -d 'List the indexes and the progress of unfinished ones'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -s q -l quiet -d 'Show no progress'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand index" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -s c -l continue -d 'Continue after a refused change'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -s u -l dry-run -d 'Check everything, change nothing'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand modify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand passwd" -l scheme -d 'Scheme, such as {ARGON2}, {SSHA} or {CRYPT} [default: {ARGON2}]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand passwd" -l file -d 'Read the password from a file: all of it, a line end included' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand passwd" -l crypt-salt -d 'Salt of {CRYPT}, in the format of printf, such as $6$%.16s' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand passwd" -l generate -d 'Generate a password and print it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand passwd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check-config" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check-config" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check-config" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check-config" -s u -l no-stores -d 'Check only the configuration, not the stores'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand check-config" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dn" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dn" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dn" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dn" -s N -l normal -d 'Print only the normal form, in which equal names are equal text'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dn" -s P -l pretty -d 'Print only the pretty form, which clients get'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dn" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s U -l user -d 'The authenticated identity' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s X -l authorize -d 'The identity to act as' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s M -l mechanism -d 'SASL mechanism' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s R -l realm -d 'SASL realm' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand auth" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and not __fish_seen_subcommand_from explain help" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and not __fish_seen_subcommand_from explain help" -f -a "explain" -d 'Show the rights of an identity to an entry, with the rule and line that decide'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and not __fish_seen_subcommand_from explain help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s D -l as -d 'DN of the requester [default: anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s b -l entry -d 'The entry' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s o -l given -d 'Facts about the connection, such as peername=IP=127.0.0.1:9 or ssf=256. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s u -l dry-run -d 'Assume an empty entry; do not read the store'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Show the rights of an identity to an entry, with the rule and line that decide'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand access; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l filter -d 'Check only entries that match this filter' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l subtree -d 'Check only this entry and its subtree' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -l overlays -d 'Ask the overlays `unique` and `constraint` about all entries too; updates of a server wait meanwhile'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand schema-check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -s b -l base -d 'Base of the search [default: the suffix]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -s s -l scope -d 'Scope of the search' -r -f -a "base\t''
one\t''
sub\t''
children\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l from -d 'Directory of OpenLDAP\'s database, with its data.mdb' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -s f -l slapd-conf -d 'Take schema and indexes from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -s F -l slapd-dir -d 'Take schema and indexes from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l lenient -d 'Load unknown attributes as octet strings, and entries that violate the schema unchanged'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -l keep-memberof -d 'Take the values of memberOf too, which do not change with the groups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -s c -l continue -d 'Skip and report entries that cannot be read or loaded'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -s q -l quiet -d 'Show no progress'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -s F -l slapd-dir -d 'Configuration directory of slapd [default: that of the installed slapd]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -s f -l slapd-conf -d 'Configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -l from -d 'Directory of OpenLDAP\'s data, if it is not the configured one. For a single database' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -l to -d 'Make the new server here: slapd.d, db1, db2 and so on, which must not exist' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -l toml -d 'Write the new configuration as fulgurite.toml with comments, not as slapd.d. LDAP clients cannot change it then'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -l leave-out-missing -d 'Go on without what is missing'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -s q -l quiet -d 'Show no progress'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand migrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -f -a "apply" -d 'Change a configuration directory by records of LDIF, while no server uses it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -f -a "check" -d 'Check a configuration, and report the line and a hint for each error'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -f -a "convert" -d 'Print a configuration of slapd as a TOML file with comments'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -f -a "show" -d 'Print the settings in force'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -f -a "undo" -d 'Take back the last change of a configuration directory, while no server uses it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and not __fish_seen_subcommand_from apply check convert show undo help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from apply" -s F -l slapd-dir -d 'The configuration directory; else that of slapd\'s package' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from apply" -s n -l dry-run -d 'Change nothing; print the consequences that the changes would have in a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from check" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from check" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from check" -s u -l no-stores -d 'Check only the configuration, not the stores'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from convert" -s F -l slapd-dir -d 'A configuration directory of slapd; else that of its package' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from convert" -s f -l slapd-conf -d 'A configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'Settings from this TOML file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from show" -s f -l slapd-conf -d 'Settings from a configuration file of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from show" -s F -l slapd-dir -d 'Settings from a configuration directory of slapd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from show" -l resolved -d 'Print every setting, defaults included, with its origin'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from undo" -s F -l slapd-dir -d 'The configuration directory; else that of slapd\'s package' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from undo" -l list -d 'List the states that are kept, the newest first, and the entries that differ from the next'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "apply" -d 'Change a configuration directory by records of LDIF, while no server uses it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a configuration, and report the line and a hint for each error'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Print a configuration of slapd as a TOML file with comments'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print the settings in force'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "undo" -d 'Take back the last change of a configuration directory, while no server uses it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and not __fish_seen_subcommand_from status conflicts check help" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and not __fish_seen_subcommand_from status conflicts check help" -f -a "status" -d 'Show the consumers of a running server, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and not __fish_seen_subcommand_from status conflicts check help" -f -a "conflicts" -d 'Show changes that the merge of several providers did not keep, as LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and not __fish_seen_subcommand_from status conflicts check help" -f -a "check" -d 'Compare the contents of two servers over LDAP, one of which may be slapd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and not __fish_seen_subcommand_from status conflicts check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -l json -d 'Write JSON'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l config -d 'Settings from this TOML file; flags override it' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l suffix -d 'Name of the entry at the top of the data' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l data -d 'Directory of the store' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l schema -d 'Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the built-in schema. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l map-bytes-max -d 'Bytes that the data file may grow to [default: 1 TiB]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l since -d 'Conflicts since a time: 20260131235959Z, or the beginning of one' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l dn -d 'Conflicts of an entry and of those below it' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l restore -d 'Bring back the values that lost in the conflict of this id, by an update of the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l rfc2307bis -d 'Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are `groupOfNames` and `posixGroup`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l dry-run -d 'Show that update, and do nothing'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from conflicts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -l peer -d 'The other server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s b -l base -d 'The suffix of the database' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -l repair -d 'Make entries equal that differ'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -l dry-run -d 'Only show the changes that a repair would make'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show the consumers of a running server, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from help" -f -a "conflicts" -d 'Show changes that the merge of several providers did not keep, as LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from help" -f -a "check" -d 'Compare the contents of two servers over LDAP, one of which may be slapd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand replication; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "init" -d 'Begin a cluster, with this server as node 1'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "token" -d 'Make a token with which one server joins the cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "join" -d 'Join a cluster: take the certificate of a token, and a copy of the database from another node'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "renew" -d 'Renew the certificate of this node, before it ends'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "leave" -d 'Take this node out of its cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "forget" -d 'Take a lost node out of the cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "status" -d 'Show sequencer, log and nodes of a cluster, and the members of etcd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and not __fish_seen_subcommand_from init token join renew leave forget status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l suffix -d 'The suffix of the database [default: that of the settings]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l cluster -d 'The name of the cluster in etcd\'s keys, of letters, digits and - [default: a random UUID]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -s c -l config -d 'Settings of the server. The command adds a table, or makes the file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l peers -d 'Address for the other nodes' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l address -d 'Address by which the other nodes reach this one, if it is another' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l data -d 'Directory of the database, for a file of settings that the command makes' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l listen -d 'Address for LDAP clients, for a file of settings that the command makes' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd -d 'URLs of all members, with commas between' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd-ca -d 'File of the authorities that members\' certificates come from; needed for https' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd-cert -d 'File of the certificate to show' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd-key -d 'File of its key' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd-user -d 'Name of a user of etcd' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd-password-file -d 'File with the password of --etcd-user' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l from-this-node -d 'Begin anew with the content of this node, whose cluster has lost its etcd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l once -d 'Do nothing if this server is a node already, for a command that runs before each start'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -l etcd-password-in-clear -d 'Send the password over http, where others can read it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from token" -s c -l config -d 'Settings of this node' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from token" -l renew -d 'Renew the certificate of this node, which keeps its number; the token works at any time' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from token" -l valid -d 'Seconds for which the token can be used' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from token" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -s c -l config -d 'Settings of the server. The command adds a table, or makes the file' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l peers -d 'Address for the other nodes' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l address -d 'Address by which the other nodes reach this one, if it is another' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l data -d 'Directory of the database, for a file of settings that the command makes' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l listen -d 'Address for LDAP clients, for a file of settings that the command makes' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd -d 'URLs of all members, with commas between' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd-ca -d 'File of the authorities that members\' certificates come from; needed for https' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd-cert -d 'File of the certificate to show' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd-key -d 'File of its key' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd-user -d 'Name of a user of etcd' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd-password-file -d 'File with the password of --etcd-user' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l once -d 'Do nothing if this server is a node already, for a command that runs before each start'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -l etcd-password-in-clear -d 'Send the password over http, where others can read it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from join" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from renew" -s c -l config -d 'Settings of this node' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from renew" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from leave" -s c -l config -d 'Settings of this node' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from leave" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from forget" -s c -l config -d 'Settings of a node of the cluster' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l cluster -d 'The name of the cluster, as `init` has printed it' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -s c -l config -d 'Settings of a node, in place of --cluster and the flags of etcd' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd -d 'URLs of all members, with commas between' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd-ca -d 'File of the authorities that members\' certificates come from; needed for https' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd-cert -d 'File of the certificate to show' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd-key -d 'File of its key' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd-user -d 'Name of a user of etcd' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd-password-file -d 'File with the password of --etcd-user' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l json -d 'Write JSON'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -l etcd-password-in-clear -d 'Send the password over http, where others can read it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "init" -d 'Begin a cluster, with this server as node 1'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "token" -d 'Make a token with which one server joins the cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "join" -d 'Join a cluster: take the certificate of a token, and a copy of the database from another node'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "renew" -d 'Renew the certificate of this node, before it ends'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "leave" -d 'Take this node out of its cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "forget" -d 'Take a lost node out of the cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show sequencer, log and nodes of a cluster, and the members of etcd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand cluster; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -l json -d 'Write JSON'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l interval -d 'Seconds between reports' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l clients -d 'Clients, lasting operations and slow searches to show at most, of each' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l cancel -d 'Cancel an operation, named as in the report, and show nothing' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l close -d 'Close the connection of a client, and show nothing' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l once -d 'Write one report, after one interval'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -l json -d 'Write JSON, one object a line for each report'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and not __fish_seen_subcommand_from operations level help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and not __fish_seen_subcommand_from operations level help" -f -a "operations" -d 'Log a line for each operation, or none'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and not __fish_seen_subcommand_from operations level help" -f -a "level" -d 'Set the least important messages that are logged'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and not __fish_seen_subcommand_from operations level help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from operations" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from level" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "operations" -d 'Log a line for each operation, or none'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "level" -d 'Set the least important messages that are logged'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "add" -d 'Make a user'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "show" -d 'Show an entry'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "passwd" -d 'Set the password of a user'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "lock" -d 'Lock a user out until `unlock`, by the password policy of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "unlock" -d 'Let a locked user in again'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "delete" -d 'Delete a user, also from groups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and not __fish_seen_subcommand_from add show list passwd lock unlock delete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l cn -d 'Full name (cn) [default: of --first and --last, otherwise NAME]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l first -d 'First name (givenName)' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l last -d 'Last name (sn) [default: the last word of the full name]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l mail -d 'Mail address. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l set -d 'Another value. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l ou -d 'Unit below the suffix, made if it is missing' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l under -d 'DN of the entry above, instead of --ou' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l uid-number -d 'Number of the account [default: the next free one, from 10000]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l gid-number -d 'Number of the account\'s group [default: the number of the account]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l home -d 'Home directory [default: /home/NAME]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l shell -d 'Login shell' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l new-password-file -d 'File with the new password' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l posix -d 'Give the user an account (posixAccount)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s S -l ask -d 'Ask for the new password, twice'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l generate -d 'Make a password up, and print it once on standard output'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -l csv -d 'Write CSV, with several values of an attribute separated by |'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -l ldif -d 'Write LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -l csv -d 'Write CSV, with several values of an attribute separated by |'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -l ldif -d 'Write LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -l new-password-file -d 'File with the new password' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s S -l ask -d 'Ask for the new password, twice'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -l generate -d 'Make a password up, and print it once on standard output'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from passwd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from lock" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from unlock" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -l keep-memberships -d 'Leave the name in groups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "add" -d 'Make a user'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show an entry'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "passwd" -d 'Set the password of a user'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "lock" -d 'Lock a user out until `unlock`, by the password policy of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "unlock" -d 'Let a locked user in again'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete a user, also from groups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand user; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -f -a "add" -d 'Make a group: groupOfNames unless a flag says otherwise'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -f -a "show" -d 'Show an entry'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -f -a "members" -d 'List the members of a group, or change them'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -f -a "delete" -d 'Delete a group'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and not __fish_seen_subcommand_from add show list members delete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s m -l member -d 'User, or DN, that is a member. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l gid-number -d 'Number of the group [default: the next free one, from 10000]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l description -d 'Description' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l ou -d 'Unit below the suffix, made if it is missing' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l under -d 'DN of the entry above, instead of --ou' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l unique -d 'Make a groupOfUniqueNames'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l posix -d 'Make a posixGroup'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -l csv -d 'Write CSV, with several values of an attribute separated by |'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -l ldif -d 'Write LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -l csv -d 'Write CSV, with several values of an attribute separated by |'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -l ldif -d 'Write LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s a -l add -d 'User, or DN, to add. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s r -l remove -d 'User, or DN, to remove. Repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from members" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from help" -f -a "add" -d 'Make a group: groupOfNames unless a flag says otherwise'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show an entry'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from help" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from help" -f -a "members" -d 'List the members of a group, or change them'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete a group'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand group; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and not __fish_seen_subcommand_from add list delete help" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and not __fish_seen_subcommand_from add list delete help" -f -a "add" -d 'Make a unit'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and not __fish_seen_subcommand_from add list delete help" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and not __fish_seen_subcommand_from add list delete help" -f -a "delete" -d 'Delete a unit that is empty'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and not __fish_seen_subcommand_from add list delete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -l under -d 'DN of the entry above [default: the suffix]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -l description -d 'Description' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -l csv -d 'Write CSV, with several values of an attribute separated by |'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -l ldif -d 'Write LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from help" -f -a "add" -d 'Make a unit'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from help" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete a unit that is empty'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand ou; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s s -l scope -d 'How far the search reaches' -r -f -a "base\t'The entry of --base'
one\t'The entries one level below it'
sub\t'The entry and all below it'
children\t'All below the entry'"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s z -l size-limit -d 'Entries at most' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l page -d 'Entries of one page' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s b -l base -d 'The suffix of the directory [default: the only one that the server names]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l json -d 'Write JSON, one object on a line'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l csv -d 'Write CSV, with several values of an attribute separated by |'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l ldif -d 'Write LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s H -l url -d 'URL of the server [default: a socket of this machine, otherwise ldap://localhost]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s D -l as -d 'DN to bind as [default: the system\'s user at a socket, otherwise anonymous]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s y -l password-file -d 'File with the password of --as' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s Y -l mechanism -d 'SASL mechanism; EXTERNAL is the default at a socket' -r -f -a "EXTERNAL\t''"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -l tls-ca -d 'File of the authorities that the server\'s certificate needs [default: those of the system]' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -l timeout -d 'Seconds to wait for the server' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -l yaml -d 'Read YAML, whatever the name of the file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s n -l dry-run -d 'Write the changes as LDIF to standard output, and make none'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -l delete -d 'Delete entries that the file says are absent'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s W -l ask-password -d 'Ask for the password of --as, as without --password-file'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s Z -l start-tls -d 'Begin TLS by StartTLS, and fail without it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -l tls-insecure -d 'Accept any certificate of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -l data -d 'Directory of the cache; created if missing' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s l -l listen -d 'HOST:PORT or the path of a Unix socket; repeatable' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s m -l max-bytes -d 'Bytes of items, such as 4G, above which items leave the cache; 0 is no bound' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s I -l max-value -d 'Longest value, such as 8M; at most 1G' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -l durability -d 'Changes that survive a power loss: none, meta (all but the last commit) or full' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s t -l threads -d 'Event loops, each on a thread [default: the processors, at most 4]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s c -l connections -d 'Connections at once' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -l idle-timeout -d 'Seconds after which a silent connection is closed; 0 is never' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -l tls-certificate -d 'Certificate in PEM: TLS for all connections over TCP' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -l tls-key -d 'Key of the certificate in PEM' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s Y -l auth-file -d 'File with lines USER:PASSWORD; each client then begins with a set of "USER PASSWORD"' -r -F
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s a -l socket-mode -d 'Mode of Unix sockets, in octal digits' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -l max-file -d 'Largest size of the data file [default: 1 TiB of address space]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s M -l no-eviction -d 'Refuse new items if the cache is full, instead of removing others'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand memcached" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -s s -l name -d 'Database [default: that of the dump, else the main one]' -r
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -l format -d 'Format of a written dump' -r -f -a "bytevalue\t'Berkeley DB, hexadecimal digits'
print\t'Berkeley DB, printable bytes as they are'
gdbm\t'GDBM, base64'"
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -s n -l no-overwrite -d 'Keep records that exist, in place of replacing them'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -l no-subdir -d 'PATH is the data file itself, with its lock file next to it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -l dump -d 'Write a dump of the environment; without --name, of all named databases or the main one'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -s q -l quiet -d 'Show no summary'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand dbload" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "setup" -d 'Make a directory server: settings, root password, TLS, user, service'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "load" -d 'Create a new directory from LDIF files'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "serve" -d 'Serve a directory over LDAP'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "export" -d 'Write a directory as LDIF to standard output'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "generate" -d 'Write an invented organisation as LDIF to standard output'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "check" -d 'Check an environment for damage, and salvage the data of a damaged one'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "doctor" -d 'Check an installation: settings, rights, certificates, addresses, room, clock, store, backups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "env" -d 'Administer an environment: a store of this program, or any other with LMDB\'s files'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "backup" -d 'Write, list and verify backups: whole copies of all databases'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "restore" -d 'Restore a database from a backup, also to a point in time'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "index" -d 'Build, drop or rebuild indexes, also while a server runs'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "modify" -d 'Apply change records of LDIF to a store, without a server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "passwd" -d 'Make the hash of a password, for userPassword or the root password'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "check-config" -d 'Check a configuration; the same as `config check`'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "dn" -d 'Show the forms of DNs, or their errors'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "auth" -d 'Map authentication identities to DNs, as a bind does'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "access" -d 'Explain access rules'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "schema-check" -d 'Find entries that violate the schema'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "explain" -d 'Show the plan of a search, the results of each part of its filter, and missing indexes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "import" -d 'Load the mdb database of an OpenLDAP server, release 2.4 to 2.6, without a dump'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "migrate" -d 'Take over an OpenLDAP server: report what will differ, copy its data, write its configuration'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "config" -d 'Check, show or change the configuration'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "replication" -d 'Look after copies of other servers\' databases'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "cluster" -d 'Make a cluster on etcd, change its nodes, and look at it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "status" -d 'Show the state of a running server on one screen, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "top" -d 'Watch a running server: its operations and its clients, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "log" -d 'Change the log of a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "user" -d 'Look after users of a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "group" -d 'Look after groups of a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "ou" -d 'Look after organizational units of a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "search" -d 'Search a running server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "apply" -d 'Bring entries of a running server to the state that a file describes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "memcached" -d 'Serve a cache to clients of memcached; it survives restarts and crashes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "dbload" -d 'Load a dump of Berkeley DB or GDBM into an environment, or write one'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and not __fish_seen_subcommand_from setup load serve export generate check doctor env backup restore index modify passwd check-config dn auth access schema-check explain import migrate config replication cluster status top log user group ou search apply memcached dbload help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "stat" -d 'Print the state of an environment: sizes, databases, free pages, readers'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "top" -d 'Watch an environment: its readers and the pages they hold, its writer, its growth'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "copy" -d 'Copy an environment while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "backup" -d 'Back up the changes of an environment since the last backup, while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "restore" -d 'Restore an environment from backups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "compact" -d 'Shrink the data file of an environment while others use it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from backup" -f -a "now" -d 'Write a backup now'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from backup" -f -a "list" -d 'List the backups in a directory, the oldest first'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from backup" -f -a "verify" -d 'Verify a backup: its digests, its pages, and its entries with all indexes'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from access" -f -a "explain" -d 'Show the rights of an identity to an entry, with the rule and line that decide'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "apply" -d 'Change a configuration directory by records of LDIF, while no server uses it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Check a configuration, and report the line and a hint for each error'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "convert" -d 'Print a configuration of slapd as a TOML file with comments'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Print the settings in force'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "undo" -d 'Take back the last change of a configuration directory, while no server uses it'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from replication" -f -a "status" -d 'Show the consumers of a running server, from its cn=Monitor'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from replication" -f -a "conflicts" -d 'Show changes that the merge of several providers did not keep, as LDIF'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from replication" -f -a "check" -d 'Compare the contents of two servers over LDAP, one of which may be slapd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "init" -d 'Begin a cluster, with this server as node 1'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "token" -d 'Make a token with which one server joins the cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "join" -d 'Join a cluster: take the certificate of a token, and a copy of the database from another node'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "renew" -d 'Renew the certificate of this node, before it ends'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "leave" -d 'Take this node out of its cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "forget" -d 'Take a lost node out of the cluster'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from cluster" -f -a "status" -d 'Show sequencer, log and nodes of a cluster, and the members of etcd'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "operations" -d 'Log a line for each operation, or none'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "level" -d 'Set the least important messages that are logged'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "add" -d 'Make a user'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "show" -d 'Show an entry'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "passwd" -d 'Set the password of a user'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "lock" -d 'Lock a user out until `unlock`, by the password policy of the server'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "unlock" -d 'Let a locked user in again'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from user" -f -a "delete" -d 'Delete a user, also from groups'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from group" -f -a "add" -d 'Make a group: groupOfNames unless a flag says otherwise'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from group" -f -a "show" -d 'Show an entry'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from group" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from group" -f -a "members" -d 'List the members of a group, or change them'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from group" -f -a "delete" -d 'Delete a group'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from ou" -f -a "add" -d 'Make a unit'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from ou" -f -a "list" -d 'List entries'
complete -c fulgurite -n "__fish_fulgurite_using_subcommand help; and __fish_seen_subcommand_from ou" -f -a "delete" -d 'Delete a unit that is empty'
