# carries: shapes.o: shapes.c
# carries: program: use_shapes.c shapes.c
$CC -fsanitize=undefined -fsanitize-trap=all -g -c shapes.c
$CC -fsanitize=undefined -fsanitize-trap=all use_shapes.c shapes.c -o program
