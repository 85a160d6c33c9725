/**
 * The user's own subscription, through the installed `claude`: one process a call, one at a time, under a guard that
 * lets none of them outlive us. No tools, no hooks, no transcript.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../errors.ts'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { ObserverError } from '../port.ts'
import { readAccount } from './claude-code/account.ts'
import { environmentOf, optionsOf } from './claude-code/command.ts'
import { defaultGuard, type GuardedRun, runGuarded } from './claude-code/guarded.ts'
import { commandOf } from './claude-code/program.ts'
import { onePrompt } from './claude-code/prompt.ts'
import { replyOf } from './claude-code/reply.ts'
import { Turnstile } from './claude-code/turnstile.ts'

/** An alias: each client knows its newest one, also on Bedrock and Vertex. */
export const DEFAULT_MODEL = 'haiku'

export interface ClaudeCodeOptions {
  /** The `claude` program, or a script that node runs. */
  program: string
  model: string
  /** Private, and nobody else's: `claude` runs here, so that it finds no project. */
  workDir: string
  /** The bundled guard; the default lies beside the program that runs. */
  guard?: string
  /** Whose account is used is in here. */
  env?: NodeJS.ProcessEnv
}

const SYSTEM_PROMPT_FILE = 'system-prompt.md'

export function claudeCodeModel(options: ClaudeCodeOptions): ChatModel {
  const { program, model, workDir, env = process.env } = options
  // A subscription's allowance is shared with the person: several processes at once would only use it up faster.
  const turnstile = new Turnstile()

  async function call(request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
    const run = await prepare(request).catch((error: unknown) => {
      throw error instanceof ObserverError ? error : new ObserverError('provider', messageOf(error), { cause: error })
    })
    return replyOf(await runGuarded(run, signal), { program, model, request })
  }

  async function prepare({ system, messages, maxTokens }: ChatRequest): Promise<GuardedRun> {
    const [command, account] = await Promise.all([commandOf(program), readAccount(env)])
    const systemPromptFile = join(workDir, SYSTEM_PROMPT_FILE)
    await mkdir(workDir, { recursive: true, mode: 0o700 })
    await writeFile(systemPromptFile, system, { mode: 0o600 })
    const asked = { model, systemPromptFile, maxTokens }
    return {
      guard: options.guard ?? defaultGuard(),
      program: command.program,
      args: [...command.args, ...optionsOf(asked, account)],
      env: environmentOf(asked, account, env),
      cwd: workDir,
      stdin: onePrompt(messages),
    }
  }

  return {
    provider: 'claude-code',
    model,
    complete: (request, signal) => turnstile.pass(signal, () => call(request, signal)),
  }
}
