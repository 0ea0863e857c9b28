# carries: plugin.so: plugin.c
# carries: host: host.c
$CC -shared -fPIC plugin.c -o plugin.so
$CC -rdynamic host.c -ldl -o host
