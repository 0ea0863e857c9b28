# carries: x.o: -
# carries: -.o: -
# carries: program: -
$CC -x c - -c -o x.o < hello.c
$CC -x c - -c < hello.c
$CC -x c - -o program < hello.c
echo 'int broken(' | $CC -x c - -c -o y.o
