//! A small client: one connection, text protocol, all results in memory.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use selkie_protocol::handshake::{
    AuthSwitchRequest, ConnectAttributes, Greeting, HandshakeResponse, native_password_response,
};
use selkie_protocol::response::{ColumnCount, ColumnDefinition, Eof, Err as ErrPacket, Ok as OkPacket};
use selkie_protocol::{
    Capabilities, ColumnType, CommandCode, DecodeError, FrameError, PacketReader, Payload, SendBuffer, ServerStatus,
};

const PACKET_BYTES_MAX: usize = 1 << 30;
const UTF8MB4_GENERAL_CI: u16 = 45;
const NATIVE_PASSWORD: &[u8] = b"mysql_native_password";

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A unix socket.
    Unix(PathBuf),
    /// A port of this machine.
    Tcp(u16),
}

/// How to log in.
#[derive(Debug, Clone)]
pub struct Login {
    /// User name.
    pub user: String,
    /// Password; empty: none.
    pub password: String,
    /// Database to begin with.
    pub database: Option<String>,
}

impl Default for Login {
    fn default() -> Self {
        Login { user: "root".into(), password: String::new(), database: None }
    }
}

/// What goes wrong beneath statements.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection; a timeout is [`io::ErrorKind::WouldBlock`].
    #[error("connection: {0}")]
    Io(#[from] io::Error),
    /// Bytes that are no packet.
    #[error("framing: {0}")]
    Frame(#[from] FrameError),
    /// A packet that is not understood.
    #[error("packet: {0}")]
    Decode(#[from] DecodeError),
    /// The server refused the login.
    #[error("{0}")]
    Refused(ServerError),
    /// An answer that does not fit here.
    #[error("unexpected answer: {0}")]
    Unexpected(&'static str),
}

impl ClientError {
    /// Whether the server did not answer in time.
    pub fn is_timeout(&self) -> bool {
        matches!(self, ClientError::Io(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
    }
}

/// An ERR packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// Number.
    pub code: u16,
    /// SQLSTATE.
    pub sqlstate: String,
    /// Text.
    pub message: String,
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, self.sqlstate, self.message)
    }
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its alias.
    pub name: String,
    /// Its type on the wire.
    pub column_type: ColumnType,
    /// Longest text form in bytes.
    pub length: u32,
    /// Flags, as bits.
    pub flags: u16,
    /// Digits behind the point.
    pub decimals: u8,
    /// Collation id.
    pub collation: u16,
}

/// A row: the text of each column, `None` for NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// One answer to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A result set.
    Rows {
        /// Its columns.
        columns: Vec<Column>,
        /// Its rows.
        rows: Vec<Row>,
        /// Number of warnings.
        warnings: u16,
    },
    /// Success without rows.
    Done {
        /// Rows changed.
        affected: u64,
        /// First generated AUTO_INCREMENT value.
        insert_id: u64,
        /// Number of warnings.
        warnings: u16,
        /// Text for people.
        info: String,
    },
    /// An error.
    Error(ServerError),
}

impl Answer {
    /// The number of warnings; none after an error, where it is not told.
    pub fn warnings(&self) -> u16 {
        match self {
            Answer::Rows { warnings, .. } | Answer::Done { warnings, .. } => *warnings,
            Answer::Error(_) => 0,
        }
    }
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(s) => s.set_read_timeout(timeout),
            Stream::Tcp(s) => s.set_read_timeout(timeout),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(s) => s.read(buffer),
            Stream::Tcp(s) => s.read(buffer),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(s) => s.write_all(bytes),
            Stream::Tcp(s) => s.write_all(bytes),
        }
    }
}

/// A connection that is logged in.
pub struct Client {
    stream: Stream,
    reader: PacketReader,
    out: SendBuffer,
    capabilities: Capabilities,
    /// CONNECTION_ID() as the greeting told it.
    pub connection_id: u32,
    /// The server's version as the greeting told it.
    pub server_version: String,
}

impl Client {
    /// Connects and logs in, within `timeout`, which is kept for all answers ([`Self::set_timeout`]).
    pub fn connect(endpoint: &Endpoint, login: &Login, timeout: Duration) -> Result<Client, ClientError> {
        let stream = match endpoint {
            Endpoint::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
            Endpoint::Tcp(port) => {
                let stream = TcpStream::connect_timeout(&([127, 0, 0, 1], *port).into(), timeout)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
        };
        stream.set_read_timeout(Some(timeout))?;
        let mut client = Client {
            stream,
            reader: PacketReader::new(PACKET_BYTES_MAX),
            out: SendBuffer::new(),
            capabilities: Capabilities::EMPTY,
            connection_id: 0,
            server_version: String::new(),
        };
        client.log_in(login)?;
        Ok(client)
    }

    /// How long to wait for answers; `None`: for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.stream.set_read_timeout(timeout)?)
    }

    fn log_in(&mut self, login: &Login) -> Result<(), ClientError> {
        let packet = self.read_packet()?;
        if packet.first() == Some(&0xFF) {
            return Err(ClientError::Refused(server_error(&packet)?));
        }
        let mut auth_data = Vec::new();
        let greeting = Greeting::decode(&packet, &mut auth_data)?;
        self.connection_id = greeting.connection_id;
        self.server_version = String::from_utf8_lossy(greeting.server_version).into_owned();
        let mut wanted = Capabilities::CLIENT_PROTOCOL_41
            | Capabilities::CLIENT_SECURE_CONNECTION
            | Capabilities::CLIENT_PLUGIN_AUTH
            | Capabilities::CLIENT_TRANSACTIONS
            | Capabilities::CLIENT_MULTI_RESULTS
            | Capabilities::CLIENT_MULTI_STATEMENTS;
        wanted.set(Capabilities::CLIENT_CONNECT_WITH_DB, login.database.is_some());
        // What the server does not offer is not used; that it is no MySQL is not for the client to change.
        self.capabilities = wanted;
        let answer = native_password_response(login.password.as_bytes(), greeting.auth_data);
        let response = HandshakeResponse {
            capabilities: wanted,
            max_packet_bytes: 1 << 30,
            collation: UTF8MB4_GENERAL_CI,
            user: login.user.as_bytes(),
            auth_response: &answer,
            database: login.database.as_deref().map(str::as_bytes),
            auth_plugin: Some(NATIVE_PASSWORD),
            attributes: ConnectAttributes::default(),
            zstd_level: None,
        };
        response.encode(&mut self.out);
        self.flush()?;
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0x00) => return Ok(()),
                Some(0xFF) => return Err(ClientError::Refused(server_error(&packet)?)),
                Some(0xFE) => {
                    let request = AuthSwitchRequest::decode(&packet)?;
                    let scramble = request.auth_data.strip_suffix(&[0]).unwrap_or(request.auth_data);
                    let answer = native_password_response(login.password.as_bytes(), scramble);
                    self.out.put_packet(&answer);
                    self.flush()?;
                }
                _ => return Err(ClientError::Unexpected("in the login")),
            }
        }
    }

    /// Runs a statement and gives its only answer, or the last one of several.
    pub fn query(&mut self, sql: &str) -> Result<Answer, ClientError> {
        self.query_all(sql)?.pop().ok_or(ClientError::Unexpected("no answer"))
    }

    /// Runs a statement and gives all its answers.
    pub fn query_all(&mut self, sql: &str) -> Result<Vec<Answer>, ClientError> {
        self.send(sql)?;
        self.receive()
    }

    /// Runs a statement that must succeed without rows.
    ///
    /// # Errors
    /// [`ClientError::Refused`] with the server's error.
    pub fn execute(&mut self, sql: &str) -> Result<u64, ClientError> {
        match self.query(sql)? {
            Answer::Done { affected, .. } => Ok(affected),
            Answer::Rows { .. } => Ok(0),
            Answer::Error(e) => Err(ClientError::Refused(e)),
        }
    }

    /// Runs a statement that must give rows.
    ///
    /// # Errors
    /// [`ClientError::Refused`] with the server's error.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Row>, ClientError> {
        match self.query(sql)? {
            Answer::Rows { rows, .. } => Ok(rows),
            Answer::Done { .. } => Err(ClientError::Unexpected("no rows")),
            Answer::Error(e) => Err(ClientError::Refused(e)),
        }
    }

    /// Sends a statement; [`Self::receive`] must follow.
    pub fn send(&mut self, sql: &str) -> Result<(), ClientError> {
        self.out.set_sequence(0);
        self.out.begin_packet();
        self.out.put_u8(CommandCode::Query as u8);
        self.out.put_bytes(sql.as_bytes());
        self.out.end_packet();
        self.flush()
    }

    /// The answers to what was sent. After a timeout it may be called again.
    pub fn receive(&mut self) -> Result<Vec<Answer>, ClientError> {
        let mut answers = Vec::new();
        loop {
            let (answer, status) = self.receive_one()?;
            let more = status.contains(ServerStatus::SERVER_MORE_RESULTS_EXISTS);
            answers.push(answer);
            if !more {
                return Ok(answers);
            }
        }
    }

    fn receive_one(&mut self) -> Result<(Answer, ServerStatus), ClientError> {
        let packet = self.read_packet()?;
        match packet.first() {
            Some(0x00) => {
                let ok = OkPacket::decode(&packet, self.capabilities)?;
                let info = String::from_utf8_lossy(ok.info).into_owned();
                let (affected, insert_id) = (ok.affected_rows, ok.last_insert_id);
                Ok((Answer::Done { affected, insert_id, warnings: ok.warnings, info }, ok.status))
            }
            Some(0xFF) => Ok((Answer::Error(server_error(&packet)?), ServerStatus::EMPTY)),
            Some(0xFB) => {
                // A local file: there is none here.
                self.out.put_packet(&[]);
                self.flush()?;
                self.receive_one()
            }
            Some(_) => self.receive_rows(&packet),
            None => Err(ClientError::Unexpected("an empty packet")),
        }
    }

    fn receive_rows(&mut self, head: &[u8]) -> Result<(Answer, ServerStatus), ClientError> {
        let count = ColumnCount::decode(head, self.capabilities)?.columns;
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.read_packet()?;
            let c = ColumnDefinition::decode(&packet, self.capabilities)?;
            columns.push(Column {
                name: String::from_utf8_lossy(c.name).into_owned(),
                column_type: c.column_type,
                length: c.length,
                flags: c.flags.bits(),
                decimals: c.decimals,
                collation: c.collation,
            });
        }
        self.read_packet()?;
        let mut rows = Vec::new();
        loop {
            let packet = self.read_packet()?;
            if Eof::is_eof(&packet) {
                let eof = Eof::decode(&packet)?;
                return Ok((Answer::Rows { columns, rows, warnings: eof.warnings }, eof.status));
            }
            if packet.first() == Some(&0xFF) {
                return Ok((Answer::Error(server_error(&packet)?), ServerStatus::EMPTY));
            }
            let mut fields = Payload::new(&packet);
            let mut row = Vec::with_capacity(columns.len());
            for _ in 0..columns.len() {
                row.push(fields.lenenc_bytes_or_null("value")?.map(<[u8]>::to_vec));
            }
            rows.push(row);
        }
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        self.stream.write_all(self.out.pending())?;
        self.reader.expect_sequence(self.out.sequence());
        self.out.clear();
        Ok(())
    }

    fn read_packet(&mut self) -> Result<Vec<u8>, ClientError> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                self.out.set_sequence(packet.next_sequence());
                return Ok(packet.payload.to_vec());
            }
            let space = self.reader.space(16 << 10);
            match self.stream.read(space)? {
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                n => self.reader.filled(n),
            }
        }
    }
}

fn server_error(packet: &[u8]) -> Result<ServerError, ClientError> {
    let e = ErrPacket::decode(packet)?;
    Ok(ServerError {
        code: e.code,
        sqlstate: e.sqlstate.map_or_else(|| "HY000".into(), |s| String::from_utf8_lossy(&s).into_owned()),
        message: String::from_utf8_lossy(e.message).into_owned(),
    })
}
