//! Walks through a recorded conversation as both sides would: commands in the client's order, for
//! each the packets of the server's answer.

use selkie_protocol::command::{BulkParam, BulkRows};
use selkie_protocol::handshake::{
    AuthMoreData, AuthSwitchRequest, Greeting, HandshakeResponse, NativePasswordHash,
};
use selkie_protocol::response::{
    BinaryRow, BinaryRowReader, ColumnCount, ColumnDefinition, Eof, Err as ErrPacket, InfileData,
    LocalInfileRequest, Ok as OkPacket, PrepareOk, Progress, StateChange, TextRow, TextRowReader,
    decode_field_list_column, put_column_count, put_field_list_column, put_metadata_end,
    put_result_end, put_statistics,
};
use selkie_protocol::{
    Capabilities, ColumnFlags, Command, Date, DateTime, LAST_PREPARED, PacketReader, ParamType,
    ParamValue, SendBuffer, ServerStatus, Time,
};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

/// A recorded packet.
struct Recorded {
    sequence: u8,
    payload: Vec<u8>,
}

/// What a session remembers of a statement.
#[derive(Default)]
struct Statement {
    param_count: usize,
    param_types: Vec<ParamType>,
    long_data: Vec<bool>,
    columns: Vec<ParamType>,
}

#[derive(Default)]
pub struct Replay {
    transcript: String,
    seen: usize,
    client: VecDeque<Recorded>,
    server: VecDeque<Recorded>,
    /// The set in force.
    capabilities: Capabilities,
    statements: HashMap<u32, Statement>,
    last_prepared: u32,
}

impl Replay {
    pub fn transcript(&self) -> &str {
        &self.transcript
    }

    pub fn packets_seen(&self) -> usize {
        self.seen
    }

    /// Replays one connection from greeting to end.
    pub fn connection(&mut self, recording: &str) {
        self.statements.clear();
        for line in recording.lines().filter(|line| !line.starts_with('#')) {
            let (direction, rest) = line.split_once(' ').unwrap();
            let (sequence, hex) = rest.split_once(' ').unwrap();
            let recorded = Recorded {
                sequence: sequence.parse().unwrap(),
                payload: unhex(hex),
            };
            let queue = if direction == "C" {
                &mut self.client
            } else {
                &mut self.server
            };
            queue.push_back(recorded);
        }
        self.transcript.push_str("connection\n");
        if self.connection_phase() {
            while let Some(packet) = self.client.pop_front() {
                self.seen += 1;
                self.command(&packet);
            }
        }
        assert!(
            self.client.is_empty() && self.server.is_empty(),
            "packets left over"
        );
    }

    fn connection_phase(&mut self) -> bool {
        let packet = self.next_of_server();
        let mut buffer = Vec::new();
        let greeting = Greeting::decode(&packet.payload, &mut buffer).unwrap();
        same(&packet, |out| greeting.encode(out));
        assert_eq!(
            greeting.capabilities,
            Capabilities::SERVER_DEFAULT | Capabilities::CLIENT_COMPRESS
        );
        let version = String::from_utf8_lossy(greeting.server_version);
        self.say(
            'S',
            format_args!("Greeting {version} {:?}", greeting.capabilities),
        );

        let response = self.next_of_client();
        // Byte for byte only with all that the client claims, offered or not.
        let claimed = Capabilities::from_bits(u64::MAX);
        let full = HandshakeResponse::decode(&response.payload, claimed).unwrap();
        same(&response, |out| full.encode(out));
        let read = HandshakeResponse::decode(&response.payload, greeting.capabilities).unwrap();
        self.capabilities = read.capabilities;
        let attributes: Vec<_> = read
            .attributes
            .iter()
            .filter(|(name, _)| *name != b"_pid")
            .collect();
        self.say(
            'C',
            format_args!(
                "HandshakeResponse user {} database {} plugin {} collation {} {:?}",
                text(read.user),
                read.database.map_or("-".into(), text),
                read.auth_plugin.map_or("-".into(), text),
                read.collation,
                read.capabilities
            ),
        );
        for (name, value) in attributes {
            self.say(
                'C',
                format_args!("  attribute {} {}", text(name), text(value)),
            );
        }
        let mut scramble = greeting.auth_data.to_vec();
        let mut answer = read.auth_response.to_vec();
        self.authentication(&mut scramble, &mut answer, read.user)
    }

    /// From a login up to OK or ERR; true for OK. Checks the password when
    /// mysql_native_password was the last plugin asked.
    fn authentication(
        &mut self,
        scramble: &mut Vec<u8>,
        answer: &mut Vec<u8>,
        user: &[u8],
    ) -> bool {
        let mut native = true;
        loop {
            let packet = self.next_of_server();
            match packet.payload[0] {
                0x00 => {
                    self.ok(&packet);
                    if native && !answer.is_empty() {
                        let password: &[u8] = if user == b"other" {
                            b"different"
                        } else {
                            b"secret"
                        };
                        let hash = NativePasswordHash::of_password(password).unwrap();
                        assert!(hash.check(scramble, answer), "password of {}", text(user));
                    }
                    return true;
                }
                0xFF => {
                    self.err(&packet);
                    return false;
                }
                0xFE => {
                    let switch = AuthSwitchRequest::decode(&packet.payload).unwrap();
                    same(&packet, |out| switch.encode(out));
                    native = switch.plugin == b"mysql_native_password";
                    self.say(
                        'S',
                        format_args!("AuthSwitchRequest {}", text(switch.plugin)),
                    );
                    scramble.clear();
                    scramble.extend_from_slice(switch.auth_data);
                    if native {
                        assert_eq!(scramble.pop(), Some(0));
                    }
                }
                // MariaDB leaves the header away where the data cannot be mistaken.
                _ => {
                    let data = AuthMoreData::decode(&packet.payload)
                        .map_or(&packet.payload[..], |more| more.data);
                    self.say('S', format_args!("AuthMoreData {}", text(data)));
                }
            }
            *answer = self.next_of_client().payload;
            self.say(
                'C',
                format_args!("AuthSwitchResponse of {} bytes", answer.len()),
            );
        }
    }

    fn command(&mut self, packet: &Recorded) {
        let command = Command::decode(&packet.payload, self.capabilities).unwrap();
        same(packet, |out| command.encode(out, self.capabilities));
        match command {
            Command::Quit => self.say('C', format_args!("Quit")),
            Command::Query(sql) => {
                self.say('C', format_args!("Query {}", text(sql)));
                self.results(None);
            }
            Command::InitDb(name) => {
                self.say('C', format_args!("InitDb {}", text(name)));
                self.ok_or_err();
            }
            Command::FieldList { table, wildcard } => {
                self.say(
                    'C',
                    format_args!("FieldList {} {}", text(table), text(wildcard)),
                );
                self.field_list();
            }
            Command::Statistics => {
                self.say('C', format_args!("Statistics"));
                let answer = self.next_of_server();
                same(&answer, |out| put_statistics(out, &answer.payload));
                self.say('S', format_args!("{}", text(&answer.payload)));
            }
            Command::ProcessInfo => {
                self.say('C', format_args!("ProcessInfo"));
                self.results(None);
            }
            Command::Debug | Command::SetOption(_) => {
                self.say('C', format_args!("{command:?}"));
                let answer = self.next_of_server();
                self.result_end(&answer);
            }
            Command::ChangeUser(change) => {
                self.say(
                    'C',
                    format_args!(
                        "ChangeUser {} database {} plugin {} collation {:?}",
                        text(change.user),
                        change.database.map_or("-".into(), text),
                        change.auth_plugin.map_or("-".into(), text),
                        change.collation
                    ),
                );
                let mut answer = change.auth_response.to_vec();
                self.authentication(&mut Vec::new(), &mut answer, change.user);
            }
            Command::BinlogDump(dump) => {
                self.say(
                    'C',
                    format_args!("BinlogDump at {} flags {}", dump.position, dump.flags),
                );
                self.binlog();
            }
            Command::StmtPrepare(sql) => {
                self.say('C', format_args!("StmtPrepare {}", text(sql)));
                self.prepared();
            }
            Command::StmtExecute(execute) => {
                let id = self.statement_id(execute.statement_id);
                let statement = self.statements.get_mut(&id).unwrap();
                let long_data = std::mem::take(&mut statement.long_data);
                let values: Result<Vec<_>, _> = execute
                    .params(
                        statement.param_count,
                        &mut statement.param_types,
                        &long_data,
                    )
                    .unwrap()
                    .collect();
                let cursor = execute.cursor;
                self.say(
                    'C',
                    format_args!("StmtExecute {} cursor {cursor:?}", execute.statement_id),
                );
                for value in values.unwrap() {
                    self.say('C', format_args!("  {}", show(&value)));
                }
                self.results(Some(id));
            }
            Command::StmtBulkExecute(execute) => {
                let id = self.statement_id(execute.statement_id);
                let statement = self.statements.get_mut(&id).unwrap();
                let rows = execute
                    .rows(statement.param_count, &mut statement.param_types)
                    .unwrap();
                let rows = bulk_rows(rows);
                self.say(
                    'C',
                    format_args!("StmtBulkExecute {id} {:?}", execute.flags),
                );
                self.transcript.push_str(&rows);
                self.results(Some(id));
            }
            Command::StmtSendLongData {
                statement_id,
                param,
                data,
            } => {
                self.say(
                    'C',
                    format_args!("StmtSendLongData {statement_id}.{param} {}", text(data)),
                );
                let statement = self.statements.get_mut(&statement_id).unwrap();
                statement.long_data.resize(statement.param_count, false);
                statement.long_data[usize::from(param)] = true;
            }
            Command::StmtClose(id) => {
                self.say('C', format_args!("{command:?}"));
                self.statements.remove(&id).unwrap();
            }
            Command::StmtFetch { statement_id, .. } => {
                self.say('C', format_args!("{command:?}"));
                self.rows(Some(statement_id));
            }
            _ => {
                self.say('C', format_args!("{command:?}"));
                self.ok_or_err();
            }
        }
    }

    fn statement_id(&self, id: u32) -> u32 {
        if id == LAST_PREPARED {
            self.last_prepared
        } else {
            id
        }
    }

    /// The results of a statement, until none follows.
    fn results(&mut self, statement: Option<u32>) {
        while self
            .one_result(statement)
            .contains(ServerStatus::SERVER_MORE_RESULTS_EXISTS)
        {}
    }

    /// One result; its status.
    fn one_result(&mut self, statement: Option<u32>) -> ServerStatus {
        let packet = self.next_of_server();
        match packet.payload[0] {
            0x00 => self.ok(&packet),
            0xFF if Progress::is_progress(&packet.payload) => {
                let progress = Progress::decode(&packet.payload).unwrap();
                same(&packet, |out| progress.encode(out));
                let info = text(progress.proc_info);
                self.say(
                    'S',
                    format_args!(
                        "Progress {}/{} {} {info}",
                        progress.stage, progress.max_stage, progress.progress
                    ),
                );
                self.one_result(statement)
            }
            0xFF => self.err(&packet),
            0xFB => {
                let request = LocalInfileRequest::decode(&packet.payload).unwrap();
                same(&packet, |out| request.encode(out));
                self.say('S', format_args!("LocalInfileRequest"));
                loop {
                    let piece = self.next_of_client();
                    match InfileData::decode(&piece.payload) {
                        InfileData::Piece(data) => {
                            self.say('C', format_args!("  piece {}", text(data)));
                        }
                        InfileData::End => break,
                    }
                }
                self.one_result(statement)
            }
            _ => self.result_set(&packet, statement),
        }
    }

    fn result_set(&mut self, packet: &Recorded, statement: Option<u32>) -> ServerStatus {
        let capabilities = self.capabilities;
        let count = ColumnCount::decode(&packet.payload, capabilities).unwrap();
        same(packet, |out| {
            put_column_count(out, capabilities, count.columns, count.metadata_follows);
        });
        self.say('S', format_args!("{count:?}"));
        let definitions = if count.metadata_follows {
            count.columns
        } else {
            0
        };
        let columns = (0..definitions).map(|_| self.column()).collect();
        let status = self.metadata_end();
        match statement.and_then(|id| self.statements.get_mut(&id)) {
            Some(statement) if count.metadata_follows => statement.columns = columns,
            _ => {}
        }
        if status.contains(ServerStatus::SERVER_STATUS_CURSOR_EXISTS) {
            return status;
        }
        self.rows(statement)
    }

    fn rows(&mut self, statement: Option<u32>) -> ServerStatus {
        loop {
            let packet = self.next_of_server();
            if packet.payload[0] == 0xFF {
                return self.err(&packet);
            }
            if Eof::is_eof(&packet.payload) || self.is_ok_as_eof(&packet.payload) {
                return self.result_end(&packet);
            }
            match statement {
                Some(id) => self.binary_row(&packet, id),
                None => self.text_row(&packet),
            }
        }
    }

    fn is_ok_as_eof(&self, payload: &[u8]) -> bool {
        self.capabilities
            .contains(Capabilities::CLIENT_DEPRECATE_EOF)
            && payload[0] == 0xFE
    }

    fn text_row(&mut self, packet: &Recorded) {
        let values: Vec<_> = TextRowReader::new(&packet.payload)
            .map(|v| v.unwrap())
            .collect();
        same(packet, |out| {
            let mut row = TextRow::begin(out);
            for value in &values {
                match value {
                    // Integers by their own writer, as a server does; others as text.
                    Some(text) => match std::str::from_utf8(text).map(str::parse::<i64>) {
                        Ok(Ok(number)) if number.to_string().as_bytes() == *text => {
                            row.put_i64(number);
                        }
                        _ => row.put_with(|out| out.extend_from_slice(text)),
                    },
                    None => row.put_null(),
                }
            }
            row.finish();
        });
        let values: Vec<_> = values
            .into_iter()
            .map(|value| value.map_or("NULL".into(), text))
            .collect();
        self.say('S', format_args!("Row {}", values.join(" | ")));
    }

    fn binary_row(&mut self, packet: &Recorded, statement: u32) {
        let columns = &self.statements[&statement].columns;
        let mut reader = BinaryRowReader::new(&packet.payload, columns.len()).unwrap();
        let values: Vec<_> = columns
            .iter()
            .map(|&column| reader.next_value(column).unwrap())
            .collect();
        assert!(reader.is_empty());
        same(packet, |out| {
            let mut row = BinaryRow::begin(out, columns.len());
            for (column, &value) in columns.iter().zip(&values) {
                row.put_value(column.column_type, value);
            }
            row.finish();
        });
        let mut line = "BinaryRow".to_owned();
        for value in values {
            write!(line, " {}", clip(&show(&value))).unwrap();
        }
        self.say('S', format_args!("{line}"));
    }

    fn column(&mut self) -> ParamType {
        let packet = self.next_of_server();
        let column = ColumnDefinition::decode(&packet.payload, self.capabilities).unwrap();
        same(&packet, |out| column.encode(out, self.capabilities));
        self.say_column(&column, "")
    }

    fn say_column(&mut self, column: &ColumnDefinition<'_>, rest: &str) -> ParamType {
        let extended =
            |part: Option<&[u8]>| part.map_or(String::new(), |p| format!(" {}", text(p)));
        self.say(
            'S',
            format_args!(
                "Column {}.{} ({}.{}.{}) {:?}({}, {}){}{} collation {} {:?}{rest}",
                text(column.table),
                text(column.name),
                text(column.schema),
                text(column.org_table),
                text(column.org_name),
                column.column_type,
                column.length,
                column.decimals,
                extended(column.extended.type_name),
                extended(column.extended.format),
                column.collation,
                column.flags
            ),
        );
        ParamType {
            column_type: column.column_type,
            unsigned: column.flags.contains(ColumnFlags::UNSIGNED_FLAG),
        }
    }

    /// The end of definitions. For a cursor there is always one; which is known from what follows.
    fn metadata_end(&mut self) -> ServerStatus {
        if self
            .capabilities
            .contains(Capabilities::CLIENT_DEPRECATE_EOF)
        {
            let opened = self.server.front().is_some_and(|next| {
                next.payload[0] == 0xFE
                    && OkPacket::decode(&next.payload, self.capabilities).is_ok_and(|end| {
                        end.status
                            .contains(ServerStatus::SERVER_STATUS_CURSOR_EXISTS)
                    })
            });
            if !opened {
                return ServerStatus::EMPTY;
            }
            let packet = self.next_of_server();
            return self.result_end(&packet);
        }
        let packet = self.next_of_server();
        let eof = Eof::decode(&packet.payload).unwrap();
        same(&packet, |out| put_metadata_end(out, self.capabilities, eof));
        self.say('S', format_args!("{eof:?}"));
        eof.status
    }

    fn result_end(&mut self, packet: &Recorded) -> ServerStatus {
        let capabilities = self.capabilities;
        let end = if capabilities.contains(Capabilities::CLIENT_DEPRECATE_EOF) {
            OkPacket::decode(&packet.payload, capabilities).unwrap()
        } else {
            let Eof { warnings, status } = Eof::decode(&packet.payload).unwrap();
            OkPacket {
                warnings,
                status,
                ..OkPacket::default()
            }
        };
        same(packet, |out| put_result_end(out, capabilities, &end));
        self.say_ok("End", &end);
        end.status
    }

    fn field_list(&mut self) {
        loop {
            let packet = self.next_of_server();
            if packet.payload[0] == 0xFF {
                self.err(&packet);
                return;
            }
            if packet.payload[0] == 0xFE {
                self.result_end(&packet);
                return;
            }
            let capabilities = self.capabilities;
            let (column, default) =
                decode_field_list_column(&packet.payload, capabilities).unwrap();
            same(&packet, |out| {
                put_field_list_column(out, capabilities, &column, default)
            });
            let default = default.map_or("NULL".into(), text);
            self.say_column(&column, &format!(" default {default}"));
        }
    }

    fn prepared(&mut self) {
        let packet = self.next_of_server();
        if packet.payload[0] == 0xFF {
            self.err(&packet);
            return;
        }
        let ok = PrepareOk::decode(&packet.payload).unwrap();
        same(&packet, |out| ok.encode(out));
        self.say('S', format_args!("{ok:?}"));
        let mut statement = Statement {
            param_count: ok.param_count.into(),
            ..Statement::default()
        };
        if ok.param_count > 0 {
            for _ in 0..ok.param_count {
                let packet = self.next_of_server();
                same(&packet, |out| {
                    ColumnDefinition::PARAMETER.encode(out, self.capabilities)
                });
            }
            self.say('S', format_args!("{} parameters", ok.param_count));
            self.metadata_end();
        }
        if ok.column_count > 0 {
            statement.columns = (0..ok.column_count).map(|_| self.column()).collect();
            self.metadata_end();
        }
        self.last_prepared = ok.statement_id;
        self.statements.insert(ok.statement_id, statement);
    }

    fn binlog(&mut self) {
        while let Some(packet) = self.server.pop_front() {
            self.seen += 1;
            match packet.payload[0] {
                0 => self.say(
                    'S',
                    format_args!("event of {} bytes", packet.payload.len() - 1),
                ),
                0xFE => drop(self.result_end(&packet)),
                _ => drop(self.err(&packet)),
            }
        }
    }

    fn ok_or_err(&mut self) {
        let packet = self.next_of_server();
        if packet.payload[0] == 0xFF {
            self.err(&packet)
        } else {
            self.ok(&packet)
        };
    }

    fn ok(&mut self, packet: &Recorded) -> ServerStatus {
        let ok = OkPacket::decode(&packet.payload, self.capabilities).unwrap();
        same(packet, |out| ok.encode(out, self.capabilities));
        // The changes one by one must encode to the same list.
        let mut track = selkie_protocol::response::SessionTrack::new();
        ok.state_changes()
            .for_each(|change| track.change(&change.unwrap()));
        assert_eq!(ok, ok.with_session_track(&track));
        self.say_ok("Ok", &ok);
        ok.status
    }

    fn say_ok(&mut self, what: &str, ok: &OkPacket<'_>) {
        let OkPacket {
            affected_rows,
            last_insert_id,
            status,
            warnings,
            info,
            ..
        } = *ok;
        let info = text(info);
        self.say(
            'S',
            format_args!(
                "{what} affected {affected_rows} id {last_insert_id} warnings {warnings} \
                 {status:?} {info}"
            ),
        );
        for change in ok.state_changes() {
            match change.unwrap() {
                StateChange::SystemVariable { name, value } => {
                    self.say('S', format_args!("  {} = {}", text(name), text(value)));
                }
                StateChange::Schema(name) => self.say('S', format_args!("  schema {}", text(name))),
                StateChange::TransactionCharacteristics(sql) => {
                    self.say(
                        'S',
                        format_args!("  transaction characteristics {}", text(sql)),
                    );
                }
                StateChange::TransactionState(state) => {
                    self.say('S', format_args!("  transaction state {}", text(state)));
                }
                change => self.say('S', format_args!("  {change:?}")),
            }
        }
    }

    fn err(&mut self, packet: &Recorded) -> ServerStatus {
        let err = ErrPacket::decode(&packet.payload).unwrap();
        same(packet, |out| {
            err.encode(out, Capabilities::CLIENT_PROTOCOL_41)
        });
        let state = text(&err.sqlstate.unwrap());
        self.say(
            'S',
            format_args!("Err {} {state} {}", err.code, text(err.message)),
        );
        ServerStatus::EMPTY
    }

    fn next_of_server(&mut self) -> Recorded {
        self.seen += 1;
        self.server.pop_front().expect("the server's next packet")
    }

    fn next_of_client(&mut self) -> Recorded {
        self.seen += 1;
        self.client.pop_front().expect("the client's next packet")
    }

    fn say(&mut self, direction: char, line: std::fmt::Arguments<'_>) {
        let line = line.to_string();
        writeln!(self.transcript, "{direction} {}", line.trim_end()).unwrap();
    }
}

/// What `write` writes must be the recorded packet, and the reader must read it as that.
fn same(recorded: &Recorded, write: impl FnOnce(&mut SendBuffer)) {
    let mut out = SendBuffer::new();
    out.set_sequence(recorded.sequence);
    write(&mut out);
    let mut reader = PacketReader::new(usize::MAX);
    reader.expect_sequence(recorded.sequence);
    reader.feed(out.pending());
    let packet = reader.next_packet().unwrap().expect("a whole packet");
    assert_eq!(
        text(packet.payload),
        text(&recorded.payload),
        "written on the left, recorded on the right"
    );
    assert_eq!(packet.payload, recorded.payload);
    assert!(!reader.in_packet(), "more than one packet was written");
}

fn bulk_rows(mut rows: BulkRows<'_, '_>) -> String {
    let mut lines = String::new();
    let mut row: Vec<BulkParam<'_>> = Vec::new();
    while rows.next_row(&mut row).unwrap() {
        let row: Vec<_> = row
            .iter()
            .map(|param| match param {
                BulkParam::Value(value) => show(value),
                other => format!("{other:?}"),
            })
            .collect();
        writeln!(lines, "C   {}", row.join(" | ")).unwrap();
    }
    lines
}

fn show(value: &ParamValue<'_>) -> String {
    match value {
        ParamValue::Bytes(bytes) => format!("Bytes({})", text(bytes)),
        ParamValue::Date(date) => show_date(date),
        ParamValue::DateTime(DateTime {
            date,
            hour,
            minute,
            second,
            micros,
        }) => {
            format!(
                "{}T{hour:02}:{minute:02}:{second:02}.{micros:06}",
                show_date(date)
            )
        }
        ParamValue::Time(Time {
            negative,
            days,
            hours,
            minutes,
            seconds,
            micros,
        }) => {
            let sign = if *negative { "-" } else { "" };
            format!("{sign}{days}d{hours:02}:{minutes:02}:{seconds:02}.{micros:06}")
        }
        other => format!("{other:?}"),
    }
}

fn show_date(date: &Date) -> String {
    format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

fn text(bytes: &[u8]) -> String {
    clip(&bytes.escape_ascii().to_string())
}

/// The transcript's lines stay readable.
fn clip(text: &str) -> String {
    const LENGTH_MAX: usize = 160;
    match text.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}… ({})", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits = if hex == "-" { "" } else { hex };
    assert!(digits.len().is_multiple_of(2));
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}
