$CC -emit-llvm -c hello.c -o hello.bc
$CC -emit-llvm -S hello.c
