/* Resolves paths.
 *
 * The mistake is that of Figure 2 of "Directed Test Generation using Symbolic Grammars", once in wu-ftpd: the check of the length in `join`
 * adds one for a separator where the folder is the root, which needs none, and forgets it everywhere else. A path whose folder is not the
 * root and that has exactly MAX_PATH bytes without its end passes the check, and its end is written behind the buffer. Paths on
 * command lines are too short for that, unless a link, or the current folder, stands for more bytes than were typed. */
#include "ftp.h"

#include <string.h>

/* Appends a name to the path of a folder. */
static enum path_error join(char *resolved, const char *name)
{
    int rootd = resolved[0] == '/' && resolved[1] == '\0';
    if (*name) {
        if (strlen(resolved) + strlen(name) + (size_t)rootd + 1 > MAX_PATH)
            return PATH_TOO_LONG;
        if (rootd == 0)
            strcat(resolved, "/");
        strcat(resolved, name);
    }
    return PATH_OK;
}

static enum path_error walk(struct node *root, struct node **folder, const char *path, int links);

/* Enters what a component of a path names. */
static enum path_error enter(struct node *root, struct node **folder, const char *name, size_t length, int links)
{
    struct node *node;
    if (length == 0 || (length == 1 && name[0] == '.'))
        return PATH_OK;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
        *folder = (*folder)->parent;
        return PATH_OK;
    }
    node = tree_find(*folder, name, length);
    if (!node || node->kind == PLAIN)
        return PATH_NO_FOLDER;
    if (node->kind == FOLDER) {
        *folder = node;
        return PATH_OK;
    }
    return links == 0 ? PATH_TOO_MANY_LINKS : walk(root, folder, node->target, links - 1);
}

/* Enters all components of a path, which are folders or links to folders. */
static enum path_error walk(struct node *root, struct node **folder, const char *path, int links)
{
    if (*path == '/')
        *folder = root;
    while (*path) {
        const char *end = strchr(path, '/');
        size_t length = end ? (size_t)(end - path) : strlen(path);
        enum path_error error = enter(root, folder, path, length, links);
        if (error != PATH_OK)
            return error;
        path += length + (end != NULL);
    }
    return PATH_OK;
}

/* Moves the last component of a path to `name`; what is left is its folder. */
static void split(char *path, char *name)
{
    char *slash = strrchr(path, '/');
    strcpy(name, slash ? slash + 1 : path);
    if (slash)
        slash[slash == path] = '\0';
    else
        path[0] = '\0';
}

/* Finds the folder that a path ends in and the name that it ends with, links followed. */
static enum path_error locate(struct node *root, struct place *place, char *path, char *name)
{
    int links;
    for (links = MAX_LINKS; links >= 0; links--) {
        enum path_error error;
        split(path, name);
        error = walk(root, &place->folder, path, links);
        if (error != PATH_OK)
            return error;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            place->folder = name[1] ? place->folder->parent : place->folder;
            name[0] = '\0';
        }
        place->node = *name ? tree_find(place->folder, name, strlen(name)) : place->folder;
        if (!place->node || place->node->kind != LINK)
            return PATH_OK;
        strcpy(path, place->node->target);
    }
    return PATH_TOO_MANY_LINKS;
}

/* Finds out what a path leads to. `resolved` has room for MAX_PATH bytes and gets the same path without links; its last component
 * need not exist. */
enum path_error path_resolve(struct node *root, struct node *current, const char *path, struct place *place,
                             char *resolved)
{
    char work[MAX_PATH], name[MAX_PATH];
    enum path_error error;
    if (strlen(path) >= sizeof work)
        return PATH_TOO_LONG;
    strcpy(work, path);
    place->folder = current;
    error = locate(root, place, work, name);
    if (error != PATH_OK)
        return error;
    if (tree_path(place->folder, resolved, MAX_PATH) != 0)
        return PATH_TOO_LONG;
    error = join(resolved, name);
    place->name = *name ? strrchr(resolved, '/') + 1 : "";
    return error;
}
