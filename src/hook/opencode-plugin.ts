/**
 * The plugin that `claude-mem install` writes into OpenCode's plugin directory, as one file without dependencies. It runs
 * inside OpenCode (Bun), so it never throws, and it does hardly anything: each event is handed to the hook program, which
 * cleans, delivers and spools it as for every client.
 *
 * - Where OpenCode waits for a plugin (a prompt, the end of a tool, a compaction) the plugin waits for the hook: the event
 *   is durable before the client continues.
 * - Where it does not (`event`) the hook is started at once and detached, with the payload on its standard input: it
 *   survives the client. `opencode run` exits right after `session.idle`.
 * - The context of the session goes into the system prompt of each model call, what was recalled for a prompt into its
 *   message. Neither is stored by OpenCode.
 * - The MCP server is added to the configuration in memory: no file of the user is changed.
 *
 * Every export of a plugin file has to be a function that makes hooks: there is one.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Written by install at the beginning of the file. */
declare const CLAUDE_MEM_PROGRAM: { node: string; hook: string; cli: string; dataDir: string; server: string }

/** What the hook gets; translated by `clients/opencode.ts`. */
interface PluginEvent {
  hook_event_name: string
  [field: string]: unknown
}

interface Answer {
  context: string
  message: string
}

const NO_ANSWER: Answer = { context: '', message: '' }

/** Timeout of OpenCode's wait for a hook; the hook itself is not cancelled. A hook that starts a session waits for a team. */
const WAIT_MS = 8_000
/** Between the exit of a hook and the end of its output. */
const EXIT_GRACE_MS = 100
/** OpenCode exits about 300 ms after it called `dispose`. */
const DISPOSE_WAIT_MS = 200
/** Failures that were reported: OpenCode repeats the update of a part. */
const MAX_REPORTED = 500

interface SessionInfo {
  parent: string | null
  agent: string
  directory: string
}

/** A session of the user; sessions of subagents belong to one. */
interface RootSession {
  started: Promise<void> | null
  context: string
  /** Id of the user's newest message. */
  turn: string | null
  /** The turn has not ended. */
  isOpen: boolean
  /** The newest text of the model, and the message that it is a part of. */
  text: string
  textMessage: string
  /** What was recalled for a prompt, by the id of its message. */
  recalled: Map<string, string>
}

type Fields = Record<string, unknown>

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

class Reporter {
  readonly #directory: string
  readonly #sessions = new Map<string, SessionInfo>()
  readonly #created = new Set<string>()
  readonly #roots = new Map<string, RootSession>()
  readonly #failures = new Set<string>()
  /** Hooks that run. The next event waits for them, so that events arrive in their order. */
  readonly #running = new Set<Promise<Answer>>()

  constructor(directory: string) {
    this.#directory = directory
  }

  async event({ event }: { event?: unknown }): Promise<void> {
    const { type, properties } = fields(event)
    const { sessionID, info, part, error } = fields(properties)
    const session = text(sessionID) || text(fields(info).id)
    if (type === 'session.created' || type === 'session.updated') {
      this.#learn(fields(info))
      if (type === 'session.created') {
        this.#created.add(session)
        if (!this.#isChild(session)) void this.#start(session)
      }
    } else if (type === 'message.part.updated') this.#part(fields(part))
    else if (type === 'session.error') this.#turnEnds(session, fields(error))
    else if (type === 'session.idle') this.#turnEnds(session, null)
  }

  async prompt({ sessionID }: Fields, output: Fields): Promise<void> {
    const session = text(sessionID)
    if (session === '' || this.#isChild(session)) return
    await this.#settled()
    await this.#start(session)
    const message = text(fields(output.message).id)
    const prompt = list(output.parts)
      .map(fields)
      .flatMap((part) => (part.type === 'text' && part.synthetic !== true ? text(part.text) : []))
      .join('\n')
    const root = this.#root(session)
    Object.assign(root, { turn: message, isOpen: true, text: '', textMessage: '' })
    const { context } = await this.#send(session, { hook_event_name: 'chat.message', prompt })
    if (context !== '') root.recalled.set(message, context)
  }

  async toolEnded({ tool, sessionID, callID, args }: Fields, output: unknown): Promise<void> {
    await this.#settled()
    const event = { hook_event_name: 'tool.execute.after', tool, call_id: callID, args, result: output }
    await this.#send(text(sessionID), event)
  }

  async compacts({ sessionID }: Fields): Promise<void> {
    if (this.#isChild(text(sessionID))) return
    await this.#settled()
    await this.#send(text(sessionID), { hook_event_name: 'session.compacting' })
  }

  textEnded({ sessionID, messageID }: Fields, output: Fields): void {
    if (this.#isChild(text(sessionID))) return
    const root = this.#root(text(sessionID))
    const isSame = root.textMessage === text(messageID)
    root.text = isSame && root.text !== '' ? `${root.text}\n${text(output.text)}` : text(output.text)
    root.textMessage = text(messageID)
  }

  /** The context of the session for a model call; empty for the call that makes a title, and in subagents. */
  systemPrompt({ sessionID }: Fields, { system }: Fields): void {
    const context = this.#roots.get(text(sessionID))?.context ?? ''
    if (context === '' || !Array.isArray(system) || /^You are a title generator/.test(text(system[0]))) return
    system.push(context)
  }

  messages({ messages }: Fields): void {
    for (const message of list(messages).map(fields)) {
      const { id, sessionID } = fields(message.info)
      const recalled = this.#roots.get(text(sessionID))?.recalled.get(text(id))
      if (recalled === undefined || !Array.isArray(message.parts)) continue
      const part = {
        id: `prt_mem_${text(id)}`,
        sessionID,
        messageID: id,
        type: 'text',
        synthetic: true,
        text: recalled,
      }
      message.parts.push(part)
    }
  }

  async dispose(): Promise<void> {
    await within(DISPOSE_WAIT_MS, this.#settled())
    const ended = [...this.#roots].filter(([, { started }]) => started !== null)
    const sent = ended.map(([session]) => this.#send(session, { hook_event_name: 'session.end', reason: 'exit' }))
    for (const [, root] of ended) root.started = null
    await within(DISPOSE_WAIT_MS / 2, Promise.all(sent))
  }

  #learn({ id, parentID, agent, directory }: Fields): void {
    if (text(id) === '') return
    const parent = text(parentID) || null
    this.#sessions.set(text(id), {
      parent,
      agent: text(agent) || 'subagent',
      directory: text(directory) || this.#directory,
    })
  }

  #isChild(session: string): boolean {
    return (this.#sessions.get(session)?.parent ?? null) !== null
  }

  #rootId(session: string): string {
    const seen = new Set<string>()
    let id = session
    for (
      let parent = this.#sessions.get(id)?.parent;
      parent && !seen.has(id);
      parent = this.#sessions.get(id)?.parent
    ) {
      seen.add(id)
      id = parent
    }
    return id
  }

  #root(session: string): RootSession {
    const id = this.#rootId(session)
    const known = this.#roots.get(id)
    if (known !== undefined) return known
    const root: RootSession = {
      started: null,
      context: '',
      turn: null,
      isOpen: false,
      text: '',
      textMessage: '',
      recalled: new Map(),
    }
    this.#roots.set(id, root)
    return root
  }

  /** Once for each session of this process. */
  #start(session: string): Promise<void> {
    const root = this.#root(session)
    const source = this.#created.has(session) ? 'startup' : 'resume'
    root.started ??= this.#send(session, { hook_event_name: 'session.start', source }).then(({ context }) => {
      root.context = context
    })
    return root.started
  }

  /** A tool that failed has no `tool.execute.after`. */
  #part({ type, tool, callID, sessionID, state }: Fields): void {
    const { status, input, error } = fields(state)
    const key = `${text(sessionID)} ${text(callID)}`
    if (type !== 'tool' || status !== 'error' || this.#failures.has(key)) return
    this.#failures.add(key)
    for (const oldest of this.#failures) if (this.#failures.size > MAX_REPORTED) this.#failures.delete(oldest)
    void this.#send(text(sessionID), { hook_event_name: 'tool.error', tool, call_id: callID, args: input, error })
  }

  #turnEnds(session: string, error: Fields | null): void {
    const root = this.#roots.get(session)
    if (root === undefined || !root.isOpen) return
    root.isOpen = false
    const last_message = root.text
    if (error === null) void this.#send(session, { hook_event_name: 'session.idle', last_message })
    else {
      const reason = [text(error.name), text(fields(error.data).message)].filter((part) => part !== '').join(': ')
      void this.#send(session, { hook_event_name: 'session.error', error: reason, last_message })
    }
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  #send(session: string, event: PluginEvent): Promise<Answer> {
    const root = this.#root(session)
    const info = this.#sessions.get(session)
    const agent = this.#isChild(session) ? { agent_id: session, agent_type: info?.agent } : {}
    const cwd = info?.directory ?? this.#directory
    const payload = { ...event, session_id: this.#rootId(session), cwd, turn_id: root.turn, ...agent }
    const running = runHook(JSON.stringify(payload), cwd)
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
    return running
  }
}

/** Never rejects. */
function runHook(payload: string, cwd: string): Promise<Answer> {
  const { node, hook, dataDir } = CLAUDE_MEM_PROGRAM
  const ended = new Promise<Answer>((resolve) => {
    const child = spawn(node, [hook, '--data-dir', dataDir, '--client', 'opencode'], {
      // A directory that is gone must not prevent the start.
      ...(existsSync(cwd) ? { cwd } : {}),
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    })
    let output = ''
    // The hook's answer is one line, and its last act. A daemon that it started may hold the pipe open.
    const finish = () => resolve(parseAnswer(output))
    child.on('error', finish)
    child.on('close', finish)
    child.on('exit', () => setTimeout(finish, EXIT_GRACE_MS))
    child.stdin.on('error', () => undefined)
    child.stdout.on('error', () => undefined)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text: string) => {
      output += text
      if (output.endsWith('\n')) finish()
    })
    child.stdin.end(payload)
    child.unref()
  })
  return within(
    WAIT_MS,
    ended.catch(() => NO_ANSWER),
  ).then((answer) => answer ?? NO_ANSWER)
}

function parseAnswer(output: string): Answer {
  try {
    const { context, message } = fields(JSON.parse(output))
    return { context: text(context), message: text(message) }
  } catch {
    return NO_ANSWER
  }
}

/** Undefined after the time; the work is not cancelled. */
function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms)
    void work.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer))
  })
}

/** OpenCode fails a prompt or a tool whose plugin throws. */
function guarded<Args extends unknown[]>(handle: (...args: Args) => Promise<void> | void) {
  return async (...args: Args): Promise<void> => {
    try {
      await handle(...args)
    } catch {
      // Memory must not disturb the session, and a plugin has no log.
    }
  }
}

/** The file may be loaded twice, for the user and for a project: the second one does nothing. */
const ACTIVE = Symbol.for('claude-mem.opencode')

function activeDirectories(): Set<string> {
  const shared = globalThis as { [ACTIVE]?: Set<string> }
  shared[ACTIVE] ??= new Set()
  return shared[ACTIVE]
}

export async function ClaudeMem(input: unknown): Promise<Record<string, unknown>> {
  const directory = text(fields(input).directory) || process.cwd()
  const active = activeDirectories()
  const { node, hook, cli, dataDir, server } = CLAUDE_MEM_PROGRAM
  if (active.has(directory) || !existsSync(hook)) return {}
  active.add(directory)
  const reporter = new Reporter(directory)
  return {
    config: guarded((config: Fields) => {
      const servers = fields(config.mcp)
      if (server in servers) return
      const entry = {
        type: 'local',
        command: [node, cli, 'mcp', '--data-dir', dataDir],
        enabled: true,
        environment: { CLAUDE_PROJECT_DIR: directory },
      }
      config.mcp = { ...servers, [server]: entry }
    }),
    event: guarded((given: { event?: unknown }) => reporter.event(given)),
    'chat.message': guarded((given: unknown, output: unknown) => reporter.prompt(fields(given), fields(output))),
    'tool.execute.after': guarded((given: unknown, output: unknown) => reporter.toolEnded(fields(given), output)),
    'experimental.text.complete': guarded((given: unknown, output: unknown) =>
      reporter.textEnded(fields(given), fields(output)),
    ),
    'experimental.chat.system.transform': guarded((given: unknown, output: unknown) =>
      reporter.systemPrompt(fields(given), fields(output)),
    ),
    'experimental.chat.messages.transform': guarded((_: unknown, output: unknown) => reporter.messages(fields(output))),
    'experimental.session.compacting': guarded((given: unknown) => reporter.compacts(fields(given))),
    dispose: guarded(async () => {
      await reporter.dispose()
      active.delete(directory)
    }),
  }
}
