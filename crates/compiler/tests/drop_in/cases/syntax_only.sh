$CC -fsyntax-only hello.c
$CC -fsyntax-only broken.c
