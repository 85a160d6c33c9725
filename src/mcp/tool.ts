/** A tool as data: what it is called, what it takes and gives, how it is taught, and what it does. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js'
import type { z } from 'zod'
import { MemError, messageOf } from '../errors.ts'
import { Unsure } from './connection.ts'
import type { DryRuns } from './dry-runs.ts'
import type { Memory } from './memory.ts'
import type { Place } from './place.ts'
import { prose } from './text.ts'

/** What every tool is given. */
export interface Desk {
  memory: Memory
  here: Place
  dryRuns: DryRuns
}

/** The same twice: clients show a model one of them, some the text, Claude Code the data. */
export interface Reply<D> {
  text: string
  data: D
}

export interface Spec<I extends z.ZodObject, O extends z.ZodObject> {
  name: string
  title: string
  description: string
  input: I
  output: O
  annotations: ToolAnnotations
  run(args: z.output<I>, desk: Desk): Promise<Reply<z.input<O>>>
}

export interface Tool {
  name: string
  register(server: McpServer, desk: Desk): void
}

/** Nothing changes, and nothing outside this machine is asked. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

export function tool<I extends z.ZodObject, O extends z.ZodObject>(spec: Spec<I, O>): Tool {
  const { name, title, description, input, output, annotations, run } = spec
  return {
    name,
    register: (server, desk) => {
      const config = { title, description, inputSchema: input, outputSchema: output, annotations }
      server.registerTool<O, z.ZodObject>(name, config, async (args) => {
        try {
          // It is valid; parsing it once more gives it the type that the server's cannot follow.
          const { text, data } = await run(input.parse(args), desk)
          return { content: [{ type: 'text', text }], structuredContent: { ...data } }
        } catch (error) {
          return failed(error)
        }
      })
    },
  }
}

function failed(error: unknown): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: failureText(error) }] }
}

/** Errors may quote what was asked, whatever that was. */
const MAX_FAILURE_CHARS = 600

/** What happened, and what the model can do about it. */
export function failureText(error: unknown): string {
  return prose(`${messageOf(error).replace(/\.$/, '')}. ${adviceOn(error)}`, MAX_FAILURE_CHARS).trim()
}

function adviceOn(error: unknown): string {
  if (error instanceof Unsure) return ''
  const code = error instanceof MemError ? error.code : 'internal'
  switch (code) {
    case 'not_running':
    case 'draining':
    case 'already_running':
      return 'Go on without the memory for now; the user can look with `claude-mem status` and `claude-mem logs`.'
    case 'unsupported_version':
      return 'The user should restart this client: claude-mem was updated.'
    case 'bad_request':
    case 'not_found':
    case 'too_large':
    case 'forbidden':
      return ''
    default:
      return 'Go on without the memory for now; `claude-mem logs` tells the user more.'
  }
}
