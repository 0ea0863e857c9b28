# carries: throws.o: throws.cc
# carries: sum.o: sum.cc
# carries: program: throws.cc sum.cc
$CXX -std=c++17 -O2 -c throws.cc sum.cc
$CXX throws.o sum.o -o program
