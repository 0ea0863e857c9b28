# carries: program: use_quad.c
$CC use_quad.c triple.s quad.S -o program
