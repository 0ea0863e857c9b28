/* Reads one request of a small web server: an action, a blank, and a path.
 *
 * The mistakes are the three of "Execution Generated Test Cases" (section 6.3): the action gets ten bytes however long it is
 * (Figure 5), a request that is too short has no action, which the caller does not ask, and a path of nothing but
 * leading dots and slashes is shortened for ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first word of a request; none if the request is too short. */
static char *action_of(const char *request)
{
    char *action = malloc(10);
    int i = 0;
    if (!action)
        exit(1);
    if (strlen(request) < 3) {
        free(action);
        return NULL;
    }
    while (request[i] != ' ' && request[i] != 0) {
        action[i] = request[i];
        i++;
    }
    action[i] = 0;
    return action;
}

/* Removes what would lead out of the served folder. */
static void strip_leading(char *path)
{
    while (path[0] == '.' || path[0] == '/')
        for (int i = 1; path[i] != 0; i++) {
            path[i - 1] = path[i];
            if (path[i + 1] == 0)
                path[i] = 0;
        }
}

int main(void)
{
    char request[48];
    if (!fgets(request, sizeof request, stdin))
        return 1;
    char *action = action_of(request);
    if (strcmp(action, "GET") != 0 && strcmp(action, "HEAD") != 0) {
        puts("501 Not Implemented");
        free(action);
        return 1;
    }
    char *path = request + strlen(action);
    if (path[0] == ' ')
        path++;
    strip_leading(path);
    printf("%s of %s\n", action, path);
    free(action);
    return 0;
}
