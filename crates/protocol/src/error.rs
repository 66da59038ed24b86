//! The errors of decoding. They say what was wrong with the bytes; which server error a client
//! gets for it is the session's choice.

/// Why the bytes of a packet could not be decoded. The server answers with ER_MALFORMED_PACKET
/// (1835), or with ER_HANDSHAKE_ERROR (1043) while the connection is being set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The packet ends before the field does.
    #[error("packet ends within {field}")]
    Truncated {
        /// The field that was being read.
        field: &'static str,
    },
    /// A field holds what the protocol does not allow there.
    #[error("malformed packet: {0}")]
    Malformed(&'static str),
    /// The client speaks the protocol from before MySQL 4.1.
    #[error("client without CLIENT_PROTOCOL_41")]
    OldProtocol,
    /// The type number of a bound parameter or of a column is unknown.
    #[error("unknown column type {0}")]
    UnknownColumnType(u8),
    /// COM_STMT_EXECUTE came without types, and none were bound by an earlier execution.
    #[error("statement has {expected} parameters, but types of {bound} are bound")]
    TypesNotBound {
        /// How many parameters the statement has.
        expected: usize,
        /// How many types earlier executions bound.
        bound: usize,
    },
}

/// Why the framing of a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The packet is not shorter than max_allowed_packet (ER_NET_PACKET_TOO_LARGE, 1153; MariaDB
    /// closes the connection then).
    /// [`skip_packet`](crate::PacketReader::skip_packet) discards it, so that the connection lives on.
    #[error("packet of {length_bytes} bytes or more, max_allowed_packet is {max_allowed_packet}")]
    PacketTooLarge {
        /// The payload's length as far as it is known: all fragments whose headers have arrived.
        length_bytes: usize,
        /// The limit.
        max_allowed_packet: usize,
    },
    /// A packet's sequence number is not the one after its predecessor's
    /// (ER_NET_PACKETS_OUT_OF_ORDER, 1156). The connection is beyond repair.
    #[error("packets out of order: expected sequence number {expected}, got {got}")]
    OutOfOrder {
        /// The number that was due.
        expected: u8,
        /// The number in the packet's header.
        got: u8,
    },
}
