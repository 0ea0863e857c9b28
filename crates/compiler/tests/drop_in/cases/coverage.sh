# carries: shapes.o: shapes.c
# volatile: shapes.o
$CC --coverage -c shapes.c
