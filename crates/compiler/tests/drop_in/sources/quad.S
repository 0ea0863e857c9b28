#define FOUR 4
    .text
    .globl quad
quad:
    imull $FOUR, %edi, %eax
    ret
    .section .note.GNU-stack,"",@progbits
