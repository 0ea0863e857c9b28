//! Landlock: reading what a target needs, and writing only to harmless devices; below the scratch
//! directory both, once the child has added it.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope, path_beneath_rules,
};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// A ruleset that denies every write known to this kernel, and reading but for some files.
pub(crate) struct FileRules {
    ruleset: OwnedFd,
    /// The accesses that a rule for the scratch directory grants, as the kernel numbers them.
    scratch_access: u64,
    read_access: u64,
    abi: i32,
}

impl FileRules {
    /// `None` if the kernel has no Landlock or it is switched off.
    pub fn create(visible: &[PathBuf]) -> Option<FileRules> {
        let abi = kernel_abi();
        let writes = AccessFs::from_write(known(abi)?);
        let reads = AccessFs::ReadFile | AccessFs::ReadDir;
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(writes | reads)
            .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V4)))
            .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
            .and_then(Ruleset::create)
            .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, writes | reads)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(visible, reads)))
            .ok()?;
        let fd: Option<OwnedFd> = ruleset.into();
        let (scratch_access, read_access) = (BitFlags::bits(writes | reads), BitFlags::bits(reads));
        Some(FileRules { ruleset: fd?, scratch_access, read_access, abi })
    }

    pub fn fd(&self) -> RawFd {
        self.ruleset.as_raw_fd()
    }

    pub fn scratch_access(&self) -> u64 {
        self.scratch_access
    }

    pub fn read_access(&self) -> u64 {
        self.read_access
    }

    pub fn abi(&self) -> i32 {
        self.abi
    }
}

fn kernel_abi() -> i32 {
    const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
    let no_attributes = std::ptr::null::<u8>();
    // SAFETY: with this flag the call only returns a number.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            no_attributes,
            0usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    abi as i32
}

/// Writes to files did not change after version 3; control of devices (5) would also break harmless
/// queries.
fn known(abi: i32) -> Option<ABI> {
    match abi {
        i32::MIN..=0 => None,
        1 => Some(ABI::V1),
        2 => Some(ABI::V2),
        _ => Some(ABI::V3),
    }
}
