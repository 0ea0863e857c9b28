# carries: sections.o: sections.c
# carries: program: sections.c
# carries: by_lld: sections.c
$CC -ffunction-sections -fdata-sections -c sections.c
$CC -Wl,--gc-sections sections.o -o program
$CC -fuse-ld=lld -Wl,--gc-sections sections.o -o by_lld
