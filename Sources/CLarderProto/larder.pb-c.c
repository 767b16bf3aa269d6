#include "larder.pb-c.h"
