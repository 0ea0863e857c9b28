// Formats that the input has a say in.
//@ exhaustive: max-len=2 paths=10 complete
//@ random: "abc\0\x01%d"
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[2] = {0};
    if (read(0, in, 2) != 2)
        return 1;
    char to[32] = "", print[8] = "%d=", scan[4] = "%d";
    int number = 0, count = 0;
    switch (in[0]) {
    case 'a':
        print[1] = 'd' + (in[1] & 1) * 20;
        snprintf(to, sizeof to, print, 255);
        puts(to[0] == 'f' ? "hexadecimal" : "decimal");
        break;
    case 'b':
        print[2] = in[1] & 3;
        snprintf(to, sizeof to, print, 7);
        puts(to[1] == 2 ? "text of the input" : "other");
        break;
    case 'c':
        scan[1] = 'd' + (in[1] & 1) * 20;
        sscanf("12", scan, &number);
        puts(number == 12 ? "decimal" : "hexadecimal");
        break;
    case 'd':
        snprintf(to, sizeof to, "%d%n", in[1], &count);
        puts(count == 3 ? "three" : count == 2 ? "two" : "one");
        break;
    }
    return 0;
}
