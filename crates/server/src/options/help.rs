//! Texts of `--help` and `--version`.

use selkie_session::variables::{Kind, Scope, TABLE};

use super::{names, value};

/// What `selkie --help` prints.
pub const USAGE: &str = "\
Selkie: a database server that speaks the MariaDB and MySQL protocol and SQL.

usage: selkie serve [OPTIONS]     run the server; selkie serve --help lists the options
       selkie --version";

const SERVE: &str = "\
usage: selkie serve [OPTIONS]

Options have mariadbd's names: dashes or underscores, --name=value or --name value, --skip-name, --loose-name; sizes
take K, M, G, T. The last of several wins.

Option files, as the first options (groups [mysqld] [mariadb] [mariadbd] [server] [selkie]):
  --defaults-file=FILE          read only this file
  --defaults-extra-file=FILE    read this file too
  --no-defaults                 read none (the default)
  --print-defaults              show the options and end

Where and who:
  --datadir=DIR                 where the data is; made if it is not there (default: ./data)
  --socket=FILE                 unix socket, relative to the data directory (default: selkie.sock)
  --port=N                      TCP port (default: 3306)
  --bind-address=ADDRESS[,...]  addresses to listen on (default: all)
  --skip-networking             no TCP
  --pid-file=FILE  --log-error=FILE  --tmpdir=DIR  --user=NAME
  --server-id=N                 this server's number in replication

Durability and the log:
  --sync-binlog=N               1: sync before each commit is acknowledged (default)
  --binlog-commit-wait-count=N  --binlog-commit-wait-usec=N
                                hold a group of commits back until N have come, at most so long
  --max-binlog-size=SIZE  --expire-logs-days=N
  --log-recovery=refuse|truncate
                                at start with a damaged log: stop, or cut it at the damage

Memory and limits:
  --innodb-buffer-pool-size=SIZE
                                cache of the storage engine
  --max-connections=N  --max-allowed-packet=SIZE  --wait-timeout=N

And every other global system variable by its name; selkie serve --verbose --help lists them.";

/// What `selkie --version` prints.
pub fn version_line() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("selkie  Ver {} for {os} on {arch} (speaks as {})", env!("CARGO_PKG_VERSION"), selkie_session::VERSION)
}

/// What `selkie serve --help` prints; with all variables if `verbose`.
pub fn serve_help(verbose: bool) -> String {
    let mut text = SERVE.to_owned();
    if !verbose {
        return text;
    }
    text.push_str("\n\nVariables (--name=value) and their values without options:\n");
    for def in TABLE {
        if def.scope == Scope::SessionOnly || names::is_no_option(def.name) {
            continue;
        }
        let name = def.name.replace('_', "-");
        let default = match (def.kind, def.default) {
            (_, "") => "(none)",
            (Kind::Bool, "OFF") => "FALSE",
            (Kind::Bool, "ON") => "TRUE",
            (_, other) => other,
        };
        let optional = if value::requires_value(def) { "" } else { " (value optional)" };
        text.push_str(&format!("  {name:<55} {default}{optional}\n"));
    }
    text
}
