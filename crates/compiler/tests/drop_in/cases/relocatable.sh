# carries: use_quad.o: use_quad.c
# carries: unused.o: unused.c
# carries: joined.o: use_quad.c
# carries: program: use_quad.c unused.c
$CC -c use_quad.c triple.s quad.S unused.c
$CC -r use_quad.o triple.o quad.o -o joined.o
rm triple.o quad.o
$CC joined.o unused.o -o program
