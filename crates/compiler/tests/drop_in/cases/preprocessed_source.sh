# carries: hello.o: hello.i
$CC -E hello.c -o hello.i
$CC -c hello.i
