// unit [SEED [COUNT]]: runs the unit tests. SEED and COUNT are those of the random replies.
#include <stdlib.h>

#include "unit.h"

int main(int count, char **arguments) {
    uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    int replies = count > 2 ? atoi(arguments[2]) : 2000;
    canned_start();
    test_codec();
    test_rows();
    test_live();
    test_lost();
    test_hostile();
    test_random(seed, replies);
    test_memory();
    canned_stop();
    return check_end("unit");
}
