# carries: use_both.o: use_both.c
# carries: shapes.o: shapes.c
# carries: edges.o: edges.c
# carries: unused.o: unused.c
# carries: hello: hello.c
# carries: program: use_both.c shapes.c edges.c
# volatile: libshapes.a
make CC="$CC"
cat generated
