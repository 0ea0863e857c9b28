$CC -### hello.c -o program
