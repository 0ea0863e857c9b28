# carries: warn.o: warn.c
$CC -Wall -Wextra -c warn.c
$CC -Wall -Werror -c warn.c -o never.o
