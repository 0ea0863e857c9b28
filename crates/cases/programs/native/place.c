/* Where the caller is, counted from the start of a function. */
long place_after(const char *function)
{
    return (const char *)__builtin_return_address(0) - function;
}
