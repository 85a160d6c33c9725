import { z } from 'zod'
import type { ObservationView } from '../../channel/memory.ts'
import { OBSERVATION_TYPES, tokensOf } from '../../memory/observation.ts'
import { memoryId } from '../inputs.ts'
import { cost, few, prose, shortSession, unlessEmpty, when, words } from '../text.ts'
import { READS, tool } from '../tool.ts'

/** More at once are not chosen but dumped. */
const MAX_IDS = 50
/** Tokens of one answer; clients cut off at some ten thousand, in the middle of a sentence. */
const MAX_ANSWER_TOKENS = 8_000

/** A single observation within these bounds always fits into an answer. */
const LINE_CHARS = 300
const NARRATIVE_CHARS = 8_000
const MAX_FACTS = 20
const FACT_CHARS = 500
const MAX_CONCEPTS = 20
const CONCEPT_CHARS = 60
const MAX_FILES = 20
const FILE_CHARS = 200
const MAX_FUNCTIONS = 20
const MAX_LINKS = 20

const texts = z.array(z.string()).optional()
const ids = z.array(z.int()).optional()

const observationSchema = z.object({
  id: z.int(),
  type: z.enum(OBSERVATION_TYPES),
  title: z.string().optional(),
  subtitle: z.string().optional(),
  narrative: z.string().optional(),
  facts: texts,
  concepts: texts,
  files_read: texts,
  files_modified: texts,
  functions_changed: texts,
  at: z.string().describe("In the user's time zone"),
  project: z.string(),
  session: z.string(),
  prompt: z.int().describe('Which prompt of its session'),
  agent: z.string().optional().describe('The subagent it comes from'),
  pinned: z.literal(true).optional(),
  superseded_by: z.int().optional().describe('Read that one instead'),
  supersedes: ids,
  repeats: ids.describe('Earlier ones that say nearly the same'),
})
type Shown = z.input<typeof observationSchema>

export const getObservations = tool({
  name: 'get_observations',
  title: 'Read memories whole',
  description:
    'Step 3, expensive: whole observations by id: narrative, facts, files, functions. Take the ids from search_memory ' +
    'or timeline, whose rows say what each costs; ask for those you need in one call. An answer has at most about ' +
    `${MAX_ANSWER_TOKENS} tokens; what does not fit is named, to be asked for next.`,
  input: z.strictObject({ ids: z.array(memoryId).min(1).max(MAX_IDS) }),
  output: z.object({
    observations: z.array(observationSchema),
    missing: ids.describe('Not there: forgotten, or never were'),
    left_out: ids.describe('No room in this answer: ask for them next'),
    tokens: z.int().describe('What this answer costs'),
  }),
  annotations: READS,
  run: async (args, { memory }) => {
    const { observations, missing } = await memory.observations([...new Set(args.ids)])
    const { fitting, leftOut } = withinBudget(observations.map(shownOf))
    const data = {
      observations: fitting.map(({ shown }) => shown),
      missing: unlessEmpty(missing),
      left_out: unlessEmpty(leftOut),
      tokens: fitting.reduce((total, { tokens }) => total + tokens, 0),
    }
    const remarks = [
      missing.length === 0 ? '' : `Not there: ${idList(missing)}. Ids come from search_memory.`,
      leftOut.length === 0 ? '' : `No room in this answer, ask for them next: ${idList(leftOut)}.`,
    ]
    const parts = [...data.observations.map(textOf), ...remarks, cost(data.tokens)].filter((part) => part !== '')
    return { data, text: parts.join('\n\n') }
  },
})

function withinBudget(all: readonly Shown[]) {
  const fitting: { shown: Shown; tokens: number }[] = []
  const leftOut: number[] = []
  let room = MAX_ANSWER_TOKENS
  for (const shown of all) {
    const tokens = tokensOf(JSON.stringify(shown).length)
    // The first one that has no room ends it: what comes is in the order that was asked for.
    if (leftOut.length > 0 || (fitting.length > 0 && tokens > room)) leftOut.push(shown.id)
    else {
      fitting.push({ shown, tokens })
      room -= tokens
    }
  }
  return { fitting, leftOut }
}

function shownOf(view: ObservationView): Shown {
  const functions = view.functionsChanged.map(({ name, file, action }) => `${action} ${name} in ${file}`)
  return {
    id: view.id,
    type: view.type,
    title: words(view.title, LINE_CHARS) || undefined,
    subtitle: words(view.subtitle, LINE_CHARS) || undefined,
    narrative: prose(view.narrative, NARRATIVE_CHARS) || undefined,
    facts: few(view.facts, MAX_FACTS, FACT_CHARS),
    concepts: few(view.concepts, MAX_CONCEPTS, CONCEPT_CHARS),
    files_read: few(view.filesRead, MAX_FILES, FILE_CHARS),
    files_modified: few(view.filesModified, MAX_FILES, FILE_CHARS),
    functions_changed: few(functions, MAX_FUNCTIONS, LINE_CHARS),
    at: when(view.createdAt),
    project: words(view.projectName, LINE_CHARS),
    session: shortSession(view.session),
    prompt: view.promptNumber,
    agent: words(view.agent, LINE_CHARS) || undefined,
    pinned: view.pinned ? true : undefined,
    superseded_by: view.supersededBy ?? undefined,
    supersedes: unlessEmpty(view.supersedes.slice(0, MAX_LINKS)),
    repeats: unlessEmpty(view.repeats.slice(0, MAX_LINKS)),
  }
}

function textOf(shown: Shown): string {
  const { id, type, at, project, session, prompt, agent } = shown
  const from = `${at}, ${project}, session ${session}, prompt ${prompt}${agent === undefined ? '' : `, agent ${agent}`}`
  const lines = [
    `#${id} ${type}: ${shown.title ?? '(untitled)'}`,
    `${from}${shown.pinned === true ? ', pinned' : ''}`,
    shown.superseded_by === undefined ? '' : `Superseded by #${shown.superseded_by}: read that one.`,
    shown.subtitle ?? '',
    shown.narrative ?? '',
    ...(shown.facts ?? []).map((fact) => `- ${fact}`),
    labelled('Concepts', shown.concepts),
    labelled('Files read', shown.files_read),
    labelled('Files modified', shown.files_modified),
    labelled('Functions', shown.functions_changed),
    shown.supersedes === undefined ? '' : `Supersedes ${idList(shown.supersedes)}`,
    shown.repeats === undefined ? '' : `Repeats ${idList(shown.repeats)}`,
  ]
  return lines.filter((line) => line !== '').join('\n')
}

function labelled(label: string, list: readonly string[] | undefined): string {
  return list === undefined ? '' : `${label}: ${list.join(', ')}`
}

function idList(list: readonly number[]): string {
  return list.map((id) => `#${id}`).join(', ')
}
