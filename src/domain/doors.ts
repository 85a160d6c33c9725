/**
 * The doors, by what a caller had to show:
 * - `local`: it could open the Unix socket, which the file system protects (on Windows: the named pipe and the token).
 * - `mcp`: the same, and it says that it acts for an agent, in one project. Only what the MCP tools need is open to it.
 * - `rest`: the token of the data directory, over TCP. Not `local`: a program that takes the port while no daemon runs gets
 *   the token of the next caller, and must not be able to do more with it than read and write memories.
 * - `viewer`: the token of a viewer page, which a browser holds.
 */
export const DOORS = ['local', 'mcp', 'rest', 'viewer'] as const
export type Door = (typeof DOORS)[number]
