$CC -E hello.c -o hello.i
$CC -E -dM - < /dev/null > macros
$CC -E -P hello.c > hello.txt
