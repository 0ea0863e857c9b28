/* Files that are input: those that a program opens or asks about by names of its own. Each name
 * gets a file with its own content, which is there, or missing, a directory, or unreadable. */
#define _GNU_SOURCE
#include "models.h"
#include "surroundings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Faults come first, if they are asked for, too. */
#ifdef TARRAGON_FAULTS
#define ANSWER(name) tarragon_files_##name
#else
#define ANSWER(name) name
#endif

/* What is known of a file: its state, its permissions, when it was changed. */
enum { STATE, PERMISSIONS, CHANGED = 3, FACTS = 8 };
enum { IS_THERE, IS_MISSING, IS_DIRECTORY, IS_UNREADABLE };
enum { USUAL_PERMISSIONS = 0644, USUAL_TIME = 1000000000 };

struct file {
    char *name;
    struct tarragon_part *content;
    const unsigned char *facts;
    /* Of the file with the content, once it was opened. */
    struct stat real;
    /* Where the program has written it anew. */
    char *written;
};

static struct file files[TARRAGON_FILES];
static int count;

/* Paths that the program made itself: they are what it made of them. */
enum { MADE = 32 };
static char *made[MADE];
static int made_count;

static char *copy(const char *text)
{
    char *to = malloc(strlen(text) + 1);
    return to ? strcpy(to, text) : NULL;
}

static int begins(const char *path, const char *start)
{
    return strncmp(path, start, strlen(start)) == 0;
}

/* Names that mean what they always mean. */
static int is_real(const char *path)
{
    if (path[0] == 0 || tarragon_is_named_file(path))
        return 1;
    if (path[0] == '/')
        if (begins(path, "/dev/") || begins(path, "/proc/") || begins(path, "/usr/"))
            return 1;
    for (int i = 0; i < made_count; i++)
        if (strcmp(made[i], path) == 0)
            return 1;
    return 0;
}

/* Whether a file of that name can be made at all is for the system to say. */
static void note_made(const char *path)
{
    if (made_count < MADE && (made[made_count] = copy(path)))
        made_count++;
}

TARRAGON_OWN static struct file *tarragon_add_file(const char *path)
{
    struct file *file = &files[count];
    struct tarragon_part *facts = tarragon_part("files");
    file->content = tarragon_numbered("file", count + 1);
    if (!facts || !file->content)
        return NULL;
    file->facts = facts->bytes + count * FACTS;
    count++;
    static const char *const STATES[] = { "there", "missing", "a directory", "unreadable" };
    int state = file->facts[STATE] <= IS_UNREADABLE ? file->facts[STATE] : IS_THERE;
    tarragon_tell("%s is %s, which is %s", file->content->name, path, STATES[state]);
    return file;
}

/* The file of that name; null if it is not input. Names beyond the number of files are missing,
 * which `is_beyond` says. */
static struct file *find(const char *path, int *is_beyond)
{
    *is_beyond = 0;
    if (is_real(path))
        return NULL;
    for (int i = 0; i < count; i++)
        if (strcmp(files[i].name, path) == 0)
            return &files[i];
    if (count == TARRAGON_FILES) {
        *is_beyond = 1;
        return NULL;
    }
    struct file *file = tarragon_add_file(path);
    if (file && !(file->name = copy(path)))
        file = NULL;
    return file;
}

static int state(const struct file *file)
{
    switch (file->facts[STATE]) {
    case IS_MISSING: return IS_MISSING;
    case IS_DIRECTORY: return IS_DIRECTORY;
    case IS_UNREADABLE: return IS_UNREADABLE;
    default: return IS_THERE;
    }
}

static int fails(int error)
{
    errno = error;
    return -1;
}

static void *refused(int error)
{
    errno = error;
    return NULL;
}

/* The path of a file's content: what is input, or what the program has written since it cut it. */
TARRAGON_OWN static const char *tarragon_content(struct file *file, int flags)
{
    const char *name = tarragon_named_file(file->content);
    if (!name)
        return refused(EIO);
    if (flags & O_TRUNC && !file->written) {
        char path[4096];
        snprintf(path, sizeof path, "%s-written", name);
        int made = open(path, O_CREAT | O_WRONLY, 0644);
        if (made < 0)
            return NULL;
        close(made);
        file->written = strdup(path);
    }
    if (!file->written && file->real.st_ino == 0)
        stat(name, &file->real);
    return file->written ? file->written : name;
}

/* A directory that can be opened. */
TARRAGON_OWN static const char *tarragon_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder ? folder : "/tmp";
}

/* The path under which the system opens what the program means; null if it does not open. */
static const char *resolved(const char *path, int flags)
{
    int is_beyond;
    int writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT;
    struct file *file = find(path, &is_beyond);
    if (!file && (!is_beyond || flags & O_CREAT))
        return path;
    switch (file ? state(file) : IS_MISSING) {
    case IS_MISSING:
        if (!(flags & O_CREAT))
            return refused(ENOENT);
        note_made(path);
        return path;
    case IS_DIRECTORY:
        return writes ? refused(EISDIR) : tarragon_folder();
    case IS_UNREADABLE:
        return refused(EACCES);
    }
    if ((flags & O_CREAT) && (flags & O_EXCL))
        return refused(EEXIST);
    if (flags & O_DIRECTORY)
        return refused(ENOTDIR);
    return tarragon_content(file, flags);
}

static int open_file(const char *path, int flags, int mode)
{
    const char *meant = resolved(path, flags);
    if (!meant)
        return -1;
    return open(meant, meant == path ? flags : flags & ~O_EXCL, mode);
}

static int mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
}

int ANSWER(open)(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    return open_file(path, flags, mode);
}

int ANSWER(open64)(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    return open_file(path, flags, mode);
}

int ANSWER(openat)(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    if (folder != AT_FDCWD && path[0] != '/')
        return openat(folder, path, flags, mode);
    return open_file(path, flags, mode);
}

int creat(const char *path, mode_t mode)
{
    return open_file(path, O_CREAT | O_WRONLY | O_TRUNC, (int)mode);
}

static int flags_of(const char *mode)
{
    int both = strchr(mode, '+') != NULL;
    int flags = mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : O_CREAT | O_APPEND;
    if (strchr(mode, 'x'))
        flags |= O_EXCL;
    return flags | (both ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY);
}

/* What the C library makes of other modes is its business. */
static const char *resolved_for(const char *path, const char *mode)
{
    return strchr("rwa", mode[0]) ? resolved(path, flags_of(mode)) : path;
}

FILE *ANSWER(fopen)(const char *path, const char *mode)
{
    const char *meant = resolved_for(path, mode);
    return meant ? fopen(meant, mode) : NULL;
}

FILE *ANSWER(fopen64)(const char *path, const char *mode)
{
    const char *meant = resolved_for(path, mode);
    return meant ? fopen64(meant, mode) : NULL;
}

/* The stream is closed whatever the answer. */
FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    const char *meant = path ? resolved_for(path, mode) : NULL;
    if (!path || meant)
        return freopen(meant, mode, stream);
    int error = errno;
    fclose(stream);
    return refused(error);
}

static mode_t permissions(const struct file *file)
{
    unsigned bits = file->facts[PERMISSIONS] | (unsigned)file->facts[PERMISSIONS + 1] << 8;
    return (bits ^ USUAL_PERMISSIONS) & 0777;
}

static void describe(const struct file *file, int state, struct stat *status)
{
    unsigned later = 0;
    for (int i = 3; i >= 0; i--)
        later = later << 8 | file->facts[CHANGED + i];
    memset(status, 0, sizeof *status);
    status->st_dev = 1;
    status->st_ino = (ino_t)(file - files + 1);
    status->st_nlink = 1;
    status->st_uid = getuid();
    status->st_gid = getgid();
    status->st_blksize = 4096;
    status->st_mtime = USUAL_TIME + (time_t)later;
    status->st_atime = status->st_ctime = status->st_mtime;
    switch (state) {
    case IS_DIRECTORY:
        status->st_mode = S_IFDIR | 0755;
        break;
    case IS_UNREADABLE:
        status->st_mode = S_IFREG;
        break;
    default:
        status->st_mode = S_IFREG | permissions(file);
        status->st_size = (off_t)file->content->length;
    }
}

/* Whether the path is input; if so, `answer` is what a call for its status returns. */
static int answers_status(const char *path, struct stat *status, int *answer)
{
    int is_beyond;
    struct file *file = find(path, &is_beyond);
    if (!file && !is_beyond)
        return 0;
    int now = file ? state(file) : IS_MISSING;
    *answer = now == IS_MISSING ? fails(ENOENT) : 0;
    if (now != IS_MISSING)
        describe(file, now, status);
    return 1;
}

int stat(const char *path, struct stat *status)
{
    int answer;
    return answers_status(path, status, &answer) ? answer : stat(path, status);
}

int lstat(const char *path, struct stat *status)
{
    int answer;
    return answers_status(path, status, &answer) ? answer : lstat(path, status);
}

/* With 64 bits the two are one. */
int stat64(const char *path, struct stat64 *status)
{
    int answer;
    return answers_status(path, (struct stat *)status, &answer) ? answer : stat64(path, status);
}

int lstat64(const char *path, struct stat64 *status)
{
    int answer;
    return answers_status(path, (struct stat *)status, &answer) ? answer : lstat64(path, status);
}

/* Descriptors of files that are input, and were not written anew. How large they are the system
 * says. */
TARRAGON_OWN static struct file *tarragon_opened(const struct stat *status)
{
    for (int i = 0; i < count; i++)
        if (files[i].real.st_ino == status->st_ino && files[i].real.st_dev == status->st_dev)
            return &files[i];
    return NULL;
}

static void describe_opened(struct stat *status)
{
    const struct file *file = tarragon_opened(status);
    off_t size = status->st_size;
    if (!file)
        return;
    describe(file, IS_THERE, status);
    status->st_size = size;
}

int fstat(int descriptor, struct stat *status)
{
    int result = fstat(descriptor, status);
    if (result == 0)
        describe_opened(status);
    return result;
}

int fstat64(int descriptor, struct stat64 *status)
{
    int result = fstat64(descriptor, status);
    if (result == 0)
        describe_opened((struct stat *)status);
    return result;
}

int fstatat(int folder, const char *path, struct stat *status, int flags)
{
    int answer;
    if ((folder == AT_FDCWD || path[0] == '/') && answers_status(path, status, &answer))
        return answer;
    return fstatat(folder, path, status, flags);
}

int fstatat64(int folder, const char *path, struct stat64 *status, int flags)
{
    int answer;
    struct stat *known = (struct stat *)status;
    if ((folder == AT_FDCWD || path[0] == '/') && answers_status(path, known, &answer))
        return answer;
    return fstatat64(folder, path, status, flags);
}

int access(const char *path, int wanted)
{
    int is_beyond;
    struct file *file = find(path, &is_beyond);
    if (!file && !is_beyond)
        return access(path, wanted);
    switch (file ? state(file) : IS_MISSING) {
    case IS_MISSING: return fails(ENOENT);
    case IS_DIRECTORY: return 0;
    case IS_UNREADABLE: return wanted == F_OK ? 0 : fails(EACCES);
    }
    return (wanted & X_OK) && !(permissions(file) & 0111) ? fails(EACCES) : 0;
}

/* A directory that is read: its content has a name on each line. */
struct listing {
    const struct file *file;
    size_t next;
    int dots;
    struct dirent entry;
};

enum { LISTINGS = 16 };
static struct listing *listings[LISTINGS];

static struct listing **place_of(const void *directory)
{
    for (int i = 0; i < LISTINGS; i++)
        if (listings[i] == directory)
            return &listings[i];
    return NULL;
}

DIR *opendir(const char *path)
{
    int is_beyond;
    struct file *file = find(path, &is_beyond);
    if (!file && !is_beyond)
        return opendir(path);
    switch (file ? state(file) : IS_MISSING) {
    case IS_MISSING: return refused(ENOENT);
    case IS_THERE: return refused(ENOTDIR);
    case IS_UNREADABLE: return refused(EACCES);
    }
    struct listing **place = place_of(NULL);
    struct listing *listing = place ? calloc(1, sizeof *listing) : NULL;
    if (!listing)
        return refused(EMFILE);
    listing->file = file;
    return (DIR *)(*place = listing);
}

/* Slashes and ends of lines part names. */
static struct dirent *next_entry(struct listing *listing)
{
    const struct tarragon_part *names = listing->file->content;
    size_t size = 0;
    if (listing->dots < 2) {
        strcpy(listing->entry.d_name, listing->dots++ == 0 ? "." : "..");
        return &listing->entry;
    }
    while (size == 0 && listing->next < names->length) {
        while (listing->next < names->length) {
            unsigned char byte = names->bytes[listing->next++];
            if (byte == '\n' || byte == '/' || byte == 0)
                break;
            listing->entry.d_name[size++] = (char)byte;
            if (size == sizeof listing->entry.d_name - 1)
                break;
        }
    }
    listing->entry.d_name[size] = 0;
    return size == 0 ? NULL : &listing->entry;
}

struct dirent *readdir(DIR *directory)
{
    struct listing **place = place_of(directory);
    return place ? next_entry(*place) : readdir(directory);
}

struct dirent64 *readdir64(DIR *directory)
{
    struct listing **place = place_of(directory);
    return place ? (struct dirent64 *)next_entry(*place) : readdir64(directory);
}

void rewinddir(DIR *directory)
{
    struct listing **place = place_of(directory);
    if (!place) {
        rewinddir(directory);
        return;
    }
    (*place)->next = 0;
    (*place)->dots = 0;
}

int closedir(DIR *directory)
{
    struct listing **place = place_of(directory);
    if (!place)
        return closedir(directory);
    free(*place);
    *place = NULL;
    return 0;
}
