/**
 * How `claude` is asked, found out with 2.0.76, 2.1.197 and 2.1.325: every option here is known to all of them, so none
 * needs to be asked for its version first. What has no option is a variable, which an older client ignores.
 */
import type { Account } from './account.ts'

export interface Asked {
  model: string
  systemPromptFile: string
  maxTokens: number
}

export function optionsOf({ model, systemPromptFile }: Asked, account: Account): string[] {
  return [
    '--print',
    // Not `json`: from 2.1 on an answer that hits the limit of its length is continued, and `json` shows only its last
    // part. The stream has them all, and says exactly when a used-up allowance comes back.
    ...['--output-format', 'stream-json', '--verbose'],
    // A file: Windows takes command lines of 32,767 characters.
    ...['--system-prompt-file', systemPromptFile],
    ...['--model', model],
    ...['--max-turns', '1'],
    ...['--tools', ''],
    '--strict-mcp-config',
    ...['--setting-sources', ''],
    ...['--settings', JSON.stringify({ ...account.settings, disableAllHooks: true })],
    '--disable-slash-commands',
    // Nothing for `claude --resume` to show.
    '--no-session-persistence',
  ]
}

/**
 * What a session leaves to the processes that it starts, such as the hook that started our daemon: with it the client
 * takes itself for a part of that session.
 */
const SESSION_MARKS =
  /^(?:AI_AGENT|CLAUDECODE|CLAUDE_(?:PID|EFFORT|ENV_FILE|PROJECT_DIR|SESSION_ID|PLUGIN_\w+)|CLAUDE_CODE_(?:ENTRYPOINT|CHILD_SESSION|SSE_PORT|EXECPATH|TASK_LIST_ID|(?:SESSION|PARENT|MESSAGING|AGENT|TEAM)_\w+))$/

export function environmentOf({ maxTokens }: Asked, account: Account, around: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...around, ...account.env }
  const left = Object.entries(own).filter(([name]) => !SESSION_MARKS.test(name) && !isStrayKey(name, own, account))
  return {
    ...Object.fromEntries(left),
    // Never observe the observer: should any settings run our hook all the same, it says nothing.
    CLAUDE_MEM_HOOK_DISABLED: '1',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxTokens),
    // Our breaker retries. One try more is the client's own: it renews a login that has run out, and asks again.
    CLAUDE_CODE_MAX_RETRIES: '1',
    // A prompt that names `@a/file` would take the file's contents along.
    CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
    CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    // Notes need no thinking, which costs up to 32,000 tokens of output. Each version knows another name for it.
    CLAUDE_CODE_DISABLE_THINKING: '1',
    MAX_THINKING_TOKENS: '0',
    // The whole conversation is one text that is new in each call: it would be written to the cache, for a quarter
    // more, and never read. And 2.0 asks two warm-up questions where caching is on.
    DISABLE_PROMPT_CACHING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }
}

/**
 * A key that lies around would be spent instead of the subscription. With an address beside it, it is the key for that
 * address, and how this client was set up.
 */
function isStrayKey(name: string, env: NodeJS.ProcessEnv, account: Account): boolean {
  return name === 'ANTHROPIC_API_KEY' && !env.ANTHROPIC_BASE_URL && account.env.ANTHROPIC_API_KEY === undefined
}
