/**
 * A real client other than Claude Code, as the suite drives it (`sessions.agent.ts`): its configuration, its command line
 * and what it does in a scripted session. One file per client, listed in `index.ts`; `scripts/npm.mjs` has the packages.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { AGENT_RUN_MS, ended, MemoryPlace } from '../memory-place.ts'
import type { Turn } from '../messages-api.ts'
import { ScriptedApi, type ScriptedProtocol } from '../scripted-api.ts'

/** Set by `npm run test:clients` (scripts/npm.mjs). */
export const AGENT_NAME = process.env.CLAUDE_MEM_TEST_CLIENT_NAME ?? ''
export const AGENT_PROGRAM = process.env.CLAUDE_MEM_TEST_CLIENT ?? ''

export interface AgentWork {
  turns: Turn[]
  /** What hooks have to store of it: `tool_use Bash`, … */
  stored: string[]
}

export interface TestedAgent {
  /** As in `--client`. */
  name: string
  protocol: ScriptedProtocol
  /** More words of `claude-mem install`. */
  installArgs: readonly string[]
  /** Files that the client's user would have, by path in the home directory. */
  config(place: AgentPlace): Record<string, string>
  /** Files that install adds, which uninstall has to remove. */
  files?: readonly string[]
  env(place: AgentPlace): NodeJS.ProcessEnv
  /** One run without a terminal; `resume` is a session to continue. */
  args(prompt: string, resume: string | null): string[]
  /** The id of the session, from what the client printed. */
  session(stdout: string): string | null
  /** A session that does a bit of everything; `word` is in nothing but what it did. */
  work(place: AgentPlace, word: string): AgentWork
  shell(command: string): Turn
  /** How the client calls a tool of our MCP server, and how a request shows that it is offered. */
  mcp: {
    /** Turns in which the model uses `search_memory`. */
    search(query: string): Turn[]
    /** What a request contains if the tools are offered: as tools, or as names in a list. */
    isOffered(body: Record<string, unknown>): boolean
    /** What the newest tool call of a conversation returned. */
    result(body: Record<string, unknown>): string
  }
  /** What it reports of a whole run; SessionEnd comes late or not at all in some clients. */
  counts: { starts: number; prompts: number; turnEnds: number; sessionEnds: number }
  /** Ends of subagents in `work`; absent: it has none. */
  subagents?: number
}

interface MadeFor {
  program?: string
  home?: string
}

export class AgentPlace extends MemoryPlace {
  readonly api: ScriptedApi
  readonly agent: TestedAgent

  readonly #program: string

  private constructor(agent: TestedAgent, api: ScriptedApi, program: string, home?: string) {
    super(home)
    this.#program = program
    this.agent = agent
    this.api = api
    for (const [name, text] of Object.entries(agent.config(this))) {
      const file = `${this.home}/${name}`
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }

  /** `home`: one that several clients share. */
  static async make(agent: TestedAgent, { program = AGENT_PROGRAM, home }: MadeFor = {}): Promise<AgentPlace> {
    if (program === '') throw new Error('these tests need a real client: npm run test:clients')
    return new AgentPlace(agent, await ScriptedApi.listen(agent.protocol), program, home)
  }

  get env(): NodeJS.ProcessEnv {
    const foreign =
      /^(?:CLAUDE|ANTHROPIC|AWS_|VERTEX|GOOGLE_|GEMINI|OPENAI|CODEX|COPILOT|QWEN|CLINE|OPENCODE|GITHUB_)|_proxy$|^XDG_/i
    const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
    return {
      ...Object.fromEntries(kept),
      HOME: this.home,
      USERPROFILE: this.home,
      PATH: `${dirname(this.#program)}${delimiter}${process.env.PATH ?? ''}`,
      CLAUDE_MEM_WORKER_PORT: '0',
      ...this.agent.env(this),
    }
  }

  /** One run; the id of its session. */
  async run(prompt: string, resume: string | null = null): Promise<string> {
    this.api.clear()
    const child = spawn(this.#program, this.agent.args(prompt, resume), {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { code, stdout, stderr } = await ended(child, AGENT_RUN_MS)
    if (code !== 0)
      throw new Error(`${this.agent.name} ended with ${code}: ${stdout.slice(-800)} ${stderr.slice(-800)}`)
    const session = this.agent.session(stdout)
    if (session === null) throw new Error(`no session id in: ${stdout.slice(0, 800)}`)
    return session
  }

  override async dispose(): Promise<void> {
    await super.dispose()
    await this.api.close()
  }
}
