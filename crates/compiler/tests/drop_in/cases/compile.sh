# carries: hello.o: hello.c
$CC -O2 -c hello.c
