$CC -O2 -S hello.c
$CC -S hello.c -o -
