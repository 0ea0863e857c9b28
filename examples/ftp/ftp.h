/* A small file server: commands like those of FTP from the standard input, replies to the standard output. Its files are a tree in
 * memory, and it touches no others. */
#ifndef FTP_H
#define FTP_H

#include <stddef.h>

enum {
    MAX_PATH = 1024,  /* a resolved path, its end included */
    MAX_LINE = 1024,  /* a command line, its end included */
    MAX_LINKS = 8,    /* links that are followed for one path */
    MAX_NODES = 4096, /* files, folders and links */
};

/* tree.c */

enum kind { FOLDER, PLAIN, LINK };

struct node {
    enum kind kind;
    char *name;
    char *target; /* of a link: a path */
    size_t size;  /* of a plain file */
    unsigned mode;
    struct node *parent; /* of the root: itself */
    struct node *first;  /* of a folder's content */
    struct node *next;   /* in the same folder */
};

struct node *tree_new(void);
void tree_free(struct node *root);
struct node *tree_find(const struct node *folder, const char *name, size_t length);
struct node *tree_add(struct node *folder, enum kind kind, const char *name, const char *target);
void tree_remove(struct node *node);
int tree_move(struct node *node, struct node *folder, const char *name);
int tree_path(const struct node *node, char *path, size_t size);

/* path.c */

enum path_error { PATH_OK, PATH_TOO_LONG, PATH_NO_FOLDER, PATH_TOO_MANY_LINKS };

/* What a path leads to: a name in a folder, empty for the folder itself, and the node of that name, if there is one. */
struct place {
    struct node *folder;
    struct node *node;
    const char *name;
};

enum path_error path_resolve(struct node *root, struct node *current, const char *path, struct place *place,
                             char *resolved);

/* commands.c */

struct session {
    struct node *root;
    struct node *current;
    struct node *renamed; /* by RNFR, until the next command */
    char user[32];
    int logged_in;
    int binary;
    int over;
};

void reply(int code, const char *text);
void run_command(struct session *session, char *line);

#endif
