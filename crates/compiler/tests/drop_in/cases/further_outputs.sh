# carries: hello.o: hello.c
# carries: shapes.o: shapes.c
# carries: edges.o: edges.c
# volatile: edges.json hello.o hello.dwo
$CC -gsplit-dwarf -c hello.c
$CC -save-temps -c shapes.c
$CC -ftime-trace -c edges.c
