#include <dlfcn.h>
#include <stdio.h>
int host_value(void) { return 41; }
int main(void) {
    void *handle = dlopen("./plugin.so", RTLD_NOW);
    if (!handle) {
        puts(dlerror());
        return 1;
    }
    ((void (*)(void))dlsym(handle, "plugin_run"))();
    return 0;
}
