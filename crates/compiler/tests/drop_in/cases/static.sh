# carries: program: threads.c
# carries: pie: hello.c
# carries: no_pie: hello.c
$CC -static threads.c -lm -pthread -o program
$CC -static-pie -fPIE hello.c -o pie
$CC -no-pie -fno-pie hello.c -o no_pie
