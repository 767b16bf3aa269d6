// The part of glibc's malloc that Swift's Glibc module does not have.
#include <malloc.h>
