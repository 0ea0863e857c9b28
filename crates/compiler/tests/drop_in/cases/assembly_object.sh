# carries: use_triple.o: use_triple.c
# carries: program: use_triple.c
$CC -c triple.s
$CC -c use_triple.c
$CC use_triple.o triple.o -o program
