// Numbers, characters and strings printed into memory and looked at again.
//@ max-len: 8
//@ max-runs: 2000
//@ random: "\0\x01\x10 09azAZ\xff"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[8] = {0};
    char out[64], name[4];
    if (read(0, in, 8) != 8)
        return 1;
    int number = (short)(in[0] | in[1] << 8);
    memcpy(name, in + 4, 3);
    name[3] = 0;
    int size = snprintf(out, sizeof out, "<%d|%5u|%-4x|%c|%s|%ld|%.1f>", number, in[2], in[3], in[7], name, (long)in[2], 0.5);
    printf("%d %s\n", size, out);
    if (!strncmp(out, "<1234|", 6))
        puts("decimal");
    if (!strncmp(out, "<-99|", 5))
        puts("negative");
    if (strstr(out, "|c7  |"))
        puts("hex");
    if (strstr(out, "|yes|"))
        puts("string");
    sprintf(out, "%03d", in[2]);
    if (!strcmp(out, "042"))
        puts("padded");
    return 0;
}
