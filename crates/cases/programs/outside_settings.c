// Library functions that take data in memory, and give it back at another place.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: function without a model
//@ lost-through: setlocale
//@ lost-through: prctl
//@ lost-through: setrlimit
#include <locale.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
    char name[16] = "", back[16] = "";
    struct rlimit limit, now;
    if (read(0, name, 1) != 1)
        return 1;
    limit.rlim_cur = limit.rlim_max = (unsigned char)name[0] & 1;
    prctl(PR_SET_NAME, name);
    prctl(PR_GET_NAME, back);
    setrlimit(RLIMIT_CORE, &limit);
    getrlimit(RLIMIT_CORE, &now);
    return setlocale(LC_ALL, name) ? 2 : back[0] == 'x' || now.rlim_cur == 0;
}
