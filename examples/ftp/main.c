/* Reads command lines. */
#include "ftp.h"

#include <stdio.h>
#include <string.h>

/* Skips the rest of a line; 0 at the end of the input. */
static int skip_line(void)
{
    int c;
    while ((c = getchar()) != '\n')
        if (c == EOF)
            return 0;
    return 1;
}

int main(void)
{
    char line[MAX_LINE];
    struct session session = {.user = "anonymous", .logged_in = 1};
    session.root = session.current = tree_new();
    if (!session.root)
        return 1;
    reply(220, "ready");
    while (!session.over && fgets(line, sizeof line, stdin)) {
        size_t length = strcspn(line, "\r\n");
        if (line[length] == '\0' && length + 1 == sizeof line) {
            reply(500, "line too long");
            if (!skip_line())
                break;
            continue;
        }
        line[length] = '\0';
        run_command(&session, line);
    }
    tree_free(session.root);
    return 0;
}
