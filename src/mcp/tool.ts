/** The definition of a tool as data, its registration, error texts, and the dry runs of `forget`. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js'
import type * as z from 'zod'
import type { Call } from '../api/index.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { UnknownOutcomeError } from './connection.ts'
import type { ServerLocation } from './inputs.ts'
import { paragraphs } from './text.ts'

/** Dry runs that can still be confirmed. */
const MAX_DRY_RUNS = 20

/** `forget` can only confirm exactly the ids of a dry run, so that nothing is erased that was not shown. */
export class DryRuns {
  readonly #offered = new Set<string>()

  offer(ids: readonly number[]): void {
    const key = idsKey(ids)
    this.#offered.delete(key)
    this.#offered.add(key)
    const [oldest = ''] = this.#offered
    if (this.#offered.size > MAX_DRY_RUNS) this.#offered.delete(oldest)
  }

  has(ids: readonly number[]): boolean {
    return this.#offered.has(idsKey(ids))
  }

  done(ids: readonly number[]): void {
    this.#offered.delete(idsKey(ids))
  }
}

function idsKey(ids: readonly number[]): string {
  return [...new Set(ids)].sort((a, b) => a - b).join(',')
}

/** What every tool works with. */
export interface ToolContext {
  /** Calls an operation; a lost answer is retried. */
  call: Call
  /** The same for operations that change something: a lost answer is an error, because it may have been done. */
  callOnce: Call
  here: ServerLocation
  dryRuns: DryRuns
}

/** The same content twice: some clients show the model the text, Claude Code the data. */
export interface ToolReply<D> {
  text: string
  data: D
}

interface ToolSpec<I extends z.ZodObject, O extends z.ZodObject> {
  name: string
  title: string
  description: string
  input: I
  output: O
  annotations: ToolAnnotations
  run(args: z.output<I>, context: ToolContext): Promise<ToolReply<z.input<O>>>
}

/** Changes nothing and uses nothing outside this machine. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** Returns a function that registers the tool. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(spec: ToolSpec<I, O>) {
  const { name, title, description, input, output, annotations, run } = spec
  const config = { title, description, inputSchema: input, outputSchema: output, annotations }
  return (server: McpServer, context: ToolContext): void => {
    server.registerTool<O, z.ZodObject>(name, config, async (args) => {
      try {
        // Already validated by the server; parsed again to get its type.
        const { text, data } = await run(input.parse(args), context)
        return { content: [{ type: 'text', text }], structuredContent: { ...data } }
      } catch (error) {
        return { isError: true, content: [{ type: 'text', text: failureText(error) }] }
      }
    })
  }
}

/** Errors may quote the input, which can be long. In characters. */
const MAX_FAILURE_CHARS = 600

/** What happened, and what the model can do. */
function failureText(error: unknown): string {
  return paragraphs(`${errorMessage(error).replace(/\.$/, '')}. ${errorAdvice(error)}`, MAX_FAILURE_CHARS).trim()
}

function errorAdvice(error: unknown): string {
  if (error instanceof UnknownOutcomeError) return ''
  const code = error instanceof MemError ? error.code : 'internal'
  switch (code) {
    case 'not_running':
    case 'unresponsive':
    case 'draining':
    case 'already_running':
      return 'Continue without the memory for now; the user can check `claude-mem status` and `claude-mem logs`.'
    case 'unsupported_version':
      return 'The user should restart this client: claude-mem was updated.'
    case 'bad_request':
    case 'not_found':
    case 'too_large':
    case 'forbidden':
      return ''
    default:
      return 'Continue without the memory for now; the user can check `claude-mem logs`.'
  }
}
