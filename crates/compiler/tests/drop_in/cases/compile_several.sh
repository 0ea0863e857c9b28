# carries: shapes.o: shapes.c
# carries: edges.o: edges.c
$CC -c shapes.c edges.c -O3 -g
