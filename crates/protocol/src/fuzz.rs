//! One entry for fuzzers and property tests: drives every decoder that reads what a client sends.
//! Nothing may panic, whatever the bytes.

use crate::capabilities::Capabilities;
use crate::command::Command;
use crate::framing::PacketReader;
use crate::handshake::{HandshakeResponse, SslRequest};

/// Limit of the reader that is driven; small, so that over-long packets are among the inputs.
const MAX_ALLOWED_PACKET: usize = 1 << 12;

/// Reads `data` as a byte stream, as a handshake response and as a command.
///
/// The first byte chooses how the stream is chopped, and, for statements, how many parameters they
/// have.
pub fn fuzz_decode(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    stream(data, usize::from(choice).max(1));
    for capabilities in [
        Capabilities::EMPTY,
        Capabilities::SERVER_DEFAULT,
        Capabilities::from_bits(u64::MAX),
        Capabilities::from_bits(u64::MAX) - Capabilities::CLIENT_MYSQL,
    ] {
        let _ = SslRequest::is_ssl_request(data);
        if let Ok(response) = HandshakeResponse::decode(data, capabilities) {
            response.attributes.iter().for_each(drop);
        }
        command(data, capabilities, choice.into());
    }
    // Most random bytes are no interesting command: each command gets its turn.
    for code in [4, 17, 18, 21, 23, 0xFA] {
        let mut payload = vec![code];
        payload.extend_from_slice(data);
        command(&payload, Capabilities::SERVER_DEFAULT, choice.into());
    }
}

fn stream(data: &[u8], step: usize) {
    let mut reader = PacketReader::new(MAX_ALLOWED_PACKET);
    for piece in data.chunks(step) {
        reader.feed(piece);
        loop {
            match reader.next_packet() {
                Ok(Some(packet)) => command(packet.payload, Capabilities::SERVER_DEFAULT, 3),
                Ok(None) => break,
                Err(_) => {
                    if !reader.skip_packet() {
                        return;
                    }
                }
            }
        }
        assert!(reader.missing_bytes() > 0);
    }
}

fn command(payload: &[u8], capabilities: Capabilities, param_count: usize) {
    let Ok(command) = Command::decode(payload, capabilities) else {
        return;
    };
    let mut types = Vec::new();
    match command {
        Command::StmtExecute(execute) => {
            for long_data in [&[][..], &[false, true, false]] {
                if let Ok(values) = execute.params(param_count, &mut types, long_data) {
                    values.for_each(drop);
                }
            }
        }
        Command::StmtBulkExecute(execute) => {
            if let Ok(mut rows) = execute.rows(param_count, &mut types) {
                let mut row = Vec::new();
                while matches!(rows.next_row(&mut row), Ok(true)) {}
            }
        }
        Command::ChangeUser(change_user) => change_user.attributes.iter().for_each(drop),
        _ => {}
    }
}
