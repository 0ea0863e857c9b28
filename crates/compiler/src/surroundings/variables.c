/* Environment variables that the program asks for are input: each is as it is, or has a value of
 * its own. */
#define _GNU_SOURCE
#include "models.h"
#include "surroundings.h"

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
    if (**is_set)
        tarragon_tell("%s is the variable %s", part->name, name);
    return part;
}

static struct variable *add(const char *name)
{
    struct variable *variable = &variables[count];
    const struct tarragon_part *part = tarragon_next_variable(name, &variable->is_set);
    if (!part)
        return NULL;
    variable->name = malloc(strlen(name) + 1);
    variable->value = calloc(1, part->capacity + 1);
    if (!variable->name || !variable->value)
        return NULL;
    strcpy(variable->name, name);
    memcpy(variable->value, part->bytes, part->capacity);
    count++;
    return variable;
}

static struct variable *find(const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            return &variables[i];
    return count < TARRAGON_VARIABLES ? add(name) : NULL;
}

char *getenv(const char *name)
{
    struct variable *variable = find(name);
    return variable && *variable->is_set ? variable->value : getenv(name);
}

char *secure_getenv(const char *name)
{
    struct variable *variable = find(name);
    return variable && *variable->is_set ? variable->value : secure_getenv(name);
}
