# carries: shapes.o: shapes.c
# carries: program: shapes.c use_shapes.c
$CC -c shapes.c
$CC use_shapes.c shapes.o -o program
