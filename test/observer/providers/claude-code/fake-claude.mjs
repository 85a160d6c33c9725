#!/usr/bin/env node
/**
 * A fake `claude`: accepts only the options of the real one, reads the prompt from stdin, reports to the server of its
 * test and does what the server answers. The connection stays open as long as the process runs.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** From `claude --help` of 2.0.76, which 2.1.197 and 2.1.325 know too, and two that the help leaves out. */
const SWITCHES = new Set(
  '-p --print --verbose --strict-mcp-config --disable-slash-commands --no-session-persistence --dangerously-skip-permissions --include-partial-messages --replay-user-messages --fork-session --ide --chrome --no-chrome -c --continue'.split(
    ' ',
  ),
)
const VALUES = new Set(
  '--output-format --json-schema --input-format --max-budget-usd --allowedTools --tools --disallowedTools --mcp-config --system-prompt --append-system-prompt --permission-mode --model --agent --betas --fallback-model --settings --add-dir --session-id --agents --setting-sources --plugin-dir --max-turns --system-prompt-file'.split(
    ' ',
  ),
)

const call = Number(process.env.FAKE_CLAUDE_CALL ?? 0)
const isGrandchild = process.argv[2] === 'grandchild'
const options = isGrandchild ? {} : parseOptions(process.argv.slice(2))
const stdin = isGrandchild ? '' : readFileSync(0, 'utf8')

const server = connect(Number(process.env.FAKE_CLAUDE_PORT), '127.0.0.1')
server.on('error', () => process.exit(3))
server.write(
  `${JSON.stringify({
    role: isGrandchild ? 'grandchild' : 'claude',
    call,
    pid: process.pid,
    parent: process.ppid,
    cwd: process.cwd(),
    options,
    stdin,
    system: options['--system-prompt-file'] ? readFileSync(options['--system-prompt-file'], 'utf8') : '',
    env: process.env,
  })}\n`,
)
for await (const line of createInterface(server)) act(JSON.parse(line))

function act(order) {
  switch (order.do) {
    case 'print':
      process.stderr.write(order.stderr ?? '')
      process.stdout.write(order.stdout ?? '', () => process.exit(order.code ?? 0))
      return
    case 'hang':
      return hang(order.grandchild)
    case 'leave-grandchild':
      // Keeps our stdout open, as a forgotten background process does.
      return startGrandchild(order.detached).on('spawn', () => act({ ...order, do: 'print' }))
    case 'die':
      return process.kill(process.pid, order.signal)
    case 'flood':
      return flood()
  }
}

/** The last process of the chain reports that SIGTERM is ignored. */
function hang(withGrandchild) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 60_000)
  if (withGrandchild) startGrandchild()
  else server.write(`${JSON.stringify({ role: 'hanging', call })}\n`)
}

function startGrandchild(detached = false) {
  return spawn(process.execPath, [fileURLToPath(import.meta.url), 'grandchild'], { stdio: 'inherit', detached })
}

function flood() {
  const chunk = 'x'.repeat(1024 * 1024)
  const more = () => process.stdout.write(chunk, more)
  more()
}

function parseOptions(args) {
  const found = {}
  for (let at = 0; at < args.length; at++) {
    const name = args[at]
    if (SWITCHES.has(name)) found[name] = true
    else if (VALUES.has(name)) found[name] = args[++at]
    else {
      console.error(`error: unknown option '${name}'`)
      process.exit(1)
    }
  }
  return found
}
