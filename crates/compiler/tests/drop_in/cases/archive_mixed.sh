# carries: use_quad.o: use_quad.c
# carries: unused.o: unused.c
# carries: program: use_quad.c
$CC -c use_quad.c unused.c triple.s quad.S
llvm-ar-22 rcsD libmixed.a triple.o quad.o unused.o
$CC use_quad.o libmixed.a -o program
rm libmixed.a triple.o quad.o
