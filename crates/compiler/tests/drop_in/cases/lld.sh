# carries: use_shapes.o: use_shapes.c
# carries: shapes.o: shapes.c
# carries: program: use_shapes.c shapes.c
$CC -c -g use_shapes.c shapes.c
$CC -fuse-ld=lld use_shapes.o shapes.o -o program
