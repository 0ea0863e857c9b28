/* Resolves a path of a file server: components are joined one after the other, and one of them is a link.
 *
 * The mistake is that of Figure 2 of "Directed Test Generation using Symbolic Grammars": the check of the length adds the
 * separator where the folder is the root and forgets it elsewhere, so the result may be one byte too long. */
#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 24 };

static const char link_name[] = "pub";
static const char link_target[] = "/srv/public/archives";

/* Appends a component to a resolved path; 0 if that would be too long. */
static int join(char *resolved, const char *component)
{
    int root = resolved[0] == '/' && resolved[1] == 0;
    if (strcmp(component, link_name) == 0) {
        strcpy(resolved, link_target);
        return 1;
    }
    if (*component) {
        if (strlen(resolved) + strlen(component) + (size_t)root + 1 > MAX_PATH)
            return 0;
        if (!root)
            strcat(resolved, "/");
        strcat(resolved, component);
    }
    return 1;
}

int main(void)
{
    char line[64], *component, *rest = line;
    if (!fgets(line, sizeof line, stdin))
        return 1;
    char resolved[MAX_PATH] = "/";
    while ((component = strsep(&rest, "/\n")) != NULL)
        if (!join(resolved, component)) {
            puts("path too long");
            return 1;
        }
    puts(resolved);
    return 0;
}
