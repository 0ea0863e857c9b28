# carries: program: throws.cc sum.cc
$CC throws.cc sum.cc -lstdc++ -lm -o program
