/* Hands the parts of a container to a program: as its standard input, as files, as words.
 *
 * `tarragon_parts`, `tarragon_container` and TARRAGON_LINE come from the layout of the container.
 * The program's arguments and variables hold marks where a part belongs. */
#define _GNU_SOURCE
#include "layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the program has connections. */
__attribute__((weak)) void tarragon_begin_sessions(void);

/* In the traced variant: these bytes of memory, or what a descriptor delivers, are of the input. */
__attribute__((weak)) void __tarragon_holds(void *memory, size_t place, size_t size);
__attribute__((weak)) void __tarragon_holds_length(size_t *length, size_t place, size_t head,
                                                   size_t capacity);
__attribute__((weak)) void __tarragon_delivers(int descriptor, size_t place, size_t head,
                                               size_t capacity);
/* That it stays open. */
__attribute__((weak)) void __tarragon_watches(int descriptor);
/* Whether a part goes on here was asked for, and whether its byte here is zero. */
__attribute__((weak)) void __tarragon_asks_piece(size_t place, size_t offset);
/* Whether the byte of the input at this place is zero was asked for. */
__attribute__((weak)) void __tarragon_asks_zero(size_t place);

/* In the sanitized variant: what is reported of the run. */
__attribute__((weak)) void __tarragon_reports(const char *text);

extern char **environ;

enum { PARTS = sizeof tarragon_parts / sizeof *tarragon_parts };

TARRAGON_OWN struct tarragon_part *tarragon_part(const char *name)
{
    for (int i = 0; i < PARTS; i++)
        if (strcmp(tarragon_parts[i].name, name) == 0)
            return &tarragon_parts[i];
    return NULL;
}

TARRAGON_OWN struct tarragon_part *tarragon_numbered(const char *name, int number)
{
    char text[64];
    snprintf(text, sizeof text, "%s%d", name, number);
    return tarragon_part(text);
}

/* The standard error, which programs close when they end; out of the way of their descriptors. */
enum { AWAY = 200 };
static int told_to = 2;

TARRAGON_OWN void tarragon_tell(const char *format, ...)
{
    char line[512];
    va_list more;
    va_start(more, format);
    int begin = sprintf(line, "tarragon: ");
    vsnprintf(line + begin, sizeof line - (size_t)begin - 1, format, more);
    va_end(more);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    strcat(line, "\n");
    dprintf(told_to, "%s", line);
    if (__tarragon_reports)
        __tarragon_reports(line);
}

TARRAGON_OWN static void note_delivery(int descriptor, const struct tarragon_part *part)
{
    if (__tarragon_delivers)
        __tarragon_delivers(descriptor, part->place, part->head, part->capacity);
}

TARRAGON_OWN void tarragon_delivers(int descriptor, const struct tarragon_part *part)
{
    note_delivery(descriptor, part);
    if (__tarragon_watches)
        __tarragon_watches(descriptor);
}

TARRAGON_OWN static void refuse(const char *why)
{
    dprintf(2, "tarragon: %s: this input is no container for the program's sources\n", why);
    _exit(2);
}

/* A file can be read from its start in any process, a pipe only once. By system calls, since the
 * library's functions have models. */
TARRAGON_OWN static void read_container(void)
{
    size_t got = 0;
    int is_file = lseek(0, 0, SEEK_CUR) >= 0;
    while (got < sizeof tarragon_container) {
        unsigned char *to = tarragon_container + got;
        size_t size = sizeof tarragon_container - got;
        long count =
            is_file ? syscall(SYS_pread64, 0, to, size, got) : syscall(SYS_read, 0, to, size);
        if (count <= 0)
            break;
        got += (size_t)count;
    }
    size_t line = strlen(TARRAGON_LINE);
    if (got < line || memcmp(tarragon_container, TARRAGON_LINE, line))
        refuse("standard input");
}

TARRAGON_OWN static void take_part(struct tarragon_part *part)
{
    const unsigned char *head = part->bytes - part->head;
    size_t length = part->head == 0 ? part->capacity : head[0];
    if (part->head == 2)
        length |= (size_t)head[1] << 8;
    part->length = length < part->capacity ? length : part->capacity;
    if (__tarragon_holds) {
        __tarragon_holds(part->bytes, part->place, part->capacity);
        __tarragon_holds_length(&part->length, part->place, part->head, part->capacity);
    }
}

TARRAGON_OWN static int fill(int file, const struct tarragon_part *part)
{
    size_t done = 0;
    while (file >= 0 && done < part->length) {
        ssize_t count = write(file, part->bytes + done, part->length - done);
        if (count <= 0) {
            close(file);
            return -1;
        }
        done += (size_t)count;
    }
    if (file >= 0) {
        lseek(file, 0, SEEK_SET);
        note_delivery(file, part);
    }
    return file;
}

TARRAGON_OWN int tarragon_file(const struct tarragon_part *part)
{
    return fill(memfd_create(part->name, MFD_CLOEXEC), part);
}

/* The standard input is the part of that name, or empty. */
TARRAGON_OWN static void set_standard_input(void)
{
    struct tarragon_part *part = tarragon_part("stdin");
    int file = part ? tarragon_file(part) : open("/dev/null", O_RDONLY);
    if (file < 0 || dup2(file, 0) < 0)
        refuse(strerror(errno));
    if (file != 0)
        close(file);
}

/* Memory of exactly this size, so that a build that checks sees reads beyond it. */
TARRAGON_OWN static char *word_of(const char *text, size_t length)
{
    char *word = malloc(length + 1);
    if (!word)
        refuse("no memory");
    memcpy(word, text, length);
    word[length] = 0;
    return word;
}

TARRAGON_OWN int tarragon_process(void)
{
    static int process;
    if (process == 0)
        process = getpid();
    return process;
}

/* The program may change the variable. */
TARRAGON_OWN const char *tarragon_folder(void)
{
    static char *folder;
    if (!folder)
        folder = strdup(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return folder;
}

TARRAGON_OWN size_t tarragon_room(const struct tarragon_part *part)
{
    return __tarragon_holds ? part->capacity : strnlen((const char *)part->bytes, part->capacity);
}

/* The names of files that were made, by the numbers of their parts. */
static char *names[PARTS];

TARRAGON_OWN const char *tarragon_named_file(struct tarragon_part *part)
{
    char **name = &names[part - tarragon_parts];
    if (*name)
        return *name;
    char path[4096];
    /* That of `@@1` is called `input1`. */
    const char *start = part->name[0] == '@' ? "input" : "tarragon-";
    const char *end = part->name[0] == '@' ? part->name + 2 : part->name;
    snprintf(path, sizeof path, "%s/%s%s", tarragon_folder(), start, end);
    int file = fill(open(path, O_RDWR | O_CREAT | O_TRUNC, 0644), part);
    if (file < 0)
        return NULL;
    close(file);
    return *name = word_of(path, strlen(path));
}

TARRAGON_OWN int tarragon_is_named_file(const char *path)
{
    for (int i = 0; i < PARTS; i++)
        if (names[i] && strcmp(names[i], path) == 0)
            return 1;
    return 0;
}

/* Of a word of the program. */
TARRAGON_OWN static const char *file_name(struct tarragon_part *part)
{
    const char *name = tarragon_named_file(part);
    if (!name)
        refuse(part->name);
    return name;
}

/* Where the next piece of the part `words` begins: pieces end at zero bytes. */
static size_t next_piece;

/* Takes the next piece: where it begins, and how long it is. */
TARRAGON_OWN static size_t take_piece(const struct tarragon_part *part, size_t *start)
{
    size_t at = *start = next_piece;
    for (; at <= part->length; at++) {
        if (__tarragon_asks_piece)
            __tarragon_asks_piece(part->place, at);
        if (at == part->length || part->bytes[at] == 0)
            break;
    }
    if (at > part->length)
        return 0;
    next_piece = at + 1;
    return at - *start;
}

/* What marks begin and end with, around the name of a part. */
static const char MARK[] = "{tarragon:", MARK_END = '}';
/* Of the last argument: an argument for each piece that is left. */
static const char REST[] = "{tarragon:rest}";

/* Words that are made of parts and text are longer than that in no program. */
enum { LONGEST = 1 << 17 };

/* The name of the part that a mark is for: that of a file is not `@@1` but `file1`, since the
 * driver looks for the former. */
TARRAGON_OWN static void mark_name(char *name, size_t size, const char *mark)
{
    static const char FILES[] = "file";
    int is_file = strncmp(mark, FILES, strlen(FILES)) == 0;
    const char *rest = is_file ? mark + strlen(FILES) : mark;
    snprintf(name, size, "%s%.*s", is_file ? "@@" : "", (int)strcspn(rest, "}"), rest);
}

/* A word in the making. */
struct word {
    char text[LONGEST];
    size_t length;
    /* Which of it is input: where, from which place, how much. */
    struct { size_t at, place, size; } inputs[PARTS];
    int count;
};

TARRAGON_OWN static void add(struct word *word, const void *bytes, size_t size)
{
    if (word->length + size >= LONGEST)
        refuse("a word is too long");
    memcpy(word->text + word->length, bytes, size);
    word->length += size;
}

/* A text ends at its first zero. At the end of a word nobody has to know where that is: the
 * program asks for what it looks at. Builds that check get no more than there is. */
TARRAGON_OWN static void add_text(struct word *word, const struct tarragon_part *part,
                                  int ends_word)
{
    size_t length = strnlen((const char *)part->bytes, part->capacity);
    size_t size = ends_word ? tarragon_room(part) : length;
    for (size_t i = 0; !ends_word && __tarragon_asks_zero && i <= size && i < part->capacity; i++)
        __tarragon_asks_zero(part->place + i);
    if (word->count < PARTS && size > 0) {
        word->inputs[word->count].at = word->length;
        word->inputs[word->count].place = part->place;
        word->inputs[word->count++].size = size;
    }
    add(word, part->bytes, size);
}

/* A word with parts in the place of marks; the word itself if it has none. */
TARRAGON_OWN static char *filled(char *given)
{
    static struct word word;
    char *rest = given, *mark;
    if (!strstr(given, MARK))
        return given;
    word.length = 0;
    word.count = 0;
    for (; (mark = strstr(rest, MARK)); rest = strchr(mark, MARK_END) + 1) {
        char name[256];
        mark_name(name, sizeof name, mark + strlen(MARK));
        struct tarragon_part *part = tarragon_part(name);
        if (!part || !strchr(mark, MARK_END))
            refuse(given);
        add(&word, rest, (size_t)(mark - rest));
        if (name[0] == '@')
            add(&word, file_name(part), strlen(file_name(part)));
        else
            add_text(&word, part, strchr(mark, MARK_END)[1] == 0);
    }
    add(&word, rest, strlen(rest));
    char *made = word_of(word.text, word.length);
    for (int i = 0; i < word.count && __tarragon_holds; i++)
        __tarragon_holds(made + word.inputs[i].at, word.inputs[i].place, word.inputs[i].size);
    return made;
}

/* An argument for each piece that is left. */
TARRAGON_OWN static char **with_rest(int *count, char **arguments)
{
    struct tarragon_part *part = tarragon_part("words");
    if (!part)
        refuse(REST);
    char **all = malloc(((size_t)*count + part->capacity + 2) * sizeof *all);
    int kept = *count - 1;
    if (!all)
        refuse("no memory");
    memcpy(all, arguments, (size_t)kept * sizeof *all);
    if (__tarragon_asks_piece)
        __tarragon_asks_piece(part->place, 0);
    while (part->length != 0 && next_piece <= part->length) {
        size_t start, size = take_piece(part, &start);
        all[kept] = word_of((const char *)part->bytes + start, size);
        if (__tarragon_holds)
            __tarragon_holds(all[kept], part->place + start, size);
        kept++;
    }
    all[kept] = NULL;
    *count = kept;
    return all;
}

TARRAGON_OWN static char **begin(int *count, char **arguments)
{
    int away = fcntl(2, F_DUPFD_CLOEXEC, AWAY);
    told_to = away < 0 ? 2 : away;
    tarragon_process();
    tarragon_folder();
    read_container();
    if (tarragon_begin_sessions)
        tarragon_begin_sessions();
    for (int i = 0; i < PARTS; i++)
        take_part(&tarragon_parts[i]);
    set_standard_input();
    /* Nothing delivers words, but whether pieces go on is asked of them. */
    if (tarragon_part("words"))
        note_delivery(-1, tarragon_part("words"));
    int takes_rest = *count > 1 && strcmp(arguments[*count - 1], REST) == 0;
    for (int i = 1; i < *count - takes_rest; i++)
        arguments[i] = filled(arguments[i]);
    if (takes_rest)
        arguments = with_rest(count, arguments);
    for (char **variable = environ; variable && *variable; variable++)
        *variable = filled(*variable);
    return arguments;
}

/* Around the program's own, which the name means here. */
int main(int count, char **arguments, char **variables)
{
    arguments = begin(&count, arguments);
    return main(count, arguments, variables);
}
