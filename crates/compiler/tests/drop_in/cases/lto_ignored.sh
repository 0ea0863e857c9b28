# carries: shapes.o: shapes.c
# carries: program: shapes.c use_shapes.c
# says: tarragon cc: note: -flto is ignored
# tarragon-only: -flto -flto=thin -ffat-lto-objects
echo "$TARRAGON_ONLY" > flags
$CC -O2 $TARRAGON_ONLY -c shapes.c
$CC -O2 @flags use_shapes.c shapes.o -o program
rm flags
