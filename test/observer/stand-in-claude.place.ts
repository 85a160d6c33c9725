/** Where one test asks the stand-in: a home, a desk, and the bundled guard. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { ChatMessage, ChatModel, ChatReply, ChatRequest } from '../../src/observer/model/chat.ts'
import { ObserverError } from '../../src/observer/port.ts'
import { type ClaudeCodeOptions, claudeCodeModel } from '../../src/observer/providers/claude-code.ts'
import { type Bundle, bundle } from '../store/bundle.ts'
import { answered, Desk, type Order, STAND_IN } from './stand-in-claude.desk.ts'

let guard: Bundle
let desk: Desk

/** Made anew for each test. */
export const place = {
  directory: '',
  /** What the stand-in does when it is asked next. */
  order: { do: 'flood' } as Order,
  get home(): string {
    return join(this.directory, 'home')
  },
  get desk(): Desk {
    return desk
  },
}

export function standInForEachTest(): void {
  beforeAll(() => {
    guard = bundle('src/observer/providers/claude-code/guard.ts', 'claude-code-guard.js')
  })
  afterAll(() => guard.dispose())
  beforeEach(async () => {
    place.directory = mkdtempSync(join(tmpdir(), 'claude-mem-claude-code-'))
    place.order = { do: 'print', stdout: answered('<skip reason="nothing"/>') }
    desk = await Desk.listen(() => place.order)
  })
  afterEach(async () => {
    expect(await desk.survivors()).toEqual([])
    await desk.close()
    rmSync(place.directory, { recursive: true, force: true })
  })
}

export function model(options: Partial<ClaudeCodeOptions> = {}): ChatModel {
  const env = { PATH: process.env.PATH, HOME: place.home, USERPROFILE: place.home, ...desk.env, ...options.env }
  const workDir = join(place.directory, 'work')
  return claudeCodeModel({ program: STAND_IN, model: 'haiku', workDir, guard: guard.file, ...options, env })
}

export const asking = (...contents: string[]): ChatRequest => ({
  system: 'Take notes.',
  messages: contents.map((content, at): ChatMessage => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  maxTokens: 4_000,
})

export const complete = (chat: ChatModel = model(), request: ChatRequest = asking('a batch')): Promise<ChatReply> =>
  chat.complete(request, new AbortController().signal)

export async function failure(chat: ChatModel = model(), request?: ChatRequest): Promise<ObserverError> {
  const error: unknown = await complete(chat, request).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof ObserverError) return error
  throw new Error(`expected an ObserverError, got ${String(error)}`)
}
