//! The server's side of the connection phase, without IO and without accounts: it says what a
//! packet is by what was sent before, and keeps sequence numbers and capabilities.
//!
//! ```text
//!            greet                       SSLRequest                  handshake response
//!  (start) ─────────▶ AwaitResponse ────────────────▶ AwaitResponse ───────────────────▶ Deciding
//!                     (plain)        StartTls         (over TLS)     Login                 │  ▲
//!                                                                                          │  │
//!                      accept (OK) / reject (ERR)     switch_plugin, more_data             │  │ AuthData
//!        (end) ◀───────────────────────────────────── Deciding ◀───────────────────────────┤  │
//!                                                                                          ▼  │
//!                                                                                      AwaitAuthData
//! ```
//!
//! [`ServerHandshake::change_user`] enters at `Deciding` for COM_CHANGE_USER.

use super::auth_more_data::AuthMoreData;
use super::auth_switch::AuthSwitchRequest;
use super::greeting::Greeting;
use super::response::HandshakeResponse;
use super::ssl_request::SslRequest;
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Packet, SendBuffer};
use crate::response::{Err as ErrPacket, Ok as OkPacket};

/// Where a connection stands between greeting and OK.
#[derive(Debug)]
pub struct ServerHandshake {
    capabilities: Capabilities,
    state: State,
    secure: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    AwaitResponse,
    AwaitAuthData,
    Deciding,
}

/// What the client's packet asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeEvent<'a> {
    /// Go on with TLS; what was fed behind the packet belongs to it.
    StartTls,
    /// The client says who it is. Answer by [`accept`](ServerHandshake::accept),
    /// [`reject`](ServerHandshake::reject) or a further question to its plugin.
    Login(HandshakeResponse<'a>),
    /// The client's plugin answers the last question.
    AuthData(&'a [u8]),
}

/// Why a packet of the connection phase cannot be served (ER_HANDSHAKE_ERROR, 1043).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The packet is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An SSLRequest although CLIENT_SSL was not offered, or a second one.
    #[error("SSLRequest where none is allowed")]
    UnexpectedSslRequest,
    /// The client sent a packet although it is the server's turn.
    #[error("packet out of turn")]
    OutOfTurn,
}

impl ServerHandshake {
    /// Writes the greeting and starts. Its capabilities are what is offered.
    pub fn greet(out: &mut SendBuffer, greeting: &Greeting<'_>) -> Self {
        out.set_sequence(0);
        greeting.encode(out);
        Self {
            capabilities: greeting.capabilities,
            state: State::AwaitResponse,
            secure: false,
        }
    }

    /// Starts for COM_CHANGE_USER, whose packet was read as a command: answer it as a login.
    /// `capabilities` are those in force.
    pub fn change_user(capabilities: Capabilities, secure: bool) -> Self {
        Self {
            capabilities,
            state: State::Deciding,
            secure,
        }
    }

    /// What is offered; from the login on, what is in force.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Whether the client changed to TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Reads the client's next packet. `out` gets the sequence number of its answer.
    pub fn on_packet<'a>(
        &mut self,
        packet: Packet<'a>,
        out: &mut SendBuffer,
    ) -> Result<HandshakeEvent<'a>, HandshakeError> {
        out.set_sequence(packet.next_sequence());
        match self.state {
            State::Deciding => Err(HandshakeError::OutOfTurn),
            State::AwaitAuthData => {
                self.state = State::Deciding;
                Ok(HandshakeEvent::AuthData(packet.payload))
            }
            State::AwaitResponse if SslRequest::is_ssl_request(packet.payload) => {
                if self.secure || !self.capabilities.contains(Capabilities::CLIENT_SSL) {
                    return Err(HandshakeError::UnexpectedSslRequest);
                }
                self.secure = true;
                Ok(HandshakeEvent::StartTls)
            }
            State::AwaitResponse => {
                let response = HandshakeResponse::decode(packet.payload, self.capabilities)?;
                self.capabilities = response.capabilities;
                self.state = State::Deciding;
                Ok(HandshakeEvent::Login(response))
            }
        }
    }

    /// Asks the client to answer with another plugin.
    ///
    /// # Panics
    /// When it is the client's turn; so do all that follow.
    pub fn switch_plugin(&mut self, out: &mut SendBuffer, plugin: &str, auth_data: &[u8]) {
        self.take_turn();
        AuthSwitchRequest {
            plugin: plugin.as_bytes(),
            auth_data,
        }
        .encode(out);
        self.state = State::AwaitAuthData;
    }

    /// Sends further data to the client's plugin, which answers them.
    pub fn more_data(&mut self, out: &mut SendBuffer, data: &[u8]) {
        self.tell(out, data);
        self.state = State::AwaitAuthData;
    }

    /// Sends further data to the client's plugin, which does not answer them.
    pub fn tell(&mut self, out: &mut SendBuffer, data: &[u8]) {
        self.take_turn();
        AuthMoreData { data }.encode(out);
    }

    /// Ends the phase: the client is logged in. The next packet is a command.
    pub fn accept(self, out: &mut SendBuffer, ok: &OkPacket<'_>) -> Capabilities {
        self.take_turn();
        ok.encode(out, self.capabilities);
        self.capabilities
    }

    /// Ends the phase: close the connection once the error is sent. Allowed at any time.
    pub fn reject(self, out: &mut SendBuffer, error: &ErrPacket<'_>) {
        error.encode(out, self.capabilities);
    }

    fn take_turn(&self) {
        assert_eq!(self.state, State::Deciding, "it is the client's turn");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ConnectAttributes, Scramble, plugin};
    use super::*;
    use crate::{PacketReader, ServerStatus};

    fn greeting(scramble: &Scramble, capabilities: Capabilities) -> Greeting<'_> {
        Greeting {
            server_version: b"11.8.0-MariaDB",
            version_prefix: false,
            connection_id: 1,
            auth_data: scramble.as_bytes(),
            capabilities,
            collation: 45,
            status: ServerStatus::SERVER_STATUS_AUTOCOMMIT,
            auth_plugin: plugin::MYSQL_NATIVE_PASSWORD.as_bytes(),
        }
    }

    fn response(capabilities: Capabilities) -> HandshakeResponse<'static> {
        HandshakeResponse {
            capabilities,
            max_packet_bytes: 1 << 24,
            collation: 45,
            user: b"root",
            auth_response: b"",
            database: None,
            auth_plugin: None,
            attributes: ConnectAttributes::default(),
            zstd_level: None,
        }
    }

    #[test]
    fn tls_then_switch_then_ok() {
        let offered = Capabilities::SERVER_DEFAULT | Capabilities::CLIENT_SSL;
        let wanted = offered - Capabilities::CLIENT_CONNECT_WITH_DB;
        let (mut out, mut client) = (SendBuffer::new(), SendBuffer::new());
        let scramble = Scramble::from_random([7; 20]);
        let mut handshake = ServerHandshake::greet(&mut out, &greeting(&scramble, offered));
        client.set_sequence(1);
        SslRequest {
            capabilities: wanted,
            max_packet_bytes: 1 << 24,
            collation: 45,
        }
        .encode(&mut client);
        response(wanted).encode(&mut client);
        client.set_sequence(4);
        client.put_packet(b"signature");

        let mut reader = PacketReader::new(1 << 16);
        reader.expect_sequence(1);
        reader.feed(client.pending());
        let packet = reader.next_packet().unwrap().unwrap();
        assert_eq!(
            handshake.on_packet(packet, &mut out),
            Ok(HandshakeEvent::StartTls)
        );
        let packet = reader.next_packet().unwrap().unwrap();
        let event = handshake.on_packet(packet, &mut out).unwrap();
        assert_eq!(event, HandshakeEvent::Login(response(wanted)));
        assert!(handshake.is_secure());
        out.clear();
        out.set_sequence(3);
        handshake.switch_plugin(&mut out, plugin::CLIENT_ED25519, &[1; 32]);
        assert_eq!(out.pending()[3..5], [3, 0xFE]);
        reader.expect_sequence(out.sequence());
        let packet = reader.next_packet().unwrap().unwrap();
        let event = handshake.on_packet(packet, &mut out);
        assert_eq!(event, Ok(HandshakeEvent::AuthData(b"signature")));
        out.consume(out.pending_bytes());
        assert_eq!(handshake.accept(&mut out, &OkPacket::default()), wanted);
        assert_eq!(out.pending()[3..5], [5, 0]);
    }

    #[test]
    fn packets_out_of_place() {
        let (mut out, mut client) = (SendBuffer::new(), SendBuffer::new());
        let scramble = Scramble::from_random([7; 20]);
        let offered = Capabilities::SERVER_DEFAULT;
        let mut handshake = ServerHandshake::greet(&mut out, &greeting(&scramble, offered));
        let wanted = offered | Capabilities::CLIENT_SSL;
        SslRequest {
            capabilities: wanted,
            max_packet_bytes: 0,
            collation: 45,
        }
        .encode(&mut client);
        let packet = Packet {
            sequence: 1,
            payload: &client.pending()[4..],
        };
        assert_eq!(
            handshake.on_packet(packet, &mut out),
            Err(HandshakeError::UnexpectedSslRequest)
        );
        client.clear();
        response(offered).encode(&mut client);
        let packet = Packet {
            sequence: 1,
            payload: &client.pending()[4..],
        };
        assert!(handshake.on_packet(packet, &mut out).is_ok());
        assert_eq!(
            handshake.on_packet(packet, &mut out),
            Err(HandshakeError::OutOfTurn)
        );
    }
}
