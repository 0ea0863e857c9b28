# carries: conftest: conftest.c
# carries: conftest.o: conftest.c
echo 'int main(void) { return 0; }' > conftest.c
exec 5> probe.log
$CC -o conftest -g -O2 conftest.c >&5
$CC -c -Werror -Wunknown-warning-option conftest.c
echo 'int main(void) { return tgetent(); }' > conftest2.c
$CC -o conftest2 conftest2.c -ltermcap || echo no termcap
