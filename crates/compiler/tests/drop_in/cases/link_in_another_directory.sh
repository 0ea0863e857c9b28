# carries: out/a.o: use_shapes.c
# carries: out/b.o: shapes.c
# carries: out/bin/program: use_shapes.c shapes.c
mkdir -p out/bin
$CC -c use_shapes.c -o out/a.o
$CC -c shapes.c -o out/b.o
cd out/bin
$CC ../a.o ../b.o -o program
