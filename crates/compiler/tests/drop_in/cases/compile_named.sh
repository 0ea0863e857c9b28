# carries: sub/x.o: hello.c
# carries: y.o: hello.c
# carries: z.o: hello.c
mkdir sub
$CC -O2 -c hello.c -o sub/x.o
$CC -c -oy.o hello.c
$CC -c --output=z.o hello.c
