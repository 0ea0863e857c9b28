/* Runs the case that the argument names; without one, lists all CASES. */
int main(int argc, char **argv)
{
#define CASE(name) \
    if (argc > 1 && strcmp(argv[1], #name) == 0) \
        name();
    CASES
#undef CASE
#define CASE(name) puts(#name);
    if (argc == 1) {
        CASES
    }
    return 0;
}
