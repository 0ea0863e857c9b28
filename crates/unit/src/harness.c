/* What all harnesses share. It includes nothing and has names of its own, so it fits any source. */
typedef unsigned char tg_byte;
typedef unsigned long tg_size;
extern long tg_sys_read(int, void *, tg_size) __asm__("read");
extern long tg_sys_write(int, const void *, tg_size) __asm__("write");
extern void *tg_stream __asm__("stdout");
extern void *tg_sys_malloc(tg_size) __asm__("malloc");
extern int tg_sys_compare(const char *, const char *) __asm__("strcmp");
extern void tg_sys_exit(int) __asm__("_exit") __attribute__((noreturn));
extern void tg_sys_abort(void) __asm__("abort") __attribute__((noreturn));
extern void *__asan_region_is_poisoned(void *, tg_size) __attribute__((weak));

/* The input, which is read from its start on; beyond its end there are zeros. */
static tg_byte tg_tape[TG_TAPE];
static tg_size tg_at;

static void tg_take(void *to, tg_size size)
{
    tg_size left = TG_TAPE - tg_at, there = size < left ? size : left;
    __builtin_memcpy(to, tg_tape + tg_at, there);
    if (there < size)
        __builtin_memset((tg_byte *)to + there, 0, size - there);
    tg_at += there;
}

/* One of 0 to n - 1, which is concrete on each path. */
static unsigned tg_choose(unsigned n)
{
    tg_byte choice;
    unsigned i;
    if (n < 2)
        return 0;
    tg_take(&choice, 1);
    for (i = 0; i + 1 < n; i++)
        if (choice == i)
            return i;
    return n - 1;
}

/* Memory that was made up, or that a caller has: parameters, globals. Side 1 is for a second
 * function, which gets its own copy of everything. */
struct tg_object {
    tg_byte *address;
    tg_size size, count;
    unsigned type;
    /* A parameter, a global, or memory of our own. */
    char kind;
};
static struct tg_object tg_objects[2][TG_OBJECTS];
static unsigned tg_count[2], tg_side;

static int tg_has_room(void)
{
    return tg_count[tg_side] < TG_OBJECTS;
}

static void tg_register(void *address, unsigned type, tg_size size, tg_size count, char kind)
{
    struct tg_object *object = &tg_objects[tg_side][tg_count[tg_side]];
    if (!tg_has_room())
        return;
    object->kind = kind;
    object->address = (tg_byte *)address;
    object->type = type;
    object->size = size;
    object->count = count;
    tg_count[tg_side]++;
}

static void *tg_new(unsigned type, tg_size size, tg_size count)
{
    void *made = tg_sys_malloc(size * count);
    if (!made)
        tg_sys_abort();
    __builtin_memset(made, 0, size * count);
    tg_register(made, type, size, count, 'm');
    return made;
}

/* Earlier objects of a type, for pointers that are equal or lead in a circle. */
static int tg_is_one(struct tg_object *object, unsigned type)
{
    return object->type == type && object->kind == 'm' && object->count == 1;
}

static unsigned tg_earlier(unsigned type)
{
    unsigned i, found = 0;
    for (i = 0; i < tg_count[tg_side] && found < TG_SHARED; i++)
        found += (unsigned)tg_is_one(&tg_objects[tg_side][i], type);
    return found;
}

static void *tg_earlier_at(unsigned type, unsigned number)
{
    unsigned i;
    for (i = 0; i < tg_count[tg_side]; i++)
        if (tg_is_one(&tg_objects[tg_side][i], type) && number-- == 0)
            return tg_objects[tg_side][i].address;
    return 0;
}

/* A text ends with the memory that it is in. */
static void *tg_text(unsigned type, unsigned size)
{
    tg_byte characters[TG_TEXT], *text;
    unsigned length = 0;
    tg_take(characters, sizeof characters);
    while (length < TG_TEXT && characters[length])
        length++;
    text = tg_new(type, size, length + 1);
    __builtin_memcpy(text, characters, length);
    return text;
}

static void tg_take_bits(tg_byte *record, unsigned first, unsigned width)
{
    unsigned long value, i;
    tg_take(&value, (width + 7) / 8);
    for (i = 0; i < width; i++) {
        tg_byte bit = (tg_byte)(value >> i & 1), *at = record + (first + i) / 8;
        unsigned shift = (first + i) % 8;
        *at = (tg_byte)((*at & ~(1u << shift)) | (unsigned)bit << shift);
    }
}

/* Describing a run: lines of words on standard output, each after a mark. */
static int tg_describes;

static void tg_put(const char *text)
{
    tg_sys_write(1, text, __builtin_strlen(text));
}

static void tg_put_number(tg_size number)
{
    char text[24];
    unsigned at = sizeof text - 1;
    text[at] = 0;
    do
        text[--at] = (char)('0' + number % 10);
    while (number /= 10);
    tg_put(" ");
    tg_put(text + at);
}

static void tg_put_bytes(const void *from, tg_size size)
{
    const tg_byte *bytes = (const tg_byte *)from;
    char text[128];
    tg_size i, used = 0;
    tg_put(" x");
    for (i = 0; i < size; i++) {
        text[used++] = "0123456789abcdef"[bytes[i] >> 4];
        text[used++] = "0123456789abcdef"[bytes[i] & 15];
        if (used == sizeof text || i + 1 == size) {
            tg_sys_write(1, text, used);
            used = 0;
        }
    }
}

static void tg_say(const char *word)
{
    if (!tg_describes)
        return;
    tg_put("\n@tarragon ");
    tg_put(word);
}

static void tg_end(void)
{
    if (tg_describes)
        tg_put(" .\n");
}

static void tg_say_value(const char *word, const char *name, const void *value, tg_size size)
{
    if (!tg_describes)
        return;
    tg_say(word);
    tg_put(" ");
    tg_put(name);
    tg_put_bytes(value, size);
    tg_end();
}

static void tg_say_objects(const char *word)
{
    unsigned i;
    if (!tg_describes)
        return;
    for (i = 0; i < tg_count[tg_side]; i++) {
        struct tg_object *object = &tg_objects[tg_side][i];
        char kind[3] = {' ', object->kind, 0};
        tg_say(word);
        tg_put(kind);
        tg_put_number(object->type);
        tg_put_number(object->count);
        tg_put_number((tg_size)object->address);
        tg_put_bytes(object->address, object->size * object->count);
        tg_end();
    }
}

static void tg_unmet(void)
{
    tg_say("unmet");
    tg_end();
    tg_sys_exit(TG_UNMET);
}

static void tg_begin(unsigned side)
{
    tg_side = side;
    tg_at = 0;
    tg_count[side] = 0;
}

/* Comparing what two functions did. */
static int tg_same_bytes(const tg_byte *one, const tg_byte *other, tg_size size)
{
    tg_byte difference = 0;
    tg_size i;
    for (i = 0; i < size; i++)
        difference |= one[i] ^ other[i];
    return difference == 0;
}

static int tg_close(double one, double other)
{
    double difference = one > other ? one - other : other - one;
    double first = one < 0 ? -one : one, second = other < 0 ? -other : other;
    double larger = first > second ? first : second;
    if (larger < 1)
        larger = 1;
    return one == other || difference <= TG_TOLERANCE * larger || (one != one && other != other);
}

/* The object that an address is in; with none, all are. */
static unsigned tg_object_of(unsigned side, const tg_byte *address)
{
    unsigned i;
    for (i = 0; i < tg_count[side]; i++) {
        struct tg_object *object = &tg_objects[side][i];
        if (address >= object->address && address <= object->address + object->size * object->count)
            return i;
    }
    return TG_OBJECTS;
}

static int tg_same_pointer(const tg_byte *one, const tg_byte *other, int is_text)
{
    unsigned in_one, in_other;
    if (!one || !other)
        return one == other;
    in_one = tg_object_of(0, one);
    in_other = tg_object_of(1, other);
    if (in_one != in_other)
        return 0;
    if (in_one != TG_OBJECTS)
        return one - tg_objects[0][in_one].address == other - tg_objects[1][in_other].address;
    return !is_text || tg_sys_compare((const char *)one, (const char *)other) == 0;
}

static int tg_is_freed(struct tg_object *object)
{
    return __asan_region_is_poisoned && object->size * object->count > 0
        && __asan_region_is_poisoned(object->address, object->size * object->count) != 0;
}

static __attribute__((noinline, unused)) void tg_violated(void)
{
    tg_say("violated");
    tg_end();
    tg_sys_abort();
}

/* `return a == b` is no branch, but both of its results are of interest. */
static __attribute__((noinline, unused)) void tg_look_at(unsigned long result)
{
    static volatile int seen;
    if (result == 0)
        seen = 1;
    else if (result == 1)
        seen = 2;
    else
        seen = 3;
}
