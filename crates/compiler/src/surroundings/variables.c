/* Environment variables that the program asks for are input: each is as it is, or has a value of
 * its own. */
#define _GNU_SOURCE
#include "models.h"
#include "surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable {
    char *name;
    char *value;
    const unsigned char *is_set;
};

static struct variable variables[TARRAGON_VARIABLES];
static int count;

TARRAGON_OWN static const struct tarragon_part *tarragon_next_variable(
    const char *name, const unsigned char **is_set)
{
    struct tarragon_part *choices = tarragon_part("variables");
    struct tarragon_part *part = tarragon_numbered("variable", count + 1);
    if (!choices || !part)
        return NULL;
    *is_set = choices->bytes + count;
    if (**is_set) {
        tarragon_tell("%s is the variable %s", part->name, name);
        /* For those who look at the list itself, and for other programs. */
        char value[part->capacity + 1];
        snprintf(value, sizeof value, "%.*s", (int)part->capacity, (const char *)part->bytes);
        setenv(name, value, 1);
    }
    return part;
}

static struct variable *add(const char *name)
{
    struct variable *variable = &variables[count];
    const struct tarragon_part *part = tarragon_next_variable(name, &variable->is_set);
    if (!part)
        return NULL;
    variable->name = malloc(strlen(name) + 1);
    size_t room = tarragon_room(part);
    variable->value = calloc(1, room + 1);
    if (!variable->name || !variable->value)
        return NULL;
    strcpy(variable->name, name);
    memcpy(variable->value, part->bytes, room);
    count++;
    return variable;
}

/* What the program has set or removed is what it made of it. */
struct own {
    struct own *next;
    char name[];
};
static struct own *owned;

static int is_own(const char *name)
{
    for (const struct own *own = owned; own; own = own->next)
        if (strcmp(own->name, name) == 0)
            return 1;
    return 0;
}

static void take_over(const char *name, size_t size)
{
    struct own *own = malloc(sizeof *own + size + 1);
    if (!own)
        return;
    memcpy(own->name, name, size);
    own->name[size] = 0;
    own->next = owned;
    owned = own;
}

/* No variable has another name. */
static int is_name(const char *name)
{
    return name[0] != 0 && !strchr(name, '=');
}

static int is_cleared;

static struct variable *find(const char *name)
{
    if (is_cleared || !is_name(name) || is_own(name))
        return NULL;
    for (int i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            return &variables[i];
    return count < TARRAGON_VARIABLES ? add(name) : NULL;
}

static char *value_of(const char *name, char *real)
{
    struct variable *variable = find(name);
    return variable && *variable->is_set ? variable->value : real;
}

char *getenv(const char *name)
{
    return value_of(name, getenv(name));
}

char *secure_getenv(const char *name)
{
    return value_of(name, secure_getenv(name));
}

/* Without `overwrite`, a variable that there is stays: whether there is one may be input. */
int setenv(const char *name, const char *value, int overwrite)
{
    if (!name || !is_name(name))
        return setenv(name, value, overwrite);
    if (!overwrite && value_of(name, getenv(name)))
        return 0;
    take_over(name, strlen(name));
    return setenv(name, value, 1);
}

int unsetenv(const char *name)
{
    if (name && is_name(name))
        take_over(name, strlen(name));
    return unsetenv(name);
}

int putenv(char *text)
{
    take_over(text, strcspn(text, "="));
    return putenv(text);
}

int clearenv(void)
{
    is_cleared = 1;
    return clearenv();
}
