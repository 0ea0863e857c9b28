# carries: a.o: shapes.c
# carries: b.o: shapes.c
# volatile: shapes.h.pch shapes.h.gch
$CC -x c-header shapes.h -o shapes.h.pch
$CC -include shapes.h -c shapes.c -o a.o
rm shapes.h.pch
$CC -O2 shapes.h -o shapes.h.pch
$CC -O2 -Xclang -include-pch -Xclang shapes.h.pch -c shapes.c -o b.o
