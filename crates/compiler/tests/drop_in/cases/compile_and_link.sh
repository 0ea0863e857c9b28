# carries: a.out: hello.c
$CC hello.c
