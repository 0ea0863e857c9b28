# carries: program: hello.bc
$CC -emit-llvm -c hello.c -o hello.bc
$CC hello.bc -o program
