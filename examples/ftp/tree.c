/* The tree of folders, files and links. */
#include "ftp.h"

#include <stdlib.h>
#include <string.h>

static size_t nodes;

static struct node *node_new(enum kind kind, const char *name, const char *target)
{
    struct node *node;
    if (nodes >= MAX_NODES || !(node = calloc(1, sizeof *node)))
        return NULL;
    node->kind = kind;
    node->mode = kind == FOLDER ? 0755 : 0644;
    node->name = strdup(name);
    node->target = target ? strdup(target) : NULL;
    if (!node->name || (target && !node->target)) {
        free(node->name);
        free(node->target);
        free(node);
        return NULL;
    }
    nodes++;
    return node;
}

static void node_free(struct node *node)
{
    free(node->name);
    free(node->target);
    free(node);
    nodes--;
}

struct node *tree_find(const struct node *folder, const char *name, size_t length)
{
    struct node *node;
    for (node = folder->first; node; node = node->next)
        if (strlen(node->name) == length && memcmp(node->name, name, length) == 0)
            return node;
    return NULL;
}

static void attach(struct node *node, struct node *folder)
{
    node->parent = folder;
    node->next = folder->first;
    folder->first = node;
}

static void detach(struct node *node)
{
    struct node **place = &node->parent->first;
    while (*place != node)
        place = &(*place)->next;
    *place = node->next;
}

struct node *tree_add(struct node *folder, enum kind kind, const char *name, const char *target)
{
    struct node *node = node_new(kind, name, target);
    if (node)
        attach(node, folder);
    return node;
}

/* Removes a node that is no folder, or an empty one. */
void tree_remove(struct node *node)
{
    detach(node);
    node_free(node);
}

/* Gives a node another name in another folder; -1 if that folder is the node or in it, or there is no memory. */
int tree_move(struct node *node, struct node *folder, const char *name)
{
    const struct node *above;
    char *copy;
    for (above = folder; above->parent != above; above = above->parent)
        if (above == node)
            return -1;
    copy = strdup(name);
    if (!copy)
        return -1;
    free(node->name);
    node->name = copy;
    detach(node);
    attach(node, folder);
    return 0;
}

/* Writes the path of a node; -1 if it has no room in `size` bytes. */
int tree_path(const struct node *node, char *path, size_t size)
{
    size_t start = size;
    if (size < 2)
        return -1;
    path[--start] = '\0';
    if (node->parent == node)
        path[--start] = '/';
    for (; node->parent != node; node = node->parent) {
        size_t length = strlen(node->name);
        if (length + 1 > start)
            return -1;
        start -= length;
        memcpy(path + start, node->name, length);
        path[--start] = '/';
    }
    memmove(path, path + start, size - start);
    return 0;
}

struct node *tree_new(void)
{
    struct node *root = node_new(FOLDER, "", NULL), *srv, *archive, *public;
    if (!root)
        return NULL;
    root->parent = root;
    srv = tree_add(root, FOLDER, "srv", NULL);
    archive = srv ? tree_add(srv, FOLDER, "archive", NULL) : NULL;
    public = archive ? tree_add(archive, FOLDER, "public-ftp", NULL) : NULL;
    /* A name of one letter that stands for a path of 23. */
    if (!public || !tree_add(public, PLAIN, "readme", NULL) || !tree_add(root, FOLDER, "tmp", NULL)
        || !tree_add(root, LINK, "p", "/srv/archive/public-ftp")) {
        tree_free(root);
        return NULL;
    }
    return root;
}

void tree_free(struct node *root)
{
    struct node *node = root;
    while (node->first || node != root) {
        if (node->first) {
            node = node->first;
            continue;
        }
        struct node *folder = node->parent;
        tree_remove(node);
        node = folder;
    }
    node_free(root);
}
