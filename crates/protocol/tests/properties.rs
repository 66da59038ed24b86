//! Properties of every decoder: arbitrary bytes never panic, and what was written is read back.

use proptest::collection::vec;
use proptest::prelude::*;
use selkie_protocol::handshake::{
    AuthMoreData, AuthSwitchRequest, ConnectAttributes, Greeting, HandshakeResponse, SslRequest,
};
use selkie_protocol::response::{
    BinaryRow, BinaryRowReader, ColumnCount, ColumnDefinition, Eof, Err as ErrPacket,
    LocalInfileRequest, Ok as OkPacket, PrepareOk, Progress, TextRow, TextRowReader,
    decode_field_list_column,
};
use selkie_protocol::{
    Capabilities, ColumnType, Command, CursorFlags, Date, DateTime, PacketReader, ParamType,
    ParamValue, SendBuffer, StmtExecute, Time, fuzz,
};

/// A value with the type that it is bound as. NaN has no equal, so floats are finite.
fn typed_value() -> impl Strategy<Value = (ParamType, OwnedValue)> {
    let date = (any::<u16>(), any::<u8>(), any::<u8>()).prop_map(|(year, month, day)| Date {
        year,
        month,
        day,
    });
    let date_time = (date.clone(), any::<[u8; 3]>(), any::<u32>()).prop_map(
        |(date, [hour, minute, second], micros)| DateTime {
            date,
            hour,
            minute,
            second,
            micros,
        },
    );
    let time = (
        any::<bool>(),
        any::<u32>(),
        any::<[u8; 3]>(),
        1..1_000_000u32,
    )
        .prop_map(|(negative, days, [hours, minutes, seconds], micros)| Time {
            negative,
            days,
            hours,
            minutes,
            seconds,
            micros,
        });
    let typed = |column_type, value| (ParamType::signed(column_type), value);
    prop_oneof![
        Just(typed(
            ColumnType::String,
            OwnedValue::Plain(ParamValue::Null)
        )),
        any::<i8>().prop_map(move |v| typed(
            ColumnType::Tiny,
            OwnedValue::Plain(ParamValue::Int(v.into()))
        )),
        any::<i16>().prop_map(move |v| typed(
            ColumnType::Short,
            OwnedValue::Plain(ParamValue::Int(v.into()))
        )),
        any::<i32>().prop_map(move |v| typed(
            ColumnType::Long,
            OwnedValue::Plain(ParamValue::Int(v.into()))
        )),
        any::<u64>().prop_map(|v| (
            ParamType::unsigned(ColumnType::LongLong),
            OwnedValue::Plain(ParamValue::UInt(v))
        )),
        (-1e30f32..1e30)
            .prop_map(move |v| typed(ColumnType::Float, OwnedValue::Plain(ParamValue::Float(v)))),
        (-1e300f64..1e300)
            .prop_map(move |v| typed(ColumnType::Double, OwnedValue::Plain(ParamValue::Double(v)))),
        date.prop_map(move |v| typed(ColumnType::Date, OwnedValue::Plain(ParamValue::Date(v)))),
        date_time.prop_map(move |v| typed(
            ColumnType::DateTime,
            OwnedValue::Plain(ParamValue::DateTime(v))
        )),
        time.prop_map(move |v| typed(ColumnType::Time, OwnedValue::Plain(ParamValue::Time(v)))),
        vec(any::<u8>(), 0..400).prop_map(move |v| typed(ColumnType::Blob, OwnedValue::Bytes(v))),
    ]
}

/// A value that owns its bytes.
#[derive(Debug, Clone)]
enum OwnedValue {
    Plain(ParamValue<'static>),
    Bytes(Vec<u8>),
}

impl OwnedValue {
    fn borrow(&self) -> ParamValue<'_> {
        match self {
            Self::Plain(value) => *value,
            Self::Bytes(bytes) => ParamValue::Bytes(bytes),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn client_packets_never_panic(data in vec(any::<u8>(), 0..300)) {
        fuzz::fuzz_decode(&data);
    }

    #[test]
    fn server_packets_never_panic(data in vec(any::<u8>(), 0..300), bits in any::<u64>()) {
        let capabilities = Capabilities::from_bits(bits);
        for header in [None, Some(0x00), Some(0x01), Some(0x0A), Some(0xFB), Some(0xFE), Some(0xFF)] {
            let payload: Vec<u8> = header.into_iter().chain(data.iter().copied()).collect();
            let _ = Greeting::decode(&payload, &mut Vec::new());
            let _ = AuthSwitchRequest::decode(&payload);
            let _ = AuthMoreData::decode(&payload);
            if let Ok(ok) = OkPacket::decode(&payload, capabilities) {
                ok.state_changes().for_each(drop);
            }
            let _ = ErrPacket::decode(&payload);
            let _ = Progress::decode(&payload);
            let _ = Eof::decode(&payload);
            let _ = LocalInfileRequest::decode(&payload);
            let _ = PrepareOk::decode(&payload);
            let _ = ColumnCount::decode(&payload, capabilities);
            let _ = ColumnDefinition::decode(&payload, capabilities);
            let _ = decode_field_list_column(&payload, capabilities);
            TextRowReader::new(&payload).for_each(drop);
            if let Ok(mut row) = BinaryRowReader::new(&payload, 9) {
                for code in 0..=255 {
                    if let Ok(column_type) = ColumnType::try_from(code) {
                        let _ = row.next_value(ParamType::signed(column_type));
                    }
                }
            }
        }
    }

    #[test]
    fn packets_survive_any_chopping(
        payloads in vec(vec(any::<u8>(), 0..50), 1..10),
        step in 1usize..60,
    ) {
        let mut out = SendBuffer::new();
        payloads.iter().for_each(|payload| out.put_packet(payload));
        let mut reader = PacketReader::new(100);
        let mut read = Vec::new();
        for piece in out.pending().chunks(step) {
            reader.space(piece.len())[..piece.len()].copy_from_slice(piece);
            reader.filled(piece.len());
            while let Some(packet) = reader.next_packet().unwrap() {
                read.push(packet.payload.to_vec());
            }
        }
        prop_assert_eq!(read, payloads);
    }

    #[test]
    fn parameters_come_back(typed in vec(typed_value(), 1..20)) {
        let types: Vec<_> = typed.iter().map(|(param_type, _)| *param_type).collect();
        let values: Vec<_> = typed.iter().map(|(_, value)| value.borrow()).collect();
        let params = StmtExecute::encode_params(&types, &values, true);
        let execute = StmtExecute {
            statement_id: 1,
            cursor: CursorFlags::EMPTY,
            iterations: 1,
            params: &params,
        };
        let mut out = SendBuffer::new();
        Command::StmtExecute(execute).encode(&mut out, Capabilities::SERVER_DEFAULT);
        let command = Command::decode(&out.pending()[4..], Capabilities::SERVER_DEFAULT);
        prop_assert_eq!(command, Ok(Command::StmtExecute(execute)));
        let mut bound = Vec::new();
        let read: Result<Vec<_>, _> =
            execute.params(types.len(), &mut bound, &[]).unwrap().collect();
        prop_assert_eq!(read, Ok(values));
        prop_assert_eq!(bound, types);
    }

    #[test]
    fn binary_rows_come_back(typed in vec(typed_value(), 1..20)) {
        let mut out = SendBuffer::new();
        let mut row = BinaryRow::begin(&mut out, typed.len());
        typed.iter().for_each(|(param_type, value)| {
            row.put_value(param_type.column_type, value.borrow());
        });
        row.finish();
        let mut reader = BinaryRowReader::new(&out.pending()[4..], typed.len()).unwrap();
        for (param_type, value) in &typed {
            prop_assert_eq!(reader.next_value(*param_type), Ok(value.borrow()));
        }
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn text_rows_come_back(values in vec(proptest::option::of(vec(any::<u8>(), 0..300)), 1..9)) {
        let mut out = SendBuffer::new();
        let mut row = TextRow::begin(&mut out);
        for value in &values {
            match value {
                Some(text) => row.put_bytes(text),
                None => row.put_null(),
            }
        }
        row.finish();
        let read: Vec<_> = TextRowReader::new(&out.pending()[4..])
            .map(|value| value.unwrap().map(<[u8]>::to_vec))
            .collect();
        prop_assert_eq!(read, values);
    }

    #[test]
    fn handshake_responses_come_back(
        bits in any::<u64>(),
        user in "[a-z]{0,20}",
        auth_response in vec(1u8..=255, 0..60),
        database in proptest::option::of("[a-z]{1,9}"),
        collation in any::<u16>(),
    ) {
        let capabilities = Capabilities::from_bits(bits) | Capabilities::CLIENT_PROTOCOL_41;
        let capabilities =
            Capabilities::from_halves(capabilities.lower(), capabilities.extended());
        let has = |flag| capabilities.contains(flag);
        let attributes = ConnectAttributes::encode(&[(b"_os", b"Linux")]);
        let response = HandshakeResponse {
            capabilities,
            max_packet_bytes: 1,
            collation,
            user: user.as_bytes(),
            auth_response: &auth_response,
            database: database.as_deref().map(str::as_bytes)
                .filter(|_| has(Capabilities::CLIENT_CONNECT_WITH_DB)),
            auth_plugin: has(Capabilities::CLIENT_PLUGIN_AUTH).then_some(b"client_ed25519"),
            attributes: if has(Capabilities::CLIENT_CONNECT_ATTRS) {
                ConnectAttributes::from_encoded(&attributes)
            } else {
                ConnectAttributes::default()
            },
            zstd_level: has(Capabilities::CLIENT_ZSTD_COMPRESSION).then_some(3),
        };
        let mut out = SendBuffer::new();
        response.encode(&mut out);
        let read = HandshakeResponse::decode(&out.pending()[4..], capabilities);
        prop_assert_eq!(read, Ok(response));
        prop_assert!(!SslRequest::is_ssl_request(&out.pending()[4..]));
    }
}
