/** Targets that are files and processes: the spool, files to import, and the real hook process. */

import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { isExcluded } from '../../src/domain/project.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { adapterFromArgs } from '../../src/hook/clients/index.ts'
import { parseJsonObject } from '../../src/hook/payload.ts'
import { errorMessage, MemError } from '../../src/lib/errors.ts'
import { readFileChunks } from '../../src/lib/files.ts'
import { OriginalDatabase } from '../../src/store/sqlite/original-database.ts'
import { checkExport, detectImportFile, MAX_LINE_CHARS, readExport } from '../../src/transfer/exchange/export-file.ts'
import { type ImportSource, importRecords, ProjectMap } from '../../src/transfer/exchange/import.ts'
import { originalSource } from '../../src/transfer/exchange/original.ts'
import { readLines } from '../../src/transfer/transcripts/lines.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import type { Random } from '../lib/random.ts'
import { HOOK } from '../lib/sandbox.ts'
import { mutateBytes, mutateJson, mutateText } from './mutate.ts'
import { hookInput } from './parsers.ts'
import { exportLines, memoryEvent } from './samples.ts'
import { Finding, type FuzzTarget, type TargetContext, type TargetSpec } from './target.ts'

// ---- The spool

/** Files that wait at the same time: as after an hour without a daemon. */
const SPOOLED_AT_ONCE = 400
/** The daemon looks once a second; a loaded machine takes longer. In ms. */
const DRAIN_LIMIT_MS = 60_000

export const spoolTarget: TargetSpec = {
  about: 'spool files, read by the daemon',
  share: 50_000,
  daemon: true,
  open: ({ paths }: TargetContext): FuzzTarget => {
    const { spool } = paths
    mkdirSync(spool, { recursive: true, mode: 0o700 })
    let waiting = 0
    const drain = async () => {
      const deadline = performance.now() + DRAIN_LIMIT_MS
      let left = spooled(spool)
      while (left.length > 0 && performance.now() < deadline) {
        await sleep(20)
        left = spooled(spool)
      }
      waiting = 0
      // What is set aside would fill the disk of a million inputs.
      rmSync(join(spool, 'bad'), { recursive: true, force: true })
      for (const file of left) rmSync(join(spool, file), { force: true })
      if (left.length > 0) {
        throw new Finding(
          `${left.length} spool files were neither stored nor set aside, such as number ${left[0]?.split('-')[2]}`,
        )
      }
    }
    return {
      lanes: 1,
      // Waiting for the daemon's next look at the spool is not slow.
      prepare: (random, index) => async () => {
        const temporary = join(spool, `${index}.part`)
        writeFileSync(temporary, spoolFile(random))
        renameSync(
          temporary,
          join(spool, `${String(1_794_000_000_000 + index).padStart(15, '0')}-1-${index}-0000000000000000.json`),
        )
        waiting += 1
        if (waiting >= SPOOLED_AT_ONCE) await drain()
      },
      close: drain,
    }
  },
}

/** Files of a newer version stay for it: they are counted as read. */
function spooled(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.json') && !isNewer(join(directory, name)))
}

function isNewer(file: string): boolean {
  try {
    const newer = JSON.parse(readFileSync(file, 'utf8'))?.v > PROTOCOL_VERSION
    if (newer) rmSync(file, { force: true })
    return newer
  } catch {
    return false
  }
}

function spoolFile(random: Random): Buffer {
  const text = Buffer.from(mutateJson({ v: PROTOCOL_VERSION, event: memoryEvent(random) }, random))
  return random.chance(0.1) ? mutateBytes(text, random) : text
}

// ---- Files to import

const IMPORT_TIMEOUT_MS = 60_000
const MESSAGE_BYTES = 5_120 * 1_024

export const importTarget: TargetSpec = {
  about: 'files to import, through the importer and the daemon',
  share: 15_000,
  daemon: true,
  open: async ({ scratch, paths }: TargetContext): Promise<FuzzTarget> => {
    const file = join(scratch, 'import.jsonl')
    const original = originalBytes(join(scratch, 'original.db'))
    const client = await DaemonClient.connect(paths)
    return {
      lanes: 1,
      prepare: (random) => {
        writeFileSync(file, importFile(random, original))
        return () => importOrRefuse(file, client)
      },
      close: () => client.close(),
    }
  },
}

/** A file may be refused as a whole, with a reason. */
async function importOrRefuse(file: string, client: DaemonClient): Promise<void> {
  try {
    await importWhole(file, client)
  } catch (error) {
    if (error instanceof MemError && error.code !== 'internal') return
    throw new Finding(`an unexpected error: ${errorMessage(error)}`, { cause: error })
  }
}

async function importWhole(file: string, client: DaemonClient): Promise<void> {
  const source = await importSource(file)
  try {
    await importRecords(source, {
      send: async (batch) => await client.call('import', { batch }, IMPORT_TIMEOUT_MS),
      projects: new ProjectMap({ projects: async () => [] }, new Map()),
      isExcluded: (cwd, project) => isExcluded(cwd, project, []),
      pins: true,
      forgotten: true,
      dryRun: false,
      batchBytes: MESSAGE_BYTES / 20,
      recordBytes: MESSAGE_BYTES / 2,
      progress: () => undefined,
    })
  } finally {
    source.close()
  }
}

/** As `claude-mem import` opens it. */
async function importSource(file: string): Promise<ImportSource> {
  const { is, bytes } = detectImportFile(file)
  if (is === 'database') return originalSource(OriginalDatabase.open(file, dirname(file)))
  const lines = () => readLines(readFileChunks(file), MAX_LINE_CHARS)
  await checkExport(lines(), file)
  return { what: 'export', total: bytes, items: () => readExport(lines(), file, () => 0), close: () => undefined }
}

function importFile(random: Random, original: Buffer): Buffer {
  if (random.chance(0.05)) return mutateBytes(mutateBytes(original, random), random)
  const lines = exportLines(random)
  // The header is damaged rarely: such a file is refused at once.
  const damaged = random.chance(0.05) ? 0 : random.between(1, lines.length - 1)
  const text = lines
    .map((line, i) =>
      i === damaged || (i > 0 && random.chance(0.2)) ? mutateJson(line, random) : JSON.stringify(line),
    )
    .join(random.pick(['\n', '\n', '\r\n', '\n\n']))
  return Buffer.from(random.chance(0.05) ? mutateText(text, random) : `${text}\n`)
}

/** A small database of the original claude-mem. */
function originalBytes(file: string): Buffer {
  rmSync(file, { force: true })
  const db = new Database(file)
  db.exec(`
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT,
      user_prompt TEXT, prompt_counter INTEGER, started_at TEXT, started_at_epoch INTEGER, completed_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT,
      created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT,
      subtitle TEXT, narrative TEXT, text TEXT, facts TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
      prompt_number INTEGER, discovery_tokens INTEGER, created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
      investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
      prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
    INSERT INTO sdk_sessions VALUES (1, 'content-1', 'memory-1', 'shop', 'do it', 1, '2026-01-01', 1790000000000, NULL);
    INSERT INTO user_prompts VALUES (1, 'content-1', 1, 'do it', '2026-01-01', 1790000000000);
    INSERT INTO observations VALUES (1, 'memory-1', 'shop', 'bugfix', 'title', 'sub', 'narrative', NULL, '["a"]', '["b"]',
      '["c.ts"]', '["d.ts"]', 1, 10, '2026-01-01', 1790000000000);
    INSERT INTO session_summaries VALUES (1, 'memory-1', 'shop', 'r', 'i', 'l', 'c', 'n', '[]', '[]', NULL, 1,
      '2026-01-01', 1790000000000);`)
  const bytes = db.serialize()
  db.close()
  return bytes
}

// ---- The hook process

const HOOK_LANES = 2
/** Of a hook that is starved of processor time by this very script, in ms. */
const HOOK_LIMIT_MS = 30_000

export const hookProcessTarget: TargetSpec = {
  about: 'payloads, through the real hook process and the daemon',
  share: 400,
  daemon: true,
  open: ({ env }: TargetContext): FuzzTarget => ({
    lanes: HOOK_LANES,
    prepare: (random) => async () => {
      const { client, raw } = hookInput(random)
      const { code, stdout } = await runHookWith(raw, ['--client', client.replaceAll('\0', '')], env)
      if (code !== 0) throw new Finding(`a hook ended with exit code ${code}`)
      if (!isAnswerTo(client, stdout)) {
        throw new Finding(`a hook wrote something else than its answer: ${stdout.slice(0, 100)}`)
      }
    },
    close: () => undefined,
  }),
}

const ANSWERED_EVENTS = ['', 'SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SessionEnd']

/** One line with an object that has only fields of this client's answers; nothing, if it takes none to some event. */
function isAnswerTo(client: string, text: string): boolean {
  const adapter = adapterFromArgs(['--client', client])
  const answers = ANSWERED_EVENTS.flatMap((event) => [
    adapter.answer({ event, context: '', message: '' }),
    adapter.answer({ event, context: 'c', message: 'm' }),
  ])
  if (text === '') return answers.includes(null)
  const sent = parseJsonObject(text)
  if (sent === null || text.trimEnd().includes('\n')) return false
  const known = new Set(answers.flatMap((answer) => Object.keys(answer ?? {})))
  return Object.keys(sent).every((name) => known.has(name))
}

const DOOR_LANES = 8

/** Answers of the daemon to a payload that it leaves to the hook's own process. */
const REFUSED = 503
/** 403: the data directory lies below the session's. */
const LEFT_TO_THE_HOOK = [403, 413, 422, REFUSED]

export const hookDoorTarget: TargetSpec = {
  about: 'payloads, posted to the daemon as the fast hook posts them',
  share: 20_000,
  daemon: true,
  open: ({ paths }: TargetContext): FuzzTarget => ({
    lanes: DOOR_LANES,
    prepare: (random, index) => {
      const { client, raw } = hookInput(random)
      const query = new URLSearchParams({ client, seed: `fuzz-${index}`, version: '0.0.1', colors: '0' })
      return async () => {
        const { status, text } = await postPayload(paths.socket, `/hook?${query}`, raw)
        if (LEFT_TO_THE_HOOK.includes(status)) return
        if (status !== 200) throw new Finding(`the daemon answered a payload with ${status}`)
        const [line = '', seed] = text.split('\n')
        if (!isAnswerTo(client, line) || seed !== `fuzz-${index}`) {
          throw new Finding(
            `the daemon answered something else than a line of JSON and the seed: ${text.slice(0, 100)}`,
          )
        }
      }
    },
    close: () => undefined,
  }),
}

async function postPayload(socketPath: string, path: string, raw: string): Promise<{ status: number; text: string }> {
  const body = Buffer.from(raw)
  const headers = { 'content-length': body.length }
  const sent = request({ socketPath, path, method: 'POST', headers, agent: false })
  // A payload that is refused is not read to its end: the rest of it cannot be written.
  sent.on('error', () => undefined)
  const answered = new Promise<IncomingMessage | null>((resolve) => {
    sent.once('response', resolve)
    sent.once('close', () => resolve(null))
  })
  sent.end(body)
  const response = await answered
  if (response === null) return { status: REFUSED, text: '' }
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text }
}

function runHookWith(
  input: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [HOOK, '--data-dir', env.CLAUDE_MEM_DATA_DIR ?? '', ...args], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: HOOK_LIMIT_MS,
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
