/** A supervisor on a real SQLite file whose observer asks a model over HTTP: the real clients, loopback servers. */

import { makeChatModel } from '../../../../src/observer/make-observer.ts'
import { ModelObserver } from '../../../../src/observer/model/observer.ts'
import { builtInPromptFolder, loadPrompts, systemPrompt } from '../../../../src/observer/model/prompts.ts'
import { makeWithheldFilter } from '../../../../src/observer/model/withheld.ts'
import type { Observer } from '../../../../src/observer/port.ts'
import { modelPrice } from '../../../../src/observer/prices.ts'
import { chooseProvider } from '../../../../src/observer/provider-choice.ts'
import { loadSettings } from '../../../../src/settings/settings.ts'
import type { CallRow, EventRow } from '../../../../src/store/port.ts'
import { goodAnswer } from '../../../observer/servers/answers.ts'
import type { Fault, ModelRequest } from '../../../observer/servers/fault.ts'
import { GeminiServer } from '../../../observer/servers/gemini-server.ts'
import { MessagesServer } from '../../../observer/servers/messages-server.ts'
import { OpenAiServer } from '../../../observer/servers/openai-server.ts'
import type { ScriptedServer, ServerOptions } from '../../../observer/servers/scripted-server.ts'
import { Harness } from '../harness.ts'

export const APIS = ['anthropic', 'gemini', 'openrouter'] as const
export type Api = (typeof APIS)[number]

const SERVERS = { anthropic: MessagesServer, gemini: GeminiServer, openrouter: OpenAiServer }
export const KEY = 'sk-test-0123456789abcdef'

/** Longest pause before a failed message is tried again. */
const MAX_PAUSE_MS = 60_000

export class ModelPlace {
  readonly harness = new Harness()
  readonly api: Api
  /** Decides each answer; the good one where it says nothing. */
  script: (call: ModelRequest) => string | Fault | null = () => null
  #server: ScriptedServer | null = null

  private constructor(api: Api) {
    this.api = api
  }

  static async make(api: Api, env: NodeJS.ProcessEnv = {}, server: ServerOptions = {}): Promise<ModelPlace> {
    const place = new ModelPlace(api)
    place.#server = await SERVERS[api].listen((call: ModelRequest) => place.script(call) ?? goodAnswer(call), {
      apiKey: KEY,
      ...server,
    })
    place.harness.observer = place.observerWith(env)
    await place.harness.start()
    return place
  }

  get server(): ScriptedServer {
    if (this.#server === null) throw new Error('not started')
    return this.#server
  }

  observerWith(env: NodeJS.ProcessEnv = {}, address = this.server.url): Observer {
    const name = this.api.toUpperCase()
    const loaded = loadSettings('', {
      [`CLAUDE_MEM_${name}_API_KEY`]: KEY,
      [`CLAUDE_MEM_${name}_BASE_URL`]: address,
      CLAUDE_MEM_MODEL: 'claude-haiku-4-5',
      ...env,
    })
    const { values } = loaded
    const { config } = chooseProvider(loaded, { env: {}, claude: null })
    if (config === null) throw new Error('no model is set up')
    const { prompts } = loadPrompts({ folder: builtInPromptFolder(), override: null })
    return new ModelObserver({
      chat: makeChatModel(config, { workDir: this.harness.directory }),
      prompts,
      system: systemPrompt(prompts, { verbosity: values.CLAUDE_MEM_VERBOSITY, language: values.CLAUDE_MEM_LANGUAGE }),
      compactTokens: this.harness.policy.compactTokens,
      novelty: values.CLAUDE_MEM_NOVELTY_ENABLED,
      withheld: makeWithheldFilter({
        tools: values.CLAUDE_MEM_NEVER_SEND_TOOLS,
        paths: values.CLAUDE_MEM_NEVER_SEND_PATHS,
      }),
      priceOf: (model) => modelPrice(model, values.CLAUDE_MEM_PRICES),
    })
  }

  /** Time passes until whatever waits is due, and everything is worked off. */
  async later(ms = 3_700_000): Promise<void> {
    this.harness.clockOffset += ms
    await this.harness.supervisor.tick()
    await this.harness.settle()
  }

  /** Time passes until no failed message waits for its next attempt, or the provider itself is waited for. */
  async attempts(): Promise<void> {
    const { harness } = this
    for (;;) {
      await harness.settle()
      const due = await harness.store.nextWakeAt()
      if (harness.supervisor.waiting !== null || due === null || due - harness.now() > MAX_PAUSE_MS) return
      harness.clockOffset += Math.max(0, due - harness.now())
      await harness.supervisor.tick()
    }
  }

  async state(session: string): Promise<{ state: string; waiting: string | null }> {
    const row = await this.harness.store.session(session)
    return { state: row?.state ?? 'none', waiting: row?.waiting ?? null }
  }

  events(session: string): Promise<EventRow[]> {
    return this.harness.store.events(session, 100_000)
  }

  calls(session: string): Promise<CallRow[]> {
    return this.harness.store.calls({ session, limit: 100_000 })
  }

  /** How many observations name each event as their source. */
  async told(session: string): Promise<Record<string, number>> {
    const observations = await this.harness.store.observations({ session, limit: 100_000 })
    const counts: Record<string, number> = {}
    for (const id of observations.flatMap((one) => one.sources)) counts[id] = (counts[id] ?? 0) + 1
    return counts
  }

  async dispose(): Promise<void> {
    await this.#server?.close()
    await this.harness.dispose()
  }
}
