# carries: many.o: many.c
# carries: program: many.c
cat > many.c <<'END'
asm(".macro one\n.section .many\\@\n.byte 1\n.endm\n.rept 65600\none\n.endr\n.text\n");
int main(void) { return 5; }
END
$CC -c many.c
$CC -fuse-ld=lld many.o -o program
