# carries: libshapes.so: shapes.c
# carries: program: use_shapes.c
$CC -shared -fPIC shapes.c -Wl,--version-script=exports.map -o libshapes.so
$CC use_shapes.c ./libshapes.so -o program
