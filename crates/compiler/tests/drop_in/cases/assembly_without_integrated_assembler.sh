# carries: hello.o: hello.c
# carries: program: hello.c
$CC -fno-integrated-as -c hello.c
$CC hello.o -o program
