# carries: program: use_both.c
clang-22 -c shapes.c edges.c
ar rcsD libshapes.a shapes.o edges.o
$CC use_both.c -o program -L. -lshapes
rm libshapes.a shapes.o edges.o
