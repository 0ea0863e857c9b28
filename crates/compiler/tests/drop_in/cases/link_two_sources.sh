# carries: program: use_shapes.c shapes.c
$CC use_shapes.c -Wall shapes.c -o program
