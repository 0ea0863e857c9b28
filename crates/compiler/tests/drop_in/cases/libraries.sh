# carries: program: threads.c
# carries: other: threads.c
$CC -pthread threads.c -o program -lm
$CC -pthread threads.c -o other -Wl,--as-needed,-lm -Xlinker -z -Xlinker now
