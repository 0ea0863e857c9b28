# carries: program: hello.c
$CC hello.c -Wl,--version
$CC -Wl,--version
$CC hello.c -o program
$CC hello.c -o program -Wl,--version
