// Line editing by libedit, through its functions with the names of GNU Readline. Its variables are
// set here, because Swift refuses to write the global variables of C.
#include <stdio.h>
#include <editline/readline.h>

typedef char **larder_completion(const char *word, int start, int end);

// Splits words at white space only, and completes them by the function, never by file names alone.
static inline void larder_edit_begin(const char *name, larder_completion *complete) {
    static char breaks[] = " \t\n";
    rl_readline_name = name;
    rl_completer_word_break_characters = breaks;
    rl_attempted_completion_function = complete;
    using_history();
}

// The character after a word that is completed by itself; 0 for none.
static inline void larder_edit_append(char character) {
    rl_completion_append_character = character;
}

// Whether files complete the word if the function has returned nothing.
static inline void larder_edit_complete_files(int is_on) { rl_attempted_completion_over = !is_on; }

// The line that is edited.
static inline const char *larder_edit_line(void) { return rl_line_buffer; }
