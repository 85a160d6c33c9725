/** A model for a chaos run: a Messages API on loopback that every daemon of the run asks, and that outlives them all. */
import Database from 'better-sqlite3'
import { goodAnswer } from '../../test/observer/servers/answers.ts'
import { MessagesServer } from '../../test/observer/servers/messages-server.ts'

const KEY = 'sk-chaos-0123456789'

export class ChaosModel {
  readonly #server: MessagesServer

  private constructor(server: MessagesServer) {
    this.#server = server
  }

  static async listen(): Promise<ChaosModel> {
    return new ChaosModel(await MessagesServer.listen(goodAnswer, { apiKey: KEY }))
  }

  get settings(): Record<string, string> {
    return {
      CLAUDE_MEM_PROVIDER: 'anthropic',
      CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
      CLAUDE_MEM_ANTHROPIC_BASE_URL: this.#server.url,
      // Every message has to come to exactly one observation, or nothing could be counted.
      CLAUDE_MEM_NOVELTY_ENABLED: 'false',
      CLAUDE_MEM_DAILY_BUDGET_USD: '10000',
      CLAUDE_MEM_DAILY_BUDGET_TOKENS: '1000000000',
    }
  }

  /** Calls whose answer died with its daemon were made again: at least once, and counted here. */
  figures(databaseFile: string): Record<string, number> {
    const asked = this.#server.requests.flatMap(({ call }) =>
      call === null ? [] : [call.messages.at(-1)?.content ?? ''],
    )
    const db = new Database(databaseFile, { readonly: true })
    try {
      const settled = db.prepare<[], number>('SELECT count(*) FROM calls WHERE error IS NULL').pluck().get() ?? 0
      return { model_calls: asked.length, answers_kept: settled, repeated_calls: asked.length - new Set(asked).size }
    } finally {
      db.close()
    }
  }

  async close(): Promise<void> {
    await this.#server.close()
  }
}
