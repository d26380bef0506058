//! Where a user's files are.

use std::path::PathBuf;

/// The variable with the directory that [`user_folder`] is below.
pub const USER_FOLDER_VARIABLE: &str = if cfg!(windows) {
    "LOCALAPPDATA"
} else {
    "HOME"
};

/// The directory of a user's files: `below` of the home directory; on Windows that of local
/// application data, whatever `below` is. `None` if the variable is not set to an absolute path.
pub fn user_folder(below: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os(USER_FOLDER_VARIABLE)?);
    let folder = folder.is_absolute().then_some(folder)?;
    Some(match cfg!(windows) {
        true => folder,
        false => folder.join(below),
    })
}

/// The running program: on Linux even if its file was replaced.
pub fn own_program() -> PathBuf {
    match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe().unwrap_or_default(),
    }
}
