/**
 * Every operation by its name, with the types of its input and output. Other rooms import from here.
 * Importing types from here costs nothing at run time; importing `OPERATIONS` loads every handler.
 */
import type * as z from 'zod'
import { MemError } from '../lib/errors.ts'
import type { DaemonContext, ReadContext } from './context.ts'
import { type Caller, checkDoor, LOCAL_CALLER, runHandler } from './operation.ts'
import { daemonOperations } from './operations/daemon.ts'
import { memoryOperations } from './operations/memory.ts'
import { projectOperations } from './operations/projects.ts'
import { sessionOperations } from './operations/sessions.ts'
import { summaryOperations } from './operations/summaries.ts'
import { teamOperations } from './operations/team.ts'

export const OPERATIONS = {
  ...daemonOperations,
  ...memoryOperations,
  ...sessionOperations,
  ...summaryOperations,
  ...projectOperations,
  ...teamOperations,
}

export type Operations = typeof OPERATIONS
export type OperationName = keyof Operations
export type InputOf<N extends OperationName> = ReadonlyLists<z.input<Operations[N]['input']>>
/** Callers may pass readonly arrays. */
type ReadonlyLists<T> = { [K in keyof T]: T[K] extends infer V ? (V extends (infer E)[] ? readonly E[] : V) : never }
export type OutputOf<N extends OperationName> = Awaited<ReturnType<Operations[N]['handle']>>

/** Operations with one request and one answer: `subscribe` belongs to a connection. */
export type CallableName = {
  [N in OperationName]: Operations[N]['kind'] extends 'connection' ? never : N
}[OperationName]

/** The input may be left out where every field has a default. `timeoutMs` only matters for calls over a socket. */
export type CallArguments<N extends OperationName> =
  Record<string, never> extends InputOf<N>
    ? [input?: InputOf<N>, timeoutMs?: number]
    : [input: InputOf<N>, timeoutMs?: number]

/** How every program calls an operation, over a socket or in this process. */
export type Call = <N extends OperationName>(name: N, ...args: CallArguments<N>) => Promise<OutputOf<N>>

export function isOperationName(name: unknown): name is OperationName {
  return typeof name === 'string' && Object.hasOwn(OPERATIONS, name)
}

/** The `type` of an operation's answer on the wire. */
export function answerType(name: OperationName): string {
  return OPERATIONS[name].answerType ?? name
}

/** Runs an operation in this process. Door and `input` are checked here: callers may pass on what they received. */
export async function runOperation(
  name: CallableName,
  input: unknown,
  context: DaemonContext,
  caller: Caller,
): Promise<object> {
  checkDoor(name, OPERATIONS[name], caller)
  return await runHandler<DaemonContext, object>(OPERATIONS[name], context, input, caller)
}

/** Calls operations over the database file alone. What needs a daemon fails with `not_running`. */
export function readOnlyCall(context: ReadContext): Call {
  return async (name, ...[input]) => {
    const operation = OPERATIONS[name]
    if (operation.kind !== 'read') {
      throw new MemError('not_running', `${name} needs the daemon; start it with: claude-mem start`, {
        retryable: true,
      })
    }
    // The compiler does not connect the name with the handler's output.
    return (await runHandler<ReadContext, object>(operation, context, input ?? {}, LOCAL_CALLER)) as never
  }
}
