// Assembly asks the kernel for the input.
//@ exhaustive: max-len=1 paths=1 incomplete
//@ seed: "a"
//@ gives-up: input read by code that is not followed
//@ lost-through: inline assembly
int main(void)
{
    static char byte;
    long got;
    __asm__ volatile("syscall" : "=a"(got) : "a"(0), "D"(0), "S"(&byte), "d"(1) : "rcx", "r11", "memory");
    return got != 1 ? 1 : byte == 'x' ? 2 : 0;
}
