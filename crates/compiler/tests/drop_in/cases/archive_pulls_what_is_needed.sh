# carries: use_shapes.o: use_shapes.c
# carries: shapes.o: shapes.c
# carries: edges.o: edges.c
# carries: unused.o: unused.c
# carries: program: use_shapes.c shapes.c
# carries: by_name: use_shapes.c shapes.c
$CC -c use_shapes.c shapes.c edges.c unused.c
ar rcsD libshapes.a shapes.o edges.o unused.o
$CC use_shapes.o libshapes.a -o program
$CC use_shapes.o -L. -lshapes -o by_name
