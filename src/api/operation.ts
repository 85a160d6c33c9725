/**
 * What an operation is. Everything that can be asked of a daemon is one value of this shape, defined in
 * `operations/`. The WebSocket protocol, the REST routes, the TypeScript client, the viewer, the command
 * line without a daemon, docs/protocol.md and docs/openapi.json are derived from these values. MCP tools are written by
 * hand, because a model needs other texts, but they only call operations.
 *
 * There are three kinds, by what a handler needs:
 * - `read`: only the database file and search. The command line runs these handlers itself when no daemon is running.
 * - `daemon`: the running daemon.
 * - `connection`: the WebSocket connection that the request came over.
 */
import type * as z from 'zod'
import { DOORS, type Door } from '../domain/doors.ts'
import { MemError } from '../lib/errors.ts'
import type { DaemonContext, ReadContext } from './context.ts'
import { parseInput } from './schemas.ts'

/** Operations for agents too: each of them applies the limits of scope.ts. */
export const AGENTS_TOO: readonly Door[] = DOORS
const OPEN_DOORS: readonly Door[] = DOORS.filter((door) => door !== 'mcp')
/** Operations that change files, settings of the machine or the daemon itself: for someone at a terminal. */
export const LOCAL_ONLY: readonly Door[] = ['local']
/** Operations for hooks and programs, which no page needs. */
export const NO_VIEWER: readonly Door[] = ['local', 'rest']

/** Who asks. */
export interface Caller {
  door: Door
  /** Keys of the only project that it may see: as it is filed, then as the caller names it. Null: all projects. */
  scope: readonly string[] | null
}

export const LOCAL_CALLER: Caller = { door: 'local', scope: null }

/** What a REST route gives its operation, and what it makes of the output. */
export interface RestRoute<Input, Output> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `:name` is a path parameter; it becomes the input field of that name. */
  path: string
  /** Query parameters that select this route among several with the same method and path. */
  when?: Readonly<Record<string, string>>
  /** Input fields that this route always sets. */
  fixed?: Partial<Input>
  /** Query parameters with other names than the input fields: `{ q: 'query' }`. */
  params?: Readonly<Record<string, string>>
  /** Defaults that only this route has. */
  defaults?: Partial<Input>
  /** Makes the input from the JSON body, where the body is not simply the input. */
  fromBody?: (body: unknown) => unknown
  /** The answer's body is this field of the output. Default: the whole output. */
  pick?: keyof Output & string
  /** Makes the answer's body, where `pick` is not enough. */
  respond?: (output: Output, input: Input) => unknown
}

interface Definition<Schema extends z.ZodObject, Context, Result> {
  /** One sentence for the protocol page and OpenAPI. */
  about: string
  input: Schema
  /** The `type` of the answer on the wire, where it is not the name of the operation. */
  answerType?: string
  /** What the answer contains, for the protocol page. */
  answerDescription: string
  /** Which doors may call it. Default: every door but `mcp`. */
  doors?: readonly Door[]
  /**
   * Fields that hold further input fields in messages of clients before 0.2, such as `filter: { limit }`. They are
   * merged into the input.
   */
  nested?: readonly string[]
  handle: (context: Context, input: z.output<Schema>, caller: Caller) => Result
  /** Written after `handle`, from which the compiler infers the output. */
  rest?: readonly RestRoute<z.output<Schema>, Awaited<Result>>[]
}

/** What a request can do with its own connection. */
export interface ConnectionContext {
  /** Follows the live stream from the item after `since` (null: from now on). */
  subscribe(since: number | null): { seq: number; resumed: boolean }
  /** A viewer address that can be opened once. */
  viewerLink(): { url: string; expiresAt: number }
  /** Pages with access, the one used last first. */
  viewers(): ViewerInfo[]
  /** Ends the access of one page, or of all. Returns how many had access. */
  revokeViewers(id: string | null): number
}

/** A page with access to the daemon. */
export interface ViewerInfo {
  /** Not secret. */
  id: string
  createdAt: number
  usedAt: number
  /** Without another use. */
  expiresAt: number
  /** It has a connection now. */
  connected: boolean
}

export function readOperation<Schema extends z.ZodObject, Result>(definition: Definition<Schema, ReadContext, Result>) {
  return { kind: 'read' as const, rest: [], ...definition }
}

export function daemonOperation<Schema extends z.ZodObject, Result>(
  definition: Definition<Schema, DaemonContext, Result>,
) {
  return { kind: 'daemon' as const, rest: [], ...definition }
}

export function connectionOperation<Schema extends z.ZodObject, Result>(
  definition: Definition<Schema, ConnectionContext, Result>,
) {
  return { kind: 'connection' as const, rest: [], ...definition }
}

/** Whether this door may call an operation: the one place where it is decided. */
export function checkDoor(name: string, { doors = OPEN_DOORS }: { doors?: readonly Door[] }, { door }: Caller): void {
  if (doors.includes(door)) return
  if (door === 'mcp') throw new MemError('forbidden', `${name} is not available to agents`)
  const where = doors.includes('rest') ? 'not available to a viewer page' : 'only available on the local socket'
  throw new MemError('forbidden', `${name} is ${where}; use the claude-mem command in a terminal`)
}

/**
 * Checks the input and calls the handler. `handle` is a method in this type so that every operation is accepted: the
 * compiler cannot connect the schema of one of many operations with its handler.
 */
export function runHandler<Context, Result>(
  operation: { input: z.ZodObject; handle(context: Context, input: unknown, caller: Caller): Result },
  context: Context,
  input: unknown,
  caller: Caller,
): Result {
  return operation.handle(context, parseInput(operation.input, input), caller)
}
