/**
 * `npm run bench -- hook-clients [--json]`: the cost of a hook for each client, with a payload as that client sends it after
 * a shell command: the installed hook as a fresh process until it exits, compared with `node -e 0` started in turn. The
 * daemon is real, and every event must be stored.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { median, Progress, report, rounded } from '../lib/report.ts'
import { HOOK, kill, makeSandbox, processesIn, type Sandbox, startDaemon, stopServing } from '../lib/sandbox.ts'

const WARM_UP = 3
const OUTPUT = 'line of output with some words in it, as tools print them\n'.repeat(15)

type Payload = Record<string, unknown>

/** A shell command as each client reports it; `n` differs in every run. */
const PAYLOADS: Record<string, (session: Payload, n: number) => Payload> = {
  'claude-code': (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    prompt_id: 'turn-1',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_response: { stdout: OUTPUT, stderr: '', interrupted: false },
    tool_use_id: `toolu_${n}`,
  }),
  codex: (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    turn_id: 'turn-1',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_response: OUTPUT,
    tool_use_id: `call_${n}`,
  }),
  gemini: (session, n) => ({
    ...session,
    hook_event_name: 'AfterTool',
    timestamp: new Date(n).toISOString(),
    tool_name: 'run_shell_command',
    tool_input: { command: 'npm test', description: 'test' },
    tool_response: { llmContent: `Output: ${OUTPUT}`, returnDisplay: OUTPUT },
  }),
  opencode: (session, n) => ({
    ...session,
    hook_event_name: 'tool.execute.after',
    turn_id: 'msg_1',
    tool: 'bash',
    call_id: `call_${n}`,
    args: { command: 'npm test' },
    result: { output: OUTPUT, metadata: { output: OUTPUT, exit: 0 } },
  }),
  copilot: (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    timestamp: new Date(n).toISOString(),
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_result: { result_type: 'success', text_result_for_llm: `${OUTPUT}<shellId: 0 completed with exit code 0>` },
  }),
  qwen: (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    prompt_id: 'turn-1',
    tool_call_id: `call_${n}`,
    tool_name: 'run_shell_command',
    tool_input: { command: 'npm test' },
    tool_response: { llmContent: `Output: ${OUTPUT}\nExit Code: 0`, returnDisplay: OUTPUT },
  }),
}

const { values: options } = parseArgs({
  options: { json: { type: 'boolean', default: false }, runs: { type: 'string', default: '40' } },
})
const runs = Number(options.runs) + WARM_UP
const progress = new Progress()

function timed(args: readonly string[], sandbox: Sandbox, input: string): number {
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { input, env: sandbox.env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the hook ended with ${status}: ${stderr}`)
  return performance.now() - began
}

const sandbox = makeSandbox('bench-hook-clients')
const clients = Object.entries(PAYLOADS)
const times = new Map(clients.map(([client]): [string, number[]] => [client, []]))
const baselines: number[] = []
try {
  await startDaemon(sandbox)
  for (let n = 0; n < runs; n++) {
    progress.show(`${n} of ${runs}`)
    baselines.push(timed(['-e', '0'], sandbox, ''))
    for (const [client, make] of clients) {
      const transcript_path = join(sandbox.paths.dataDir, 'transcript.jsonl')
      const session = { session_id: `bench-${client}`, cwd: sandbox.paths.dataDir, transcript_path }
      const payload = JSON.stringify(make(session, n))
      times.get(client)?.push(timed([HOOK, '--client', client], sandbox, payload))
    }
  }
  await stopServing(sandbox)
  const db = new Database(sandbox.paths.database, { readonly: true })
  const stored = db.prepare<[], number>('SELECT count(*) FROM events').pluck().get() ?? 0
  db.close()
  if (stored !== runs * clients.length)
    throw new Error(`${runs * clients.length} hooks ran, ${stored} events are stored`)
} finally {
  for (const pid of processesIn(sandbox)) kill(pid)
  sandbox.remove()
}
progress.clear()
const base = median(baselines.slice(WARM_UP))
const ratios = [...times].map(([client, all]): [string, number] => [
  `ratio_${client.replace('-', '_')}`,
  rounded(median(all.slice(WARM_UP)) / base, 3),
])
report({ ...Object.fromEntries(ratios), baseline_ms: rounded(base), runs: runs - WARM_UP }, options.json)
