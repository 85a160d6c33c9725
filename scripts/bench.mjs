/** `npm run bench -- NAME [--json]`: installs and builds what is missing, then runs scripts/bench/NAME.ts. */
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

const BENCHES = {
  hook: 'what a hook costs beside starting node, with the daemon up and down',
  ingest: 'durable acks a second of 16 connections beside bare SQLite; draining a spool of 1,000 events',
  quality: 'what an observer keeps of recorded sessions: --sessions DIR [--provider NAME]',
  retrieval: 'does the search find what answers a question: --data FILE (LoCoMo format), --code',
  tokens: 'what the observer with a model costs: tokens for each observation and tool use, facts that reach the model',
  year: 'a year of a busy developer read in by backfill: duration, memory, search and context beside a small memory',
  search: 'how fast the search is at 1k, 10k and 100k observations, beside plain FTS5, and what hooks notice of it',
  context: 'what a session that starts waits for its memory, at 100, 10k and 100k observations, warm and cold',
  prompts: 'which prompts are given memories at which floor: those about the project, and those about something else',
  viewer: 'the page: its weight, frames while events pour in, memory, and what hooks notice of fifty viewers',
  restore: 'starting on 10,000 sessions, 1,000 of them unfinished: first ack, memory, who is awake',
}

const [name, ...args] = process.argv.slice(2)
if (name === undefined || !Object.hasOwn(BENCHES, name)) {
  if (name !== undefined) process.stderr.write(`claude-mem: there is no bench "${name}"\n`)
  for (const [known, about] of Object.entries(BENCHES)) process.stdout.write(`${known.padEnd(10)}${about}\n`)
  process.exit(name === undefined ? 0 : 2)
}
ensureInstalled()
if (process.env.CLAUDE_MEM_BUILD_DIR === undefined) ensureBuilt()
run(process.execPath, [join(root, 'scripts', 'run.mjs'), `bench/${name}`, ...args])
