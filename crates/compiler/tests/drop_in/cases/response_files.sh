# carries: program: hello.c
echo '-DGREETING="\"good day\"" @more.rsp' > all.rsp
echo "-o 'program' hello.c" > more.rsp
$CC @all.rsp
