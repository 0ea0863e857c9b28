//! Servers: sessions of several connections and messages, and children that they fork.

mod common;

use common::{bugs, fuzz, tarragon};
use serde_json::Value;
use tempfile::TempDir;

/// What all servers begin with.
const NET: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int serve_on(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    int own = socket(AF_INET, type, 0);
    if (own < 0 || bind(own, (struct sockaddr *)&address, sizeof address))
        exit(9);
    if (type == SOCK_STREAM && listen(own, 5))
        exit(9);
    return own;
}

"#;

/// The second connection needs what the first has said, and a message of its own for each.
const LOOPING: &str = r#"
static int opened;

static void talk(int peer)
{
    char line[32];
    ssize_t got;
    while ((got = recv(peer, line, sizeof line, 0)) > 0) {
        if (got == 5 && memcmp(line, "open\n", 5) == 0)
            opened = 1;
        else if (got == 3 && memcmp(line, "go\n", 3) == 0 && opened == 2)
            abort();
        write(peer, "ok\n", 3);
    }
}

int main(void)
{
    int own = serve_on(SOCK_STREAM), peer;
    while ((peer = accept(own, 0, 0)) >= 0) {
        talk(peer);
        close(peer);
        opened += opened != 0;
    }
    return 1;
}
"#;

/// A daemon that forks for each connection. Its child takes a line that comes in two messages for one
/// that it knows.
const FORKING: &str = r#"
static void talk(int peer)
{
    char line[8];
    ssize_t got = read(peer, line, sizeof line);
    if (got == 4 && memcmp(line, "GET\n", 4) == 0)
        _exit(0);
    if (got == 2 && memcmp(line, "GE", 2) == 0)
        got = read(peer, line + 2, 6);
    if (got == 2 && memcmp(line, "GET\n", 4) == 0)
        abort();
    _exit(1);
}

int main(void)
{
    int own = serve_on(SOCK_STREAM), peer;
    signal(SIGCHLD, SIG_IGN);
    if (daemon(1, 0))
        return 1;
    while ((peer = accept(own, 0, 0)) >= 0) {
        if (fork() == 0)
            talk(peer);
        close(peer);
    }
    return 1;
}
"#;

/// Both connections have to be open at once.
const POLLING: &str = r#"
enum { MOST = 8 };
static int count = 1, step[MOST];
static struct pollfd peers[MOST];

static void hear(int i)
{
    char line[16];
    ssize_t got = recv(peers[i].fd, line, sizeof line, 0);
    if (got <= 0) {
        close(peers[i].fd);
        peers[i] = peers[--count];
        step[i] = step[count];
    } else if (step[i] == 0 && got == 2 && memcmp(line, "hi", 2) == 0) {
        step[i] = 1;
    } else if (step[i] == 1 && got == 3 && memcmp(line, "bye", 3) == 0 && count == 3) {
        abort();
    }
}

int main(void)
{
    peers[0].fd = serve_on(SOCK_STREAM);
    for (int i = 0; i < MOST; i++)
        peers[i].events = POLLIN;
    while (poll(peers, count, -1) > 0) {
        if (peers[0].revents && count < MOST) {
            peers[count].fd = accept(peers[0].fd, 0, 0);
            peers[count].revents = 0;
            step[count++] = 0;
        }
        for (int i = count - 1; i > 0; i--)
            if (peers[i].revents)
                hear(i);
    }
}
"#;

/// One letter of each connection, in order, from sockets that do not wait. The loop has a timeout.
const EPOLLING: &str = r#"
static void take_all(int own, int set)
{
    struct epoll_event event = {.events = EPOLLIN};
    while ((event.data.fd = accept4(own, 0, 0, SOCK_NONBLOCK)) >= 0)
        epoll_ctl(set, EPOLL_CTL_ADD, event.data.fd, &event);
}

int main(void)
{
    int own = serve_on(SOCK_STREAM), set = epoll_create1(0), total = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = own}, events[4];
    fcntl(own, F_SETFL, O_NONBLOCK);
    epoll_ctl(set, EPOLL_CTL_ADD, own, &event);
    for (;;) {
        int ready = epoll_wait(set, events, 4, 1000);
        for (int i = 0; i < ready; i++) {
            char text[8];
            if (events[i].data.fd == own) {
                take_all(own, set);
                continue;
            }
            ssize_t got = read(events[i].data.fd, text, sizeof text);
            if (got <= 0)
                close(events[i].data.fd);
            else if (got == 1 && text[0] == 'A' + total && ++total == 3)
                abort();
        }
    }
}
"#;

/// The second datagram counts after the first.
const DATAGRAMS: &str = r#"
int main(void)
{
    int own = serve_on(SOCK_DGRAM), known = 0;
    for (;;) {
        char text[16];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        fd_set set;
        FD_ZERO(&set);
        FD_SET(own, &set);
        if (select(own + 1, &set, 0, 0, 0) <= 0)
            return 1;
        ssize_t got = recvfrom(own, text, sizeof text, 0, (struct sockaddr *)&from, &size);
        if (got == 4 && memcmp(text, "key=", 4) == 0)
            known = 1;
        else if (got >= 3 && known && text[0] + text[1] == 'x' + 'y' && text[2] == 'z')
            abort();
        sendto(own, "ok", 2, 0, (struct sockaddr *)&from, size);
    }
}
"#;

/// A thread for each connection, which leaves something for the next one.
const THREADED: &str = r#"
static _Atomic int tokens;

static void *talk(void *argument)
{
    int peer = (int)(long)argument;
    char text[16];
    ssize_t got = read(peer, text, sizeof text);
    usleep(1000);
    if (got == 3 && memcmp(text, "tok", 3) == 0)
        tokens++;
    if (got == 2 && text[0] * 7 == 'u' * 7 && text[1] == 's' && tokens == 1)
        abort();
    close(peer);
    return 0;
}

int main(void)
{
    int own = serve_on(SOCK_STREAM);
    for (;;) {
        pthread_t thread;
        long peer = accept(own, 0, 0);
        if (peer < 0 || pthread_create(&thread, 0, talk, (void *)peer))
            return 1;
        pthread_detach(thread);
    }
}
"#;

/// A client of two servers.
const CLIENT: &str = r#"
int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    char text[2][8] = {"", ""};
    for (int i = 0; i < 3; i++) {
        int own = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(own, (struct sockaddr *)&address, sizeof address))
            return i == 2 ? 0 : 9;
        if (i == 2 || recv(own, text[i], 8, 0) < 1)
            return 1;
        close(own);
        if (i == 1 && text[0][0] == 'q' && text[1][0] == text[0][0] + 1)
            abort();
    }
}
"#;

/// What is told of a datagram that is larger than the room for it.
const CUT: &str = r#"
int main(void)
{
    int own = serve_on(SOCK_DGRAM);
    char text[2];
    struct iovec piece = {text, sizeof text};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    ssize_t size = recv(own, text, sizeof text, MSG_TRUNC);
    if (size == 2)
        return 2;
    if (size == 4)
        return 4;
    if (size > 0)
        return 1;
    recvmsg(own, &message, 0);
    return message.msg_flags & MSG_TRUNC ? 6 : 5;
}
"#;

/// Numbers of sockets come to mean files, and sockets get other numbers.
const REUSED: &str = r#"
static void be_file(int file)
{
    int value;
    socklen_t size = sizeof value;
    if (recv(file, &value, 1, 0) >= 0 || errno != ENOTSOCK)
        exit(1);
    if (accept(file, 0, 0) >= 0 || getsockopt(file, SOL_SOCKET, SO_TYPE, &value, &size) == 0)
        exit(2);
    if (bind(file, 0, 0) == 0 || listen(file, 1) == 0 || getsockname(file, 0, 0) == 0)
        exit(3);
}

int main(void)
{
    int spare = serve_on(SOCK_STREAM), second = serve_on(SOCK_STREAM);
    int own = serve_on(SOCK_STREAM);
    close(spare);
    if (open("/dev/null", O_RDONLY) != spare || dup2(spare, second) != second)
        exit(4);
    be_file(spare);
    be_file(second);
    int copy = dup(own);
    close(own);
    int peer = accept(copy, 0, 0);
    char byte;
    if (peer != own || getsockname(copy, 0, 0) || recv(peer, &byte, 1, 0) != 1)
        exit(5);
    close(copy);
    if (byte == 'k')
        abort();
}
"#;

/// Datagrams that are read as files are, and a timer among descriptors.
const PLAIN_READS: &str = r#"
int main(void)
{
    int own = serve_on(SOCK_DGRAM), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec hour = {.it_value.tv_sec = 3600};
    struct pollfd entry = {.fd = timer, .events = POLLIN};
    char text[3];
    struct iovec piece = {text, sizeof text};
    if (read(own, text, sizeof text) != 1 || text[0] != 'a')
        return 1;
    if (readv(own, &piece, 1) != 2)
        return 2;
    timerfd_settime(timer, 0, &hour, 0);
    if (poll(&entry, 1, -1) == 1 && text[0] == 't')
        abort();
    return 3;
}
"#;

/// What is the kernel's to do with messages, and what sockets are asked for.
const MESSAGES: &str = r#"
static int option(int own, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    getsockopt(own, SOL_SOCKET, name, &value, &size);
    return value;
}

static void take(int peer)
{
    char text[8], space[64];
    struct iovec piece = {text, sizeof text};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    if (recvmsg(peer, &message, 0) != 2 || memcmp(text, "go", 2))
        exit(4);
    if (message.msg_controllen || message.msg_flags || dup(0) != peer + 1)
        exit(5);
    abort();
}

int main(void)
{
    char text[4];
    int own = serve_on(SOCK_STREAM), other = socket(AF_INET, SOCK_DGRAM, 0);
    if (option(own, SO_TYPE) != SOCK_STREAM || option(other, SO_TYPE) != SOCK_DGRAM)
        return 1;
    if (option(own, SO_DOMAIN) != AF_INET)
        return 2;
    int peer = accept(own, 0, 0);
    if (recv(peer, text, 4, MSG_WAITALL) != 4 || memcmp(text, "wait", 4))
        return 3;
    take(peer);
}
"#;

/// A client knows nothing of the marks between messages either.
const CLIENT_MESSAGES: &str = r#"
int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char text[8], space[64];
    struct iovec piece = {text, sizeof text};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    int own = socket(AF_INET, SOCK_STREAM, 0);
    connect(own, (struct sockaddr *)&address, sizeof address);
    if (recvmsg(own, &message, 0) != 2)
        return 1;
    if (message.msg_controllen || message.msg_flags || dup(0) != own + 1)
        return 2;
    abort();
}
"#;

/// How much there is to be read of a file.
const FILE_SIZE: &str = r#"
int main(void)
{
    int count = 0, peer = accept(serve_on(SOCK_STREAM), 0, 0);
    ioctl(0, FIONREAD, &count);
    return peer < 0 || count == 2;
}
"#;

/// Children that were made before, and accept from one socket.
const PREFORKED: &str = r#"
static int *heard;

static void serve(int own)
{
    char letter;
    int peer = accept(own, 0, 0);
    if (peer < 0 || read(peer, &letter, 1) != 1)
        _exit(1);
    if (*heard && letter == 'y')
        abort();
    if (letter == 'x')
        *heard = 1;
    _exit(0);
}

int main(void)
{
    int own = serve_on(SOCK_STREAM);
    heard = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            serve(own);
    while (wait(0) > 0)
        ;
    return 0;
}
"#;

/// A child tells its parent what it has heard, in three ways. Or it is busy while it waits. Or
/// nobody reads, but how much there is to read is asked for.
const TELLING: &str = r#"
int main(int count, char **words)
{
    int own = serve_on(SOCK_STREAM), status, ends[2];
    char how = words[1][0], letter = 0, *common = 0;
    if (how == 'n') {
        ioctl(accept(own, 0, 0), FIONREAD, &status);
        return status == 1 ? 7 : 0;
    }
    if (how == 'm' || how == 'b')
        common = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pipe(ends);
    if (fork() == 0) {
        read(accept(own, 0, 0), &letter, 1);
        if (how == 'p')
            write(ends[1], &letter, 1);
        if (how == 'm')
            *common = letter;
        while (how == 'b' && !*(volatile char *)common)
            ;
        _exit(how == 's' ? letter : 0);
    }
    if (how == 'b')
        *common = 1;
    wait(&status);
    if (how == 'p')
        read(ends[0], &letter, 1);
    else
        letter = how == 'm' ? *common : WEXITSTATUS(status);
    return letter == 'k' ? 7 : 0;
}
"#;

/// Small connections, so that what a test looks for comes soon.
const SMALL: [&str; 6] =
    ["--source", "connection1=12", "--source", "connection2=12", "--max-runs", "4000"];

fn serve(dir: &TempDir, program: &str, options: &[&str]) -> Value {
    let source = [NET, program].concat();
    let options = [&["--strategy", "whitebox", "--lcov", "off"], &SMALL[..], options].concat();
    fuzz(dir.path(), &source, &["-pthread", "-w"], &options, &[])
}

/// The function in which the only bug is that there is, which the program itself has, too.
fn only_bug(stats: &Value) -> String {
    let found = bugs(stats);
    assert_eq!(found.len(), 1, "{found:?} {stats}");
    let plain = stats["bugs"][0]["plain"].as_str().expect("the program itself was asked");
    assert!(plain.contains("SIGABRT"), "{plain}");
    let place = found[0].rsplit_once('(').expect("a function").1;
    place.trim_end_matches(')').to_owned()
}

fn finds(program: &str, options: &[&str], function: &str) -> Value {
    let dir = TempDir::new().expect("temporary directory");
    let stats = serve(&dir, program, options);
    assert_eq!(only_bug(&stats), function);
    stats
}

fn losses(stats: &Value) -> u64 {
    let give_ups = stats["give_ups"].as_object().map_or(0, serde_json::Map::len) as u64;
    give_ups + stats["divergences"].as_u64().unwrap_or(0)
}

#[test]
fn a_second_connection_needs_the_first() {
    let stats = finds(LOOPING, &[], "talk");
    assert_eq!(losses(&stats), 0, "{stats}");
}

#[test]
fn children_of_a_daemon_get_messages_in_pieces() {
    let stats = finds(FORKING, &[], "talk");
    // A run that crashes with its child says nothing about what the parent would have done.
    assert!(stats["give_ups"]["forked child"].as_u64() >= stats["crashes"].as_u64(), "{stats}");
    assert_eq!(losses(&stats), 1, "{stats}");
}

#[test]
fn without_boundaries_a_message_is_whole() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = serve(&dir, FORKING, &["--messages", "0"]);
    assert_eq!(bugs(&stats), [""; 0]);
}

#[test]
fn poll_has_several_connections() {
    finds(POLLING, &[], "hear");
}

#[test]
fn epoll_and_sockets_that_do_not_wait() {
    finds(EPOLLING, &["--connections", "3"], "main");
}

/// A set has to be as large as the number of descriptors says, and no larger.
const SMALL_SETS: &str = r#"
int main(void)
{
    int own = serve_on(SOCK_STREAM);
    unsigned long *set = calloc(1, sizeof *set);
    *set = 1ul << own;
    if (select(own + 1, (fd_set *)set, NULL, NULL, NULL) != 1 || *set != 1ul << own)
        return 1;
    char byte = 0;
    if (recv(accept(own, NULL, NULL), &byte, 1, 0) == 1 && byte == 'x')
        abort();
    return 0;
}
"#;

#[test]
fn sets_of_descriptors_may_be_small() {
    finds(SMALL_SETS, &["--stop-on-bug"], "main");
}

#[test]
fn select_and_datagrams() {
    finds(DATAGRAMS, &[], "main");
}

#[test]
fn a_thread_for_each_connection() {
    finds(THREADED, &[], "talk");
}

#[test]
fn a_client_connects_to_one_after_the_other() {
    finds(CLIENT, &[], "main");
}

/// Exit codes of the inputs that a campaign has kept.
fn exit_codes(dir: &TempDir, options: &[&str]) -> Vec<String> {
    let arguments = [&["replay", "out"], options, &["--", "./program"]].concat();
    let replayed = tarragon(dir.path()).args(arguments).output().expect("starts");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let codes = text.lines().filter_map(|line| line.strip_prefix("exit ")?.split(' ').next());
    let mut codes: Vec<String> = codes.map(str::to_owned).collect();
    codes.sort();
    codes.dedup();
    codes
}

#[test]
fn sizes_of_datagrams_that_were_cut_are_known() {
    let dir = TempDir::new().expect("temporary directory");
    let source = [NET, CUT].concat();
    let sources = ["--connections", "2", "--source", "connection1=4", "--source", "connection2=4"];
    let options = [&sources[..], &["--exhaustive", "--keep-by", "paths"]].concat();
    let stats = fuzz(dir.path(), &source, &["-w"], &options, &[]);
    assert_eq!(stats["completeness"]["complete"], true, "{stats}");
    assert_eq!(exit_codes(&dir, &sources), ["1", "2", "4", "5", "6"]);
}

#[test]
fn a_file_is_no_socket_and_a_copy_is_one() {
    finds(REUSED, &["--stop-on-bug"], "main");
}

#[test]
fn datagrams_are_read_and_timers_fire() {
    let stats = finds(PLAIN_READS, &["--stop-on-bug"], "main");
    assert_eq!(losses(&stats), 0, "{stats}");
}

#[test]
fn messages_are_joined_or_not_as_is_asked_for() {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::write(dir.path().join("sizes"), [2, 2, 2]).expect("written");
    std::fs::write(dir.path().join("text"), "waitgo!").expect("written");
    let source = [NET, MESSAGES].concat();
    let seeds = ["--seeds", "messages=sizes", "--seeds", "connection1=text"];
    let options = [&["--connections", "1", "--max-runs", "1"], &seeds[..]].concat();
    assert_eq!(only_bug(&fuzz(dir.path(), &source, &["-w"], &options, &[])), "take");
}

#[test]
fn a_client_gets_no_marks() {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::write(dir.path().join("sizes"), [2, 2]).expect("written");
    std::fs::write(dir.path().join("text"), "go on").expect("written");
    let source = [NET, CLIENT_MESSAGES].concat();
    let seeds = ["--seeds", "messages=sizes", "--seeds", "connection1=text"];
    let options = [&["--connections", "1", "--max-runs", "1"], &seeds[..]].concat();
    assert_eq!(only_bug(&fuzz(dir.path(), &source, &["-w"], &options, &[])), "main");
}

#[test]
fn the_size_of_a_file_is_counted() {
    let dir = TempDir::new().expect("temporary directory");
    let source = [NET, FILE_SIZE].concat();
    let sources = ["--source", "stdin=4", "--source", "connection1=1", "--messages", "0"];
    let options = [&sources[..], &["--exhaustive"]].concat();
    let stats = fuzz(dir.path(), &source, &["-w"], &options, &[]);
    assert_ne!(stats["completeness"]["complete"], true, "{stats}");
    assert_ne!(losses(&stats), 0, "{stats}");
}

#[test]
fn children_that_were_forked_before_accept() {
    finds(PREFORKED, &["--stop-on-bug"], "serve");
}

/// What comes from a child is no input there, who is waited for is given up at last, and how much
/// there is to read has no expression: nothing is claimed.
#[test]
fn what_has_no_expression_is_counted() {
    let dir = TempDir::new().expect("temporary directory");
    let source = [NET, TELLING].concat();
    let options = ["--source", "connection1=1", "--messages", "0", "--exhaustive"];
    let options = [&options[..], &["--timeout", "20s"]].concat();
    for how in ["pipe", "memory", "status", "busy", "number"] {
        let stats = fuzz(dir.path(), &source, &["-w"], &options, &[how]);
        assert_ne!(stats["completeness"]["complete"], true, "{how}: {stats}");
        assert_ne!(losses(&stats), 0, "{how}: {stats}");
        assert_eq!(stats["timeouts"], 0, "{how}: {stats}");
        assert!(bugs(&stats).is_empty(), "{how}: {stats}");
        std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
    }
}

/// Who gives a server one connection is told that it can have more.
#[test]
fn one_connection_is_pointed_out() {
    for (options, expected) in [(&[][..], 1), (&["--connections", "2"], 0)] {
        let dir = TempDir::new().expect("temporary directory");
        let source = [NET, LOOPING].concat();
        let options = [options, &["--max-runs", "5"]].concat();
        let stats = fuzz(dir.path(), &source, &["-pthread", "-w"], &options, &[]);
        let notes = stats["notes"].as_array().expect("notes");
        let pointed = |note: &&Value| note.as_str().is_some_and(|n| n.contains("--connections 2"));
        assert_eq!(notes.iter().filter(pointed).count(), expected, "{notes:?}");
    }
}

#[test]
fn connections_that_cannot_be_are_refused() {
    let dir = TempDir::new().expect("temporary directory");
    let says = |options: &[&str], expected: &str| {
        let mut command = tarragon(dir.path());
        let output = command.arg("fuzz").args(options).args(["--", "./program"]).output();
        let text = String::from_utf8_lossy(&output.expect("starts").stderr).into_owned();
        assert!(text.contains(expected), "{expected}: {text}");
    };
    says(&["--connections", "0"], "0 is not in 1..=12");
    says(&["--connections", "13"], "13 is not in 1..=12");
    says(&["--source", "connection0"], "there is no source connection0");
    says(&["--source", "connection13"], "connection1 to connection12");
    says(&["--connections", "1", "--source", "connection1=70000"], "it must be 1 to 65535");
}
