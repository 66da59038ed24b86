//! Replays recorded conversations between real clients and a real MariaDB 10.11
//! (`captures/record.py` makes them): every packet of a client is decoded, every packet of the
//! server is decoded and built again with this crate's writers, byte for byte. What was understood
//! is compared with `captures/*.decoded` (UPDATE_EXPECT=1 writes them anew).

mod replay;

use replay::Replay;
use std::path::PathBuf;

/// Replays one recording; every line must have been looked at.
fn check(name: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let text = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
    let recorded = text
        .lines()
        .filter(|line| line.starts_with(['C', 'S']))
        .count();
    let mut replay = Replay::default();
    for connection in text.split("= connection\n").skip(1) {
        replay.connection(connection);
    }
    assert!(recorded > 0);
    assert_eq!(replay.packets_seen(), recorded, "packets left over");
    expect_test::expect_file![folder.join(format!("{name}.decoded"))]
        .assert_eq(replay.transcript());
}

macro_rules! recordings {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn no_recording_is_forgotten() {
            let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "txt") {
                    let name = path.file_stem().unwrap().to_str().unwrap();
                    assert!([$(stringify!($name)),*].contains(&name), "{name} is not replayed");
                }
            }
        }
    };
}

recordings! {
    mariadb_text
    mariadb_errors
    mariadb_infile
    mariadb_ed25519
    mariadb_progress
    mariadb_dump
    mariadb_binlog
    replica
    pymysql
    mysql_connector
    deprecate_eof
    connector_c_types
    connector_c_longdata
    connector_c_cursor
    connector_c_bulk
    connector_c_commands
    connector_c_dialog
}
