# carries: use_quad.o: use_quad.c
# carries: unused.o: unused.c
# carries: program: use_quad.c
$CC -c use_quad.c unused.c
mkdir objects
$CC -c triple.s -o objects/triple.o
$CC -c quad.S -o objects/quad.o
ar rcsTD libthin.a objects/triple.o objects/quad.o unused.o
$CC use_quad.o libthin.a -o program
rm -r objects
