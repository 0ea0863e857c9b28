    .text
    .globl triple
    .type triple, @function
triple:
    leal (%rdi,%rdi,2), %eax
    ret
    .size triple, .-triple
    .section .note.GNU-stack,"",@progbits
