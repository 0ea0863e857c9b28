$CC --version
$CC -dumpmachine
$CC -dumpversion
$CC -print-search-dirs
$CC -print-prog-name=ld
$CC --print-file-name=libc.so
$CC -v
$CC
$CXX --version
