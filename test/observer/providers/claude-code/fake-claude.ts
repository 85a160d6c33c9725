/** Set-up of one test with the fake `claude`: a home directory, the server of the fake, and the bundled guard. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { ChatMessage, ChatModel, ChatReply, ChatRequest } from '../../../../src/observer/model/chat.ts'
import { ObserverError } from '../../../../src/observer/port.ts'
import { type ClaudeCodeOptions, claudeCodeModel } from '../../../../src/observer/providers/claude-code/index.ts'
import { type Bundle, bundle } from '../../../store/bundle.ts'
import { temporaryDirectory } from '../../../support/directories.ts'
import { answerOutput, FAKE_CLAUDE, type FakeBehaviour, FakeClaudeServer } from './fake-claude-server.ts'

let guard: Bundle
let server: FakeClaudeServer

/** Created for each test. */
export const fake = {
  directory: '',
  /** What the fake does in the next call. */
  behaviour: { do: 'flood' } as FakeBehaviour,
  get home(): string {
    return join(this.directory, 'home')
  },
  get server(): FakeClaudeServer {
    return server
  },
}

export function useFakeClaude(): void {
  beforeAll(() => {
    guard = bundle('src/observer/providers/claude-code/guard.ts', 'claude-code-guard.js')
  })
  afterAll(() => guard.dispose())
  beforeEach(async () => {
    fake.directory = temporaryDirectory('claude-code')
    fake.behaviour = { do: 'print', stdout: answerOutput('<skip reason="nothing"/>') }
    server = await FakeClaudeServer.listen(() => fake.behaviour)
  })
  afterEach(async () => {
    expect(await server.survivors()).toEqual([])
    await server.close()
  })
}

export function model(options: Partial<ClaudeCodeOptions> = {}): ChatModel {
  const env = { PATH: process.env.PATH, HOME: fake.home, USERPROFILE: fake.home, ...server.env, ...options.env }
  const workDir = join(fake.directory, 'work')
  return claudeCodeModel({ program: FAKE_CLAUDE, model: 'haiku', workDir, guard: guard.file, ...options, env })
}

export const chatRequest = (...contents: string[]): ChatRequest => ({
  system: 'Take notes.',
  messages: contents.map((content, at): ChatMessage => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  maxTokens: 4_000,
})

export const complete = (
  chat: ChatModel = model(),
  request: ChatRequest = chatRequest('a batch'),
): Promise<ChatReply> => chat.complete(request, new AbortController().signal)

export async function failure(chat: ChatModel = model(), request?: ChatRequest): Promise<ObserverError> {
  const error: unknown = await complete(chat, request).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof ObserverError) return error
  throw new Error(`expected an ObserverError, got ${String(error)}`)
}
