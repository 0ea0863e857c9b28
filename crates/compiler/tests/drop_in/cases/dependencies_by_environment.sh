# carries: shapes.o: shapes.c
DEPENDENCIES_OUTPUT=env.d $CC -c shapes.c
