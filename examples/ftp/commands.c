/* The commands: what they are called, what they need, and what they do. */
#include "ftp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void reply(int code, const char *text)
{
    printf("%d %s\r\n", code, text);
}

static void reply_with(int code, const char *text, const char *path)
{
    printf("%d %s \"%s\"\r\n", code, text, path);
}

/* Finds what a path leads to, or says why that cannot be. */
static int find(struct session *session, const char *path, struct place *place, char *resolved)
{
    switch (path_resolve(session->root, session->current, path, place, resolved)) {
    case PATH_OK:
        return 1;
    case PATH_TOO_LONG:
        reply(553, "path too long");
        return 0;
    case PATH_NO_FOLDER:
        reply(550, "no such folder");
        return 0;
    case PATH_TOO_MANY_LINKS:
        reply(550, "too many links");
        return 0;
    }
    return 0;
}

/* The same for something that has to be there, of one kind. */
static struct node *find_kind(struct session *session, const char *path, enum kind kind, char *resolved)
{
    struct place place;
    if (!find(session, path, &place, resolved))
        return NULL;
    if (place.node && place.node->kind == kind)
        return place.node;
    reply(550, kind == FOLDER ? "no such folder" : "no such file");
    return NULL;
}

static int is_used(const struct session *session, const struct node *folder)
{
    const struct node *above = session->current;
    while (above != folder && above->parent != above)
        above = above->parent;
    return above == folder;
}

static void user(struct session *session, char *argument)
{
    if (strlen(argument) >= sizeof session->user) {
        reply(501, "name too long");
        return;
    }
    strcpy(session->user, argument);
    session->logged_in = strcmp(argument, "anonymous") == 0;
    reply(session->logged_in ? 230 : 331, session->logged_in ? "logged in" : "password?");
}

static void pass(struct session *session, char *argument)
{
    session->logged_in = strcmp(session->user, "admin") == 0 && strcmp(argument, "tarragon") == 0;
    reply(session->logged_in ? 230 : 530, session->logged_in ? "logged in" : "wrong password");
}

static void cwd(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct node *folder = find_kind(session, argument, FOLDER, resolved);
    if (folder) {
        session->current = folder;
        reply_with(250, "now in", resolved);
    }
}

static void cdup(struct session *session, char *argument)
{
    (void)argument;
    session->current = session->current->parent;
    reply(250, "done");
}

static void pwd(struct session *session, char *argument)
{
    char path[MAX_PATH];
    (void)argument;
    if (tree_path(session->current, path, sizeof path) == 0)
        reply_with(257, "in", path);
    else
        reply(550, "path too long");
}

static void mkd(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct place place;
    if (!find(session, argument, &place, resolved))
        return;
    if (place.node)
        reply(550, "exists");
    else if (!tree_add(place.folder, FOLDER, place.name, NULL))
        reply(452, "no room");
    else
        reply_with(257, "made", resolved);
}

static void rmd(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct node *folder = find_kind(session, argument, FOLDER, resolved);
    if (!folder)
        return;
    if (folder->first || is_used(session, folder)) {
        reply(550, "in use");
        return;
    }
    tree_remove(folder);
    reply_with(250, "removed", resolved);
}

static void dele(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct node *file = find_kind(session, argument, PLAIN, resolved);
    if (file) {
        tree_remove(file);
        reply_with(250, "removed", resolved);
    }
}

static void retr(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    if (find_kind(session, argument, PLAIN, resolved))
        reply_with(226, "sent", resolved);
}

static void stor(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct place place;
    if (!find(session, argument, &place, resolved))
        return;
    if (place.node && place.node->kind == FOLDER) {
        reply(550, "is a folder");
        return;
    }
    if (!place.node)
        place.node = tree_add(place.folder, PLAIN, place.name, NULL);
    if (!place.node) {
        reply(452, "no room");
        return;
    }
    place.node->size += session->binary ? 512 : 80;
    reply_with(226, "stored", resolved);
}

static void size(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct node *file = find_kind(session, argument, PLAIN, resolved);
    if (file)
        printf("213 %zu\r\n", file->size);
}

static void list(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    const struct node *node, *folder = session->current;
    if (*argument && !(folder = find_kind(session, argument, FOLDER, resolved)))
        return;
    for (node = folder->first; node; node = node->next)
        printf(" %c %04o %6zu %s\r\n", "d-l"[node->kind], node->mode, node->size, node->name);
    reply(226, "listed");
}

static void rnfr(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct place place;
    if (!find(session, argument, &place, resolved))
        return;
    if (!place.node || is_used(session, place.node)) {
        reply(550, "cannot be renamed");
        return;
    }
    session->renamed = place.node;
    reply_with(350, "new name of", resolved);
}

static void rnto(struct session *session, char *argument)
{
    char resolved[MAX_PATH];
    struct place place;
    if (!session->renamed) {
        reply(503, "RNFR first");
        return;
    }
    if (!find(session, argument, &place, resolved))
        return;
    if (place.node || tree_move(session->renamed, place.folder, place.name) != 0)
        reply(550, "cannot be renamed");
    else
        reply_with(250, "renamed", resolved);
}

/* SITE CHMOD mode path */
static void site(struct session *session, char *argument)
{
    char resolved[MAX_PATH], *rest;
    struct place place;
    unsigned long mode;
    if (strncasecmp(argument, "CHMOD ", 6) != 0) {
        reply(500, "no such command");
        return;
    }
    mode = strtoul(argument + 6, &rest, 8);
    if (rest == argument + 6 || *rest != ' ' || mode > 0777) {
        reply(501, "no mode");
        return;
    }
    if (!find(session, rest + 1, &place, resolved))
        return;
    if (!place.node) {
        reply(550, "no such file");
        return;
    }
    place.node->mode = (unsigned)mode;
    reply_with(200, "changed", resolved);
}

static void type(struct session *session, char *argument)
{
    if (strcasecmp(argument, "I") == 0 || strcasecmp(argument, "A") == 0) {
        session->binary = strcasecmp(argument, "I") == 0;
        reply(200, "done");
    } else {
        reply(504, "I or A");
    }
}

static void noop(struct session *session, char *argument)
{
    (void)session;
    (void)argument;
    reply(200, "done");
}

static void quit(struct session *session, char *argument)
{
    (void)argument;
    session->over = 1;
    reply(221, "bye");
}

enum need { NOTHING, PERHAPS, ARGUMENT };

static const struct command {
    const char *name;
    enum need need;
    int before_login;
    void (*run)(struct session *, char *);
} commands[] = {
    {"USER", ARGUMENT, 1, user}, {"PASS", ARGUMENT, 1, pass}, {"CWD", ARGUMENT, 0, cwd},   {"CDUP", NOTHING, 0, cdup},
    {"PWD", NOTHING, 0, pwd},    {"MKD", ARGUMENT, 0, mkd},   {"RMD", ARGUMENT, 0, rmd},   {"DELE", ARGUMENT, 0, dele},
    {"RETR", ARGUMENT, 0, retr}, {"STOR", ARGUMENT, 0, stor}, {"SIZE", ARGUMENT, 0, size}, {"LIST", PERHAPS, 0, list},
    {"RNFR", ARGUMENT, 0, rnfr}, {"RNTO", ARGUMENT, 0, rnto}, {"SITE", ARGUMENT, 0, site}, {"TYPE", ARGUMENT, 0, type},
    {"NOOP", NOTHING, 1, noop},  {"QUIT", NOTHING, 1, quit},
};

static const struct command *command_named(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcasecmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

/* Runs a command line without its end. */
void run_command(struct session *session, char *line)
{
    char *argument = strchr(line, ' ');
    const struct command *command;
    if (argument)
        *argument++ = '\0';
    else
        argument = line + strlen(line);
    command = command_named(line);
    if (!command)
        reply(500, "no such command");
    else if (!session->logged_in && !command->before_login)
        reply(530, "log in first");
    else if (command->need == ARGUMENT ? !*argument : command->need == NOTHING && *argument)
        reply(501, "wrong argument");
    else
        command->run(session, argument);
    if (command && command->run != rnfr)
        session->renamed = NULL;
}
