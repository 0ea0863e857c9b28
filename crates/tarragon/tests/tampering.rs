//! A program that writes over what it shares with Tarragon costs an input, not the campaign.

mod common;

use common::{bugs, fuzz};
use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    char text[2] = "";
    if (read(0, text, 2) < 1)
        return 1;
    if (text[0] == 's')
        for (int fd = 3; fd < 256; fd++)
            shutdown(fd, SHUT_RDWR);
    if (text[0] == 's' && text[1] == 't')
        return 2;
    if (text[0] == 'x' && text[1] == 'y')
        abort();
    return 0;
}
"#;

#[test]
fn the_input_is_a_find_and_the_campaign_goes_on() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--max-len", "2", "--sanitizer", "off", "--lcov", "off"];
    let stats = fuzz(dir.path(), PROGRAM, &[], &options, &[]);
    let expected = [
        "SIGABRT in no stack",
        "tampering: the program writes over memory or descriptors that Tarragon shares with it in \
         no stack",
    ];
    assert_eq!(bugs(&stats), expected);
    let resumed = common::resume(dir.path(), &options);
    assert_eq!(resumed["stopped"], stats["stopped"]);
    // It is not run again, and nobody says that it is gone.
    assert_eq!(bugs(&resumed), expected);
    assert_eq!(resumed["not_shown"], 0);
    let triage = common::tarragon(dir.path()).args(["triage", "out", "--", "./program"]).output();
    let triage = triage.expect("starts");
    let shown = String::from_utf8_lossy(&triage.stdout);
    assert!(shown.contains("2 inputs: 2 bugs and 0 hangs show"), "{shown}");
    assert_eq!(triage.status.code(), Some(1));
}

#[test]
fn a_signal_that_a_program_sends_to_itself_is_no_want_of_memory() {
    let program = "#include <signal.h>\n#include <stdio.h>\n\
                   int main(void) { if (getchar() == 'k') raise(SIGKILL); return 0; }\n";
    let dir = TempDir::new().expect("temporary directory");
    let stats: Value =
        fuzz(dir.path(), program, &[], &["--sanitizer", "off", "--lcov", "off"], &[]);
    assert_eq!(bugs(&stats), ["SIGKILL in no stack"]);
}
