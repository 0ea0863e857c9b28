/* Library code that changes memory behind Tarragon's back. */
void scramble(unsigned char *bytes, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (unsigned char)(bytes[i] * 7 + 3);
}

void fill(unsigned char *bytes, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (unsigned char)('a' + i);
}

int twice(int (*function)(int), int x)
{
    return function(function(x));
}
