/**
 * The user's Claude subscription, through the installed `claude`: one process per call, one call at a time, under a guard
 * that lets no process outlive the daemon. Without tools, hooks and transcript.
 */
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, extname, join, win32 } from 'node:path'
import { errorMessage } from '../../../lib/errors.ts'
import { readRegularFile } from '../../../lib/files.ts'
import { asFields, type JsonFields } from '../../../reading/fields.ts'
import type { ChatMessage, ChatModel, ChatReply, ChatRequest } from '../../model/chat.ts'
import { ObserverError } from '../../port.ts'
import { programNotFound, readClaudeReply, SET_PROGRAM_COMMAND } from './reply.ts'
import { defaultGuard, type GuardedRun, runGuarded } from './run-guarded.ts'

export interface ClaudeCodeOptions {
  /** The `claude` program, or a script that node runs. */
  program: string
  model: string
  /** A private directory in which `claude` runs, so that it finds no project. */
  workDir: string
  /** Path of the bundled guard; by default it is looked for beside the running program. */
  guard?: string
  /** Selects the account that is used. */
  env?: NodeJS.ProcessEnv
}

const SYSTEM_PROMPT_FILE = 'system-prompt.md'

export function claudeCodeModel(options: ClaudeCodeOptions): ChatModel {
  const { program, model, workDir, env = process.env } = options
  // The user shares the subscription's usage limit: parallel calls would only reach it sooner.
  const mutex = new Mutex()

  async function call(request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
    const run = await prepare(request).catch((error: unknown) => {
      throw error instanceof ObserverError
        ? error
        : new ObserverError('provider', errorMessage(error), { cause: error })
    })
    return readClaudeReply(await runGuarded(run, signal), { program, model, request })
  }

  async function prepare({ system, messages, maxTokens }: ChatRequest): Promise<GuardedRun> {
    const [command, account] = await Promise.all([resolveProgram(program), readClaudeAccount(env)])
    const systemPromptFile = join(workDir, SYSTEM_PROMPT_FILE)
    await mkdir(workDir, { recursive: true, mode: 0o700 })
    await writeFile(systemPromptFile, system, { mode: 0o600 })
    return {
      guard: options.guard ?? defaultGuard(),
      program: command.program,
      args: [...command.args, ...claudeArguments(model, systemPromptFile, account)],
      env: claudeEnvironment(maxTokens, account, env),
      cwd: workDir,
      stdin: conversationPrompt(messages),
    }
  }

  return {
    provider: 'claude-code',
    model,
    complete: (request, signal) => mutex.runExclusive(signal, () => call(request, signal)),
  }
}

/** One task at a time, in order of arrival. A task whose signal aborts while it waits is never run. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  async runExclusive<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const previous = this.#last
    const result = rejectOnAbort(previous, signal).then(task)
    // Waits for `previous` too: a task that gives up waiting must not let the next one start early.
    this.#last = Promise.allSettled([previous, result]).then(() => {})
    return await result
  }
}

async function rejectOnAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * The sign-in part of the user's Claude Code settings. `claude` is started without any of its settings files, because
 * they contain hooks, plugins, models and output styles; without these few settings, users of a gateway, Bedrock or a
 * helper program would not be signed in.
 */
interface ClaudeAccount {
  /** Passed on as settings: names of programs, no secrets. */
  settings: JsonFields
  /** Passed on in the environment, which other users of the machine cannot read. */
  env: Record<string, string>
}

const SIGN_IN_SETTINGS = [
  'apiKeyHelper',
  'awsAuthRefresh',
  'awsCredentialExport',
  'gcpAuthRefresh',
  'forceLoginMethod',
  'forceLoginOrgUUID',
  'modelOverrides',
]

export async function readClaudeAccount(env: NodeJS.ProcessEnv): Promise<ClaudeAccount> {
  const directory = env.CLAUDE_CONFIG_DIR || join(env.HOME || env.USERPROFILE || homedir(), '.claude')
  const user = await readSettings(join(directory, 'settings.json'))
  const settings = Object.fromEntries(
    SIGN_IN_SETTINGS.filter((name) => Object.hasOwn(user, name)).map((name) => [name, user[name]]),
  )
  const variables = Object.entries(asFields(user.env)).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && /^[^=\0]+$/.test(name) && !value.includes('\0') ? [[name, value]] : [],
  )
  return { settings, env: Object.fromEntries(variables) }
}

/** Empty if the file cannot be read or is not JSON: in print mode the client ignores it too. */
async function readSettings(file: string): Promise<JsonFields> {
  try {
    return asFields(JSON.parse((await readRegularFile(file)).toString('utf8').replace(/^\uFEFF/, '')))
  } catch {
    return {}
  }
}

/**
 * Tested with 2.0.76, 2.1.197 and 2.1.325: all of them know every option, so that no version check is needed. What has no
 * option is set by an environment variable, which an older client ignores.
 */
function claudeArguments(model: string, systemPromptFile: string, account: ClaudeAccount): string[] {
  return [
    '--print',
    // Not `json`: since 2.1 an answer that reaches the length limit is continued, and `json` shows only the last part. The
    // stream has all parts, and the exact end of a usage limit.
    ...['--output-format', 'stream-json', '--verbose'],
    // A file, because a Windows command line has at most 32,767 characters.
    ...['--system-prompt-file', systemPromptFile],
    ...['--model', model],
    ...['--max-turns', '1'],
    ...['--tools', ''],
    '--strict-mcp-config',
    ...['--setting-sources', ''],
    ...['--settings', JSON.stringify({ ...account.settings, disableAllHooks: true })],
    '--disable-slash-commands',
    // Keeps the call out of `claude --resume`.
    '--no-session-persistence',
  ]
}

/**
 * Variables that a Claude Code session sets for its child processes, such as the hook that started the daemon. With them
 * the client would take itself for a part of that session.
 */
const SESSION_VARIABLES =
  /^(?:AI_AGENT|CLAUDECODE|CLAUDE_(?:PID|EFFORT|ENV_FILE|PROJECT_DIR|SESSION_ID|PLUGIN_\w+)|CLAUDE_CODE_(?:ENTRYPOINT|CHILD_SESSION|SSE_PORT|EXECPATH|TASK_LIST_ID|(?:SESSION|PARENT|MESSAGING|AGENT|TEAM)_\w+))$/

function claudeEnvironment(maxTokens: number, account: ClaudeAccount, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...env, ...account.env }
  const kept = Object.entries(own).filter(
    ([name]) => !SESSION_VARIABLES.test(name) && !isUnrelatedKey(name, own, account),
  )
  return {
    ...Object.fromEntries(kept),
    // Prevents the observer from observing itself: if some setting runs our hook, the hook does nothing.
    CLAUDE_MEM_HOOK_DISABLED: '1',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxTokens),
    // The circuit breaker retries. The client needs one retry of its own to renew an expired login.
    CLAUDE_CODE_MAX_RETRIES: '1',
    // `@a/file` in a prompt would attach the file's content.
    CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
    CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    // Thinking costs up to 32,000 output tokens and observations do not need it. The name depends on the version.
    CLAUDE_CODE_DISABLE_THINKING: '1',
    MAX_THINKING_TOKENS: '0',
    // Each call sends the conversation as one new text: it would be written to the cache, for a quarter more, and never
    // read. Also, 2.0 makes two warm-up calls if caching is on.
    DISABLE_PROMPT_CACHING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }
}

/**
 * An API key in the environment would be charged instead of the subscription. With a base URL beside it, it belongs to
 * that URL and is how this client is configured.
 */
function isUnrelatedKey(name: string, env: NodeJS.ProcessEnv, account: ClaudeAccount): boolean {
  return name === 'ANTHROPIC_API_KEY' && !env.ANTHROPIC_BASE_URL && account.env.ANTHROPIC_API_KEY === undefined
}

const EARLIER =
  'The conversation so far stands in <earlier>: the batches that you were given, and the notes that you made of them. They are kept already. Answer only the <request>.'

/** Print mode takes a single text. It must not start with a slash, which the client would read as a command. */
function conversationPrompt(messages: readonly ChatMessage[]): string {
  const earlier = messages.slice(0, -1).map(({ role, content }) => block(role === 'user' ? 'batch' : 'notes', content))
  const request = block('request', messages.at(-1)?.content ?? '')
  if (earlier.length === 0) return request
  return `${EARLIER}\n\n<earlier>\n${earlier.join('\n')}\n</earlier>\n\n${request}`
}

const BLOCK_TAG = /<(\/?)(earlier|batch|notes|request)>/g

/** Tags inside the content are escaped, so that a file that contains one cannot end the block. */
function block(tag: string, content: string): string {
  return `<${tag}>\n${content.replace(BLOCK_TAG, '‹$1$2›')}\n</${tag}>`
}

interface ProgramCommand {
  program: string
  args: readonly string[]
}

const SCRIPTS = new Set(['.js', '.mjs', '.cjs'])
const SHIMS = new Set(['.cmd', '.bat', '.ps1'])

/** What to start for a configured path: a program, a script for node, or the target of a Windows shim. */
export async function resolveProgram(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<ProgramCommand> {
  const given = /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path
  // npm puts a link to a script on the PATH. A bare name is left to the system's search.
  const found = await realpath(given).catch(() => null)
  const file = found ?? given
  const extension = extname(file).toLowerCase()
  if (found === null && (file === '' || file !== basename(file))) throw programNotFound(given || 'claude')
  if (SCRIPTS.has(extension)) return { program: process.execPath, args: [file] }
  if (platform !== 'win32' || !SHIMS.has(extension)) return { program: file, args: [] }
  return await resolveShim(file)
}

/** Node starts no batch file without a shell, and a shell would change our arguments. */
async function resolveShim(file: string): Promise<ProgramCommand> {
  const target = shimTarget((await readRegularFile(file).catch(() => Buffer.alloc(0))).toString('utf8'))
  if (target === null) {
    throw new ObserverError(
      'provider',
      `${file} cannot be started without a shell; set the path of the claude.exe or cli.js behind it: ${SET_PROGRAM_COMMAND}`,
    )
  }
  const path = win32.join(dirname(file), target)
  return SCRIPTS.has(extname(path)) ? { program: process.execPath, args: [path] } : { program: path, args: [] }
}

/** As npm, pnpm and yarn write it: `"%dp0%\node_modules\…\cli.js"`, in PowerShell `"$basedir/node_modules/…"`. */
const SHIM_TARGET = /"(?:%~?dp0%?|\$basedir)[\\/]([^"\r\n]+\.(?:js|mjs|cjs|exe))"/gi

/** Relative to the shim; null if its form is not known. */
export function shimTarget(text: string): string | null {
  const targets = [...text.matchAll(SHIM_TARGET)].map(([, path = '']) => path)
  return targets.find((path) => !/^node\.exe$/i.test(win32.basename(path))) ?? null
}
