# carries: hello.o: hello.c
# carries: program: hello.c
$CC -v -c hello.c
$CC -v hello.o -o program
