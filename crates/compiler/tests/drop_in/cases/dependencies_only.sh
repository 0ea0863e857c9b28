$CC -M hello.c -MF all.d
$CC -MM shapes.c
$CC -MM -MT target use_shapes.c -o use.d
