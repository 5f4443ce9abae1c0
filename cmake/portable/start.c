// A program's constructors, which up to glibc 2.33 its own start-up code runs; that of newer versions leaves
// them to glibc. Linked with --wrap=__libc_start_main.
typedef void (*Constructor)(int, char**, char**);

extern const Constructor __preinit_array_start[] __attribute__((visibility("hidden")));
extern const Constructor __preinit_array_end[] __attribute__((visibility("hidden")));
extern const Constructor __init_array_start[] __attribute__((visibility("hidden")));
extern const Constructor __init_array_end[] __attribute__((visibility("hidden")));

static void run(const Constructor* begin, const Constructor* end, int count, char** arguments,
                char** environment) {
  for (; begin != end; ++begin) {
    (*begin)(count, arguments, environment);
  }
}

static void construct(int count, char** arguments, char** environment) {
  run(__preinit_array_start, __preinit_array_end, count, arguments, environment);
  run(__init_array_start, __init_array_end, count, arguments, environment);
}

int __real___libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                             Constructor constructors, void (*destructors)(void), void (*end_of_loader)(void),
                             void* end_of_stack);

int __wrap___libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                             Constructor constructors, void (*destructors)(void), void (*end_of_loader)(void),
                             void* end_of_stack) {
  (void)constructors;
  return __real___libc_start_main(main, count, arguments, construct, destructors, end_of_loader,
                                  end_of_stack);
}
