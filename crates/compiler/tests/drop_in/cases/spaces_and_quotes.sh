# carries: a dir/an object.o: a_source.c
# carries: the program: a_source.c
mkdir 'a dir'
cp hello.c a_source.c
cp hello.c 'a dir/a source.c'
$CC '-DGREETING="a \"b\" c"' -c a_source.c -o 'a dir/an object.o'
$CC 'a dir/an object.o' -o 'the program'
$CC -c 'a dir/a source.c' -o /dev/null
