# carries: conftest.o: conftest.c
cat > conftest.c <<'END'
unsigned short ascii_mm[] = { 0x4249, 0x4765, 0x6E44, 0x6961, 0x6E53, 0x7953, 0 };
unsigned short ascii_ii[] = { 0x694C, 0x5454, 0x656C, 0x6E45, 0x6944, 0x6E61, 0 };
double words = 9090423496703681033747047890550501147621169273561563201479712084405348.0;
int use(int i) { return ascii_mm[i] + ascii_ii[i] + (int)words; }
int main(void) { return use(0); }
END
$CC -c conftest.c
grep -c BIGenDianSyS conftest.o
grep -c LiTTleEnDian conftest.o
