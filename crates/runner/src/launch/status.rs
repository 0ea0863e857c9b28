//! What a launched child tells the driver before it executes the program.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SocketFlags,
    SocketType, recvmsg, socketpair, sockopt,
};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A step of the launch that can fail. The numbers go over the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Step {
    ScratchOpened,
    MapUsers,
    PrivateMounts,
    ReadOnlyMounts,
    ScratchMount,
    TmpMount,
    TmpOpened,
    ProcessLimit,
    Landlock,
    Seccomp,
    Descriptors,
    InputOpened,
    NullOpened,
    Directory,
    Limits,
    Execute,
}

impl Step {
    const ALL: [Step; 16] = [
        Step::ScratchOpened,
        Step::MapUsers,
        Step::PrivateMounts,
        Step::ReadOnlyMounts,
        Step::ScratchMount,
        Step::TmpMount,
        Step::TmpOpened,
        Step::ProcessLimit,
        Step::Landlock,
        Step::Seccomp,
        Step::Descriptors,
        Step::InputOpened,
        Step::NullOpened,
        Step::Directory,
        Step::Limits,
        Step::Execute,
    ];

    /// Whether the child gives up; otherwise the sandbox just lacks something.
    pub fn is_fatal(self) -> bool {
        matches!(
            self,
            Step::ScratchOpened
                | Step::TmpOpened
                | Step::MapUsers
                | Step::Descriptors
                | Step::InputOpened
                | Step::NullOpened
                | Step::Directory
                | Step::Limits
                | Step::Execute
        )
    }

    /// Continues "cannot".
    pub fn action(self) -> &'static str {
        match self {
            Step::ScratchOpened => "open the scratch directory",
            Step::TmpOpened => "open the target's /tmp",
            Step::MapUsers => "map users in a namespace",
            Step::PrivateMounts | Step::ReadOnlyMounts | Step::ScratchMount | Step::TmpMount => {
                "mount file systems for the target"
            }
            Step::ProcessLimit => "limit the number of processes",
            Step::Landlock => "restrict the target with Landlock",
            Step::Seccomp => "restrict the target with seccomp",
            Step::Descriptors => "set up the target's input and output",
            Step::InputOpened => "open the target's input",
            Step::NullOpened => "open /dev/null for the target's input and output",
            Step::Directory => "enter the target's working directory",
            Step::Limits => "set the target's limits",
            Step::Execute => "execute the target",
        }
    }
}

/// One message of a child.
pub(super) enum Finding {
    /// Where the target can write.
    Scratch(OwnedFd),
    Failed(Step, io::Error),
}

/// The driver's end and the child's end; the latter closes when the program is executed.
pub(super) fn channel() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Everything that the child says until it executes the program, dies, or takes too long.
pub(super) fn collect(socket: &OwnedFd, limit: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    if sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, Some(limit)).is_ok() {
        while let Some(finding) = receive(socket) {
            findings.push(finding);
        }
    }
    findings
}

fn receive(socket: &OwnedFd) -> Option<Finding> {
    let mut bytes = [0u8; 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })
    .ok()?;
    if message.bytes != bytes.len() || message.flags.contains(ReturnFlags::CTRUNC) {
        return None;
    }
    let [number, errno] = [&bytes[..4], &bytes[4..]]
        .map(|half| u32::from_ne_bytes(half.try_into().unwrap_or_default()));
    let step = *Step::ALL.get(number as usize)?;
    match ancillary.drain().next() {
        Some(RecvAncillaryMessage::ScmRights(mut descriptors)) => {
            descriptors.next().map(Finding::Scratch)
        }
        _ => Some(Finding::Failed(step, io::Error::from_raw_os_error(errno as i32))),
    }
}
