# carries: use_shapes.o: use_shapes.c
# carries: shapes.o: shapes.c
# carries: edges.o: edges.c
# carries: program: use_shapes.c shapes.c edges.c
$CC -c use_shapes.c shapes.c edges.c
ar rcD libshapes.a shapes.o edges.o
ranlib -D libshapes.a
$CC use_shapes.o -Wl,--whole-archive libshapes.a -Wl,--no-whole-archive -o program
