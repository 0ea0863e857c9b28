# carries: a.o: text
# carries: b.o: text
# carries: program: text
cp hello.c text
$CC -x c -c text -o a.o
$CC -xc -c text -o b.o
$CC -x c text -x none -o program
