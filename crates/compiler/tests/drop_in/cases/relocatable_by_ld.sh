# carries: use_shapes.o: use_shapes.c
# carries: shapes.o: shapes.c
# carries: joined.o: use_shapes.c shapes.c
# carries: again.o: use_shapes.c shapes.c
# carries: program: use_shapes.c shapes.c
$CC -c use_shapes.c shapes.c
ld -r use_shapes.o shapes.o -o joined.o
ld.lld-22 -r joined.o -o again.o
$CC again.o -o program
