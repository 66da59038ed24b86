//! `--user`: giving up root's rights.

use std::ffi::CString;
use std::io;

/// Makes the process a user's, if it runs as root and the user is another. A process that does not run as root stays
/// what it is.
pub fn become_user(name: &str) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() || name == "root" {
        return Ok(());
    }
    let (uid, gid) = look_up(name)?;
    let c_name = CString::new(name).map_err(io::Error::other)?;
    // SAFETY: `c_name` is a C string for the time of the call.
    check(unsafe { libc::initgroups(c_name.as_ptr(), gid) })?;
    // SAFETY: takes numbers only. The group first: afterwards there is no right to change it.
    check(unsafe { libc::setgid(gid) })?;
    // SAFETY: as above.
    check(unsafe { libc::setuid(uid) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// User and group id of an account of the system.
fn look_up(name: &str) -> io::Result<(libc::uid_t, libc::gid_t)> {
    let c_name = CString::new(name).map_err(io::Error::other)?;
    let mut buffer = vec![0 as libc::c_char; 64 << 10];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::zeroed();
    let mut found = std::ptr::null_mut();
    // SAFETY: all pointers are valid for the call, and the buffer's length is its own.
    let code =
        unsafe { libc::getpwnam_r(c_name.as_ptr(), entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found) };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code));
    }
    if found.is_null() {
        return Err(io::Error::other("there is no such user"));
    }
    // SAFETY: it was found, so the entry was filled.
    let entry = unsafe { entry.assume_init() };
    Ok((entry.pw_uid, entry.pw_gid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_looked_up() {
        assert_eq!(look_up("root").unwrap(), (0, 0));
        assert_eq!(look_up("no such user").unwrap_err().to_string(), "there is no such user");
    }
}
