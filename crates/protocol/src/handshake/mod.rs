//! The connection phase: from the server's greeting to OK or ERR. One packet a file;
//! [`ServerHandshake`] is the order in which a server sends and expects them.
//! See <https://mariadb.com/kb/en/connection/>.
//!
//! Accounts, and which plugin an account asks for, are not known here.

mod attributes;
mod auth_more_data;
mod auth_switch;
mod change_user;
mod greeting;
mod native_password;
mod response;
mod server;
mod ssl_request;

pub use attributes::ConnectAttributes;
pub use auth_more_data::AuthMoreData;
pub use auth_switch::{AuthSwitchRequest, AuthSwitchResponse};
pub use change_user::ChangeUser;
pub use greeting::Greeting;
pub use native_password::{NativePasswordHash, SCRAMBLE_BYTES, Scramble, native_password_response};
pub use response::HandshakeResponse;
pub use server::{HandshakeError, HandshakeEvent, ServerHandshake};
pub use ssl_request::SslRequest;

/// Names of authentication plugins, as packets have them.
pub mod plugin {
    /// SHA1 with a scramble: [`native_password_response`](super::native_password_response).
    pub const MYSQL_NATIVE_PASSWORD: &str = "mysql_native_password";
    /// Password in the clear, for PAM and the like; only over TLS.
    pub const MYSQL_CLEAR_PASSWORD: &str = "mysql_clear_password";
    /// MariaDB's Ed25519 signatures.
    pub const CLIENT_ED25519: &str = "client_ed25519";
    /// MySQL 8's default.
    pub const CACHING_SHA2_PASSWORD: &str = "caching_sha2_password";
    /// The operating system's user at the other end of a local socket.
    pub const UNIX_SOCKET: &str = "unix_socket";
}
