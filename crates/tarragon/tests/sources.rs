//! Input that does not come on the standard input or in a file. A bug counts only with its stack:
//! then the sanitized variant, which gets the input in its own way, has seen it as well.

mod common;

use common::{bugs, fuzz};
use tempfile::TempDir;

fn found(source: &str, options: &[&str], arguments: &[&str]) -> Vec<String> {
    let dir = TempDir::new().expect("temporary directory");
    bugs(&fuzz(dir.path(), source, &[], options, arguments))
}

const WORDS: &str = r#"
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *mode = getenv("MODE");
    if (argc == 3 && strcmp(argv[1], "-x=ab!") == 0 && strlen(argv[2]) == 3 && mode && strcmp(mode, "go") == 0)
        abort();
    return 0;
}
"#;

#[test]
fn arguments_and_variables() {
    let options = ["--env", "MODE=@{}"];
    assert_eq!(
        found(WORDS, &options, &["-x=@{}!", "@{}"]),
        ["SIGABRT (ABRT) in program.c:9:9 (main)"]
    );
}

#[test]
fn as_many_arguments_as_there_are() {
    let options = ["--env", "MODE=go"];
    assert_eq!(found(WORDS, &options, &["@{...}"]), ["SIGABRT (ABRT) in program.c:9:9 (main)"]);
}

/// Finds the end of its argument from after it. The constructor leaves gaps of all sizes between
/// pages that may be read: new memory goes into the highest gap that has room.
const BACKWARDS: &str = r#"
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

__attribute__((constructor)) static void leave_gaps(void)
{
    char *pages[64];
    for (int i = 0; i < 64; i++)
        pages[i] = mmap(0, (2 + i / 4) * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 64; i++)
        munmap(pages[i] + PAGE, (1 + i / 4) * PAGE);
}

int main(int argc, char **argv)
{
    char *end = argv[1] + strlen(argv[1]);
    while (end[-1] == ' ')
        end--;
    return end - argv[1] == 3;
}
"#;

#[test]
fn what_is_read_before_an_argument_is_seen_by_all_variants() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = common::fuzz(dir.path(), BACKWARDS, &[], &["--max-runs", "50"], &["@{}"]);
    assert_eq!(bugs(&stats), ["SIGSEGV (SEGV) in program.c:19:20 (main)"]);
    let plain = stats["bugs"][0]["plain"].as_str().expect("a verdict");
    assert!(
        plain.ends_with(
            "the variant disagrees: arguments lie at the edge of a page there, so \
                             that reading before the first of them is seen"
        ),
        "{plain}"
    );
}

const SERVER: &str = r#"
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(8080) };
    int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one))
        return 1;
    if (bind(server, (void *)&here, sizeof here) || listen(server, 5))
        return 1;
    for (;;) {
        struct pollfd ready = { .fd = server, .events = POLLIN };
        char text[64];
        if (poll(&ready, 1, -1) != 1)
            return 1;
        int client = accept(server, NULL, NULL);
        ssize_t size;
        while ((size = recv(client, text, sizeof text, 0)) > 0) {
            send(client, "ok\n", 3, 0);
            if (size > 4 && memcmp(text, "HELO", 4) == 0)
                abort();
        }
        close(client);
    }
}
"#;

#[test]
fn connections_to_a_server() {
    assert_eq!(found(SERVER, &[], &[]), ["SIGABRT (ABRT) in program.c:27:17 (main)"]);
}

const DATAGRAMS: &str = r#"
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(void)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(53) }, from;
    int server = socket(AF_INET, SOCK_DGRAM, 0);
    bind(server, (void *)&here, sizeof here);
    for (;;) {
        unsigned char text[64];
        socklen_t len = sizeof from;
        ssize_t size = recvfrom(server, text, sizeof text, 0, (void *)&from, &len);
        if (size >= 3 && text[0] == 0x13 && text[1] + text[2] == 300)
            abort();
    }
}
"#;

#[test]
fn datagrams() {
    assert_eq!(found(DATAGRAMS, &[], &[]), ["SIGABRT (ABRT) in program.c:16:13 (main)"]);
}

/// The check reads beyond the block that holds the input.
const PERSISTENT: &str = r#"
#include <string.h>

__AFL_FUZZ_INIT();

int main(void)
{
#ifdef __AFL_HAVE_MANUAL_CONTROL
    __AFL_INIT();
#endif
    unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
    int found = 0;
    while (__AFL_LOOP(1000)) {
        int size = __AFL_FUZZ_TESTCASE_LEN;
        if (size >= 4 && memcmp(text, "PERS", 4) == 0 && text[size] == '!')
            found++;
    }
    return found;
}
"#;

#[test]
fn persistent_harnesses_of_afl() {
    let options = ["--max-runs", "50"];
    assert_eq!(
        found(PERSISTENT, &options, &[]),
        ["heap-buffer-overflow in program.c:15:58 (main)"]
    );
}

const MARKED: &str = r#"
#include <tarragon.h>

int main(void)
{
    struct { unsigned short kind; unsigned count; } request;
    tarragon_input(&request, sizeof request);
    tarragon_assume(request.kind < 10);
    tarragon_check(request.kind != 7 || request.count * 3 != 21);
    return 0;
}
"#;

#[test]
fn memory_that_the_program_marks() {
    assert_eq!(found(MARKED, &[], &[]), ["SIGABRT (ABRT) in program.c:9:5 (main)"]);
}
