# carries: use_shapes.o: use_shapes.c
# carries: shapes.o: shapes.c
# carries: program: use_shapes.c shapes.c
# carries: small: use_shapes.c shapes.c
$CC -g -c use_shapes.c shapes.c
strip --strip-debug use_shapes.o
objcopy --strip-unneeded shapes.o
$CC use_shapes.o shapes.o -o program
strip program
$CC -s use_shapes.o shapes.o -o small
