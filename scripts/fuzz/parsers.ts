/** Targets that are functions of this program: reading payloads in the hook, transcripts, replies of models. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportRecordSchema, firstIssue } from '../../src/api/record-schemas.ts'
import { eventSchema } from '../../src/api/schemas.ts'
import { cleanEvent } from '../../src/domain/clean-event.ts'
import type { MemoryEvent, TurnEndEvent } from '../../src/domain/event.ts'
import { MAX_PASSAGE_CHARS } from '../../src/domain/passage.ts'
import { toWellFormed } from '../../src/domain/sanitize.ts'
import { wordsOfTurn } from '../../src/domain/turn-words.ts'
import { EMPTY_OUTCOME, type HookPayload } from '../../src/hook/clients/adapter.ts'
import { adapterFromArgs } from '../../src/hook/clients/index.ts'
import { parseJsonObject, readFileContextQuery, readPayloadFields } from '../../src/hook/payload.ts'
import { mayReport } from '../../src/hook/private-turn.ts'
import { parseReply } from '../../src/observer/model/reply/index.ts'
import { passagesOfEvent } from '../../src/reading/passages.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { surveyTranscripts } from '../../src/transfer/backfill/survey.ts'
import { readTranscriptEvents } from '../../src/transfer/transcripts/index.ts'
import { namedTranscripts } from '../../src/transfer/transcripts/readers.ts'
import type { Random } from '../lib/random.ts'
import { hardText, mutateJson, mutateText } from './mutate.ts'
import { hookPayload, modelReply, observationRecord, transcriptLines } from './samples.ts'
import { Finding, type TargetContext, type TargetSpec } from './target.ts'

const AT = 1_794_000_000_000
const settings = { ...loadSettings('', {}).values, CLAUDE_MEM_FILE_CONTEXT: true }

/** The text that a client writes to a hook. */
export function hookInput(random: Random): { client: string; raw: string } {
  const { client, payload } = hookPayload(random)
  // Now and then the payload of one client reaches the adapter of another.
  return { client: random.chance(0.03) ? hardText(random) : client, raw: mutateJson(payload, random) }
}

/** The hook's functions from the text on stdin to the event and the answer, as `src/hook/run.ts` calls them. */
export const hookTarget: TargetSpec = {
  about: 'payloads, through the functions of the hook',
  share: 330_000,
  daemon: false,
  open: ({ scratch }: TargetContext) => ({
    lanes: 1,
    prepare: (random) => {
      const { client, raw } = hookInput(random)
      return () => readAsHook(client, raw, scratch)
    },
    close: () => undefined,
  }),
}

function readAsHook(client: string, raw: string, privateTurns: string): void {
  const adapter = adapterFromArgs(['--client', client])
  const sent = parseJsonObject(raw)
  JSON.stringify(adapter.answer(EMPTY_OUTCOME))
  const payloads = sent === null ? [] : adapter.translate(sent, {}, raw)
  for (const payload of payloads) readTranslated(adapter.name, payload, raw, privateTurns)
}

function readTranslated(client: string, payload: HookPayload, raw: string, privateTurns: string): void {
  if (payload.hook_event_name === 'PreToolUse') {
    readFileContextQuery(payload, settings)
    return
  }
  const reading = readPayloadFields(payload, raw, { settings, at: AT, client })
  if (reading.type === 'ignored') return
  mayReport(reading.event, privateTurns)
  // As the daemon gets it.
  checkEvent(JSON.parse(JSON.stringify(reading.event)), 'the hook made an event that the daemon refuses')
  checkPassages(reading.event)
}

/** Every event is read once it is stored, whatever a client put into it. */
function checkPassages(event: MemoryEvent): void {
  for (const { text, subject } of passagesOfEvent(event, 1)) {
    if (text === '' || text.length > MAX_PASSAGE_CHARS) throw new Finding(`a passage has ${text.length} characters`)
    if (toWellFormed(text) !== text || toWellFormed(subject ?? '') !== (subject ?? '')) {
      throw new Finding('a passage has half a character')
    }
  }
}

function checkEvent(event: unknown, what: string): void {
  const parsed = eventSchema.safeParse(event)
  if (!parsed.success) throw new Finding(`${what}: ${firstIssue(parsed.error)}`)
}

export const transcriptsTarget: TargetSpec = {
  about: 'transcripts, through the survey and the reader of a backfill, and as the end of a live session',
  share: 55_000,
  daemon: false,
  open: ({ scratch }: TargetContext) => {
    const directory = join(scratch, 'transcripts')
    mkdirSync(directory, { recursive: true })
    const file = join(directory, 'session.jsonl')
    return {
      lanes: 1,
      prepare: (random) => {
        writeFileSync(file, Buffer.from(transcript(random), random.chance(0.02) ? 'latin1' : 'utf8'))
        return () => readAsBackfill(file)
      },
      close: () => rmSync(directory, { recursive: true, force: true }),
    }
  },
}

async function readAsBackfill(file: string): Promise<void> {
  const survey = await surveyTranscripts(namedTranscripts([file]), { settings, since: null, named: true })
  const surveyed = new Set(survey.sessions.map(({ session }) => session))
  for await (const event of readTranscriptEvents(file, { settings })) {
    // A backfill sends only what its survey lists.
    if (!surveyed.has(event.session)) continue
    checkEvent(JSON.parse(JSON.stringify(event)), 'a transcript became an event that the daemon refuses')
    checkPassages(event)
    if (event.kind === 'turn_end') checkLiveWords(event, readFileSync(file, 'utf8'))
  }
}

/** The words of a live turn go through the same check as any other event. */
function checkLiveWords(event: TurnEndEvent, transcriptEnd: string): void {
  const cleaned = cleanEvent({ ...event, words: wordsOfTurn(transcriptEnd, event) }, settings, event.at)
  if (cleaned.type === 'event') checkEvent(cleaned.event, 'a live turn has words that the daemon refuses')
}

function transcript(random: Random): string {
  const lines = transcriptLines(random)
  const damaged = random.between(0, lines.length - 1)
  const text = lines
    .map((line, i) => (i === damaged || random.chance(0.15) ? mutateJson(line, random) : JSON.stringify(line)))
    .join(random.pick(['\n', '\n', '\n', '\r\n', '\n\n']))
  return random.chance(0.1) ? mutateText(text, random) : `${text}\n`
}

/** Parsed replies become rows, so they must be as valid as rows of an export. */
export const repliesTarget: TargetSpec = {
  about: 'replies of models, through the parser',
  share: 200_000,
  daemon: false,
  open: () => ({
    lanes: 1,
    prepare: (random) => {
      const text = reply(random)
      const fields = observationRecord(random)
      return () => parseAndCheck(text, fields)
    },
    close: () => undefined,
  }),
}

function parseAndCheck(text: string, rest: Record<string, unknown>): void {
  const { observations, summary, skip, skipSummary, resolved } = parseReply(text)
  checkNumbers(resolved)
  for (const { from, supersedes, ...parsed } of observations) {
    checkRecord({ ...rest, ...parsed }, 'observation')
    checkNumbers(from)
    checkNumbers(supersedes)
  }
  if (summary !== null) {
    const fields = { kind: 'summary', session: 's', project: 'p', createdAt: 0, promptNumber: 1, model: null }
    checkRecord({ ...fields, ...summary }, 'summary')
  }
  for (const reason of [skip, skipSummary]) if (reason === '') throw new Finding('a skip has an empty reason')
}

function reply(random: Random): string {
  let text = modelReply(random)
  for (let i = random.between(1, 4); i > 0; i--) text = mutateText(text, random)
  if (random.chance(0.05)) text = hardText(random)
  return text
}

function checkRecord(record: object, kind: string): void {
  const parsed = exportRecordSchema.safeParse(record)
  if (!parsed.success) throw new Finding(`a reply became an ${kind} that is not valid: ${firstIssue(parsed.error)}`)
  JSON.stringify(record, (_, value) => {
    if (typeof value === 'string' && toWellFormed(value) !== value) {
      throw new Finding(`a reply became an ${kind} with half a character`)
    }
    return value
  })
}

function checkNumbers(numbers: readonly number[]): void {
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0)) {
    throw new Finding('a reply names numbers that cannot be ids')
  }
}
