/** Where files are in memory, on Linux: the fast hook keeps a payload there, in a file without a name. */
export const SHARED_MEMORY = '/dev/shm'
