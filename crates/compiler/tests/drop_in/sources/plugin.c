#include <stdio.h>
int host_value(void);
void plugin_run(void) { printf("plugin sees %d\n", host_value()); }
