# carries: a.o: use_shapes.c
# carries: use_shapes.o: use_shapes.c
# carries: b.o: use_shapes.c
# carries: c.o: use_shapes.c
# carries: program: use_shapes.c shapes.c
$CC -MD -MP -MF deps/a.d -MT deps/a.o -c use_shapes.c -o a.o || mkdir deps
$CC -MD -MP -MF deps/a.d -MT deps/a.o -c use_shapes.c -o a.o
$CC -MMD -c use_shapes.c
$CC -Wp,-MMD,b.dep -c use_shapes.c -o b.o
$CC -MMD -MFc.d -MQ 'x y' -c use_shapes.c -o c.o
$CC -MMD use_shapes.c shapes.c -o program
$CC -MJ c.json -fsyntax-only shapes.c
