/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "plugin/spank_default.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slurm tells a callback neither script nor command line, so the latter is read again: an argument "--NAME" or
 * "--NAME=...". */
static int stands_on_command_line(const char* name) {
    FILE* file = fopen("/proc/self/cmdline", "r");
    if (!file) return 1;
    char* word = NULL;
    size_t room = 0, length = strlen(name);
    int found = 0;
    while (!found && getdelim(&word, &room, '\0', file) > 0)
        found = strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
                (word[2 + length] == '=' || word[2 + length] == '\0');
    free(word);
    fclose(file);
    return found;
}

/* "sbatch" and "dl-model" make SBATCH_DL_MODEL. srun has none: inside a job it would take the job's. */
static const char* from_environment(const char* name) {
    const char* program = program_invocation_short_name;
    char variable[64];
    if (strcmp(program, "sbatch") != 0 && strcmp(program, "salloc") != 0) return NULL;
    snprintf(variable, sizeof variable, "%s_%s", program, name);
    for (char* c = variable; *c; ++c) *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    const char* value = getenv(variable);
    return value && *value ? value : NULL;
}

const char* dlcast_option_value(const char* name, const char* given) {
    const char* value = from_environment(name);
    return value && !(given && stands_on_command_line(name)) ? value : given;
}
