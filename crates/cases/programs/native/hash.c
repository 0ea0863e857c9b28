/* A hash function that Tarragon cannot see into. */
int hash(int y)
{
    unsigned h = 2166136261u;
    for (int i = 0; i < 4; i++)
        h = (h ^ ((unsigned)y >> 8 * i & 0xff)) * 16777619u;
    return (int)(h >> 3);
}
