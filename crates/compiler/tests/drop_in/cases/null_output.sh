$CC -c hello.c -o /dev/null
$CC hello.c -o /dev/null
$CC -c broken.c -o /dev/null
