# carries: shapes.o: shapes.c
# carries: edges.o: edges.c
# carries: lib/libshapes.so: shapes.c edges.c
# carries: program: use_both.c
mkdir lib
$CC -fPIC -c shapes.c edges.c
$CC -shared shapes.o edges.o -Wl,-soname,libshapes.so -o lib/libshapes.so
$CC use_both.c -Llib -lshapes '-Wl,-rpath,$ORIGIN/lib' -o program
