// Bit-fields, signed and unsigned, across byte borders.
//@ seed: "\x00\x00\x00\x00"
#include <unistd.h>

struct packet {
    unsigned version : 3;
    int offset : 5;
    unsigned flag : 1;
    unsigned length : 11;
    unsigned rest : 12;
};

int main(void)
{
    union {
        struct packet packet;
        unsigned char bytes[4];
    } in;
    if (read(0, in.bytes, 4) != 4)
        return 1;
    if (in.packet.version != 5)
        return 2;
    if (in.packet.offset != -16)
        return 3;
    if (!in.packet.flag)
        return 4;
    in.packet.rest = in.packet.length;
    if (in.packet.rest == 1234)
        return 5;
    return 0;
}
