// Has no fork server.
#include <stdio.h>
int main(void) { return getchar() == EOF; }
