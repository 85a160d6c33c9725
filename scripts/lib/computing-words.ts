/** Words of the trade that stand too far back in the order of frequency of a newspaper, with vectors that are good. */
export const COMPUTING_WORDS = `
accessor acknowledgements addon addons append appending appends assignable asynchronously atomicity autocomplete
backends backslash benchmarked bitwise booleans bootloader bootstrapping breakpoints bugfixes bytecode callbacks
charset checkbox checkpointing checksums clickable codebase concatenated datagram debugged debuggers decodes
defragmentation delimiter delimiters deprecate destructor disallows ecma enumerable enumerations eval executables
extensibility filenames filesystems formatter frontend fuzzing geolocation github globals granularity hostname
hyperlink hypervisor immutability indexer infers initialize initializer initializes inlining inode instantiate
instantiated instantiation internals interprocess ipv iterate iterates iterating json lexer lexicographically
localhost lookups markdown mdn memoization multiline multipart multithreaded multithreading mutable namespaces newline
newlines nginx octets openssl operand operands optimizer overwrite overwrites overwriting pagination parameterized
parens parsers parses passphrase passthrough pipelining placeholders postgres powershell prebuilt precompiled prefetch
prefixing prepended preprocessor printf pseudocode quicksort readme redact refactoring reformat resize resizing
runtimes screenshot semaphores serializable serialize serializing shebang shellcode shims sqlite stateful stylesheet
stylesheets subdirectories subdirectory subnet substring substrings superclass synchronously syntaxes templating
terabyte timestamp timestamps tokenization toolbars toolchain toolkits traceback truncate tuples typescript uncaught
underflow uninstalled unordered untrusted updater uploader uptime userland usernames validator validators variadic
versioned versioning visualizer webserver websocket whitelist whitespace workaround workarounds workflows workspaces
writable wss xpath xslt yaml zlib
`
  .trim()
  .split(/\s+/)
