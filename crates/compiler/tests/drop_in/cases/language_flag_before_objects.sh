# carries: shapes.o: shapes.c
# carries: program: shapes.c text
cp use_shapes.c text
$CC -c shapes.c
$CC -xc text -xnone shapes.o -o program
