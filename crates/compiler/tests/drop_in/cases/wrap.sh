# carries: program: wrapped.c
$CC wrapped.c -Wl,--wrap=calloc -o program
