$CC -c broken.c
$CC broken.c -o program
$CC undefined.c -o program
$CC -c missing.c
$CC -c hello.c --no-such-option
$CC -c hello.c -o no/such/directory/hello.o
$CC nothing.o
$CC -c shapes.c edges.c -o one.o
$CXX -c broken.c
