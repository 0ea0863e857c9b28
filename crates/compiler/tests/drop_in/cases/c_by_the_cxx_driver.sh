# carries: shapes.o: shapes.c
# carries: program: shapes.c use
sed 's/#include "shapes.h"/extern int area(int, int);/' use_shapes.c > use
$CXX -c shapes.c
$CXX -x c++ use -x none shapes.o -o program
