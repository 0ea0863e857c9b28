/* A hash of a text that Tarragon cannot see into. */
unsigned text_hash(const char *text, unsigned size)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < size; i++) {
        h = (h ^ (unsigned char)text[i]) * 16777619u;
        h ^= h >> 13;
    }
    return h;
}
