# carries: shapes.o: shapes.c
$CC -c hello.c broken.c
$CC -c shapes.c
