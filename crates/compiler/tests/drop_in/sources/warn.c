int main(void) {
    int unused_variable;
    return 0;
}
