import * as z from 'zod'
import type { OutputOf } from '../../api/index.ts'
import { memoryId } from '../../api/schemas.ts'
import { othersForgottenText } from '../../domain/authorship.ts'
import { estimateTokens } from '../../domain/observation.ts'
import { isEntirelyPrivate } from '../../domain/private-parts.ts'
import { nameSpan } from '../../domain/quotation.ts'
import { sanitizeText } from '../../domain/sanitize.ts'
import { OBSERVATIONS_ONLY } from '../../domain/search-query.ts'
import { MemError } from '../../lib/errors.ts'
import {
  ALL_PROJECTS,
  conceptsInput,
  filesInput,
  filterInputs,
  observationType,
  projectInput,
  searchFilters,
} from '../inputs.ts'
import { groupedNumber, idList, indexRow, indexRowText, joinParts, rowSchema, tokenCost, unlessEmpty } from '../text.ts'
import { defineTool, type ToolContext, type ToolReply } from '../tool.ts'

const MAX_TITLE_CHARS = 200
/** About a thousand tokens: a memory is a short note, and reading it costs tokens. */
const MAX_TEXT_CHARS = 4_000

export const remember = defineTool({
  name: 'remember',
  title: 'Keep a memory',
  description:
    'Keeps a note for later sessions of this project. What happens in a session is remembered automatically: use this when ' +
    'the user asks for it, or for what no tool call shows, like a decision and its reason. Search first, so as not to ' +
    'keep it twice. Secrets are masked and <private> parts left out.',
  input: z.strictObject({
    title: z.string().trim().min(1).max(MAX_TITLE_CHARS).describe('One line that says it'),
    text: z.string().trim().min(1).max(MAX_TEXT_CHARS).describe('What to know, and why'),
    type: observationType.default('decision'),
    concepts: conceptsInput.default([]).describe('Words to find it by'),
    files: filesInput.default([]).describe('Paths that it is about'),
  }),
  output: z.object({ id: z.int(), project: z.string(), tokens: z.int().describe('What reading it costs') }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  run: async (args, { callOnce, here }) => {
    if (here.isExcluded()) {
      throw new MemError(
        'forbidden',
        'this project is excluded from memory (CLAUDE_MEM_EXCLUDED_PROJECTS): nothing of it is kept',
      )
    }
    if (isEntirelyPrivate(args.title) || isEntirelyPrivate(args.text)) {
      throw new MemError('bad_request', 'all of it is marked as private: there is nothing that may be kept')
    }
    const title = sanitizeText(args.title, MAX_TITLE_CHARS)
    const text = sanitizeText(args.text, MAX_TEXT_CHARS)
    const { observation: id } = await callOnce('remember', {
      project: here.project,
      cwd: here.cwd,
      title,
      text,
      kind: args.type,
      concepts: args.concepts.map((concept) => sanitizeText(concept)),
      files: args.files.map((file) => sanitizeText(file)),
      by: 'agent',
      client: 'mcp',
    })
    const data = { id, project: nameSpan(here.project.name), tokens: estimateTokens(`${title}\n${text}`) }
    return { data, text: `Remembered as #${id} in ${data.project} (${tokenCost(data.tokens)}).` }
  },
})

type ObservationView = OutputOf<'observations'>['observations'][number]
type ForgetReport = OutputOf<'forget'>['report']

/** Ids in one call; for more, the user runs `claude-mem forget` in a terminal. */
const MAX_IDS = 200
/** Titles shown in a dry run: enough to notice a mistake. */
const ROWS_SHOWN = 20

/** Erased by ids of observations, so no other kind can be chosen. */
const { kinds: _kinds, ...observationFilters } = filterInputs

const forgetInput = z.strictObject({
  ids: z.array(memoryId).min(1).max(MAX_IDS).optional(),
  project: projectInput,
  ...observationFilters,
  related: z
    .boolean()
    .default(false)
    .describe('Also what may say the same: prompts and summaries of the same turns, linked observations'),
  confirm: z.boolean().default(false).describe('true only with exactly the ids of a dry run, after the user agreed'),
})
type ForgetArguments = z.output<typeof forgetInput>

const forgetOutput = z.object({
  dry_run: z.boolean(),
  observations: z.int().describe('How many would be erased, or were erased'),
  ids: z.array(z.int()).optional().describe('To confirm'),
  rows: z.array(rowSchema).optional(),
  summaries: z.int().optional(),
  prompts: z.int().optional(),
  missing: z.array(z.int()).optional(),
  related: z
    .object({
      observations: z.array(z.int()).optional(),
      summaries: z.int().optional(),
      prompts: z.int().optional(),
    })
    .optional()
    .describe('What stays although it may say the same; related: true erases it too'),
  others: z.string().optional().describe('Memories of other people among them, and what happens to those'),
  copies: z.int().optional().describe('Backups and other files that still contain it'),
  next: z.string().optional(),
})
type ForgetReply = z.input<typeof forgetOutput>

export const forget = defineTool({
  name: 'forget',
  title: 'Forget memories',
  description:
    'Erases observations everywhere they are kept; it cannot be undone. First call it with ids, or with filters, and ' +
    'without confirm: nothing is erased, and the answer lists what would be, and what else may say the same. Show both to the ' +
    'user; if they agree, call again with exactly those ids and confirm: true, and with related: true to erase the rest too.',
  input: forgetInput,
  output: forgetOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: (args, context) => (args.confirm ? confirmForget(args, context) : previewForget(args, context)),
})

async function previewForget(
  args: ForgetArguments,
  { call, here, dryRuns }: ToolContext,
): Promise<ToolReply<ForgetReply>> {
  const byIds = args.ids !== undefined
  if (byIds === narrows(args)) {
    throw new MemError(
      'bad_request',
      byIds ? 'give ids or filters, not both' : 'say what to forget: ids from search_memory, or a filter',
    )
  }
  const filters = byIds ? {} : { ...searchFilters(args, here), kinds: OBSERVATIONS_ONLY.kinds }
  const { report } = await call('forget', { ids: args.ids ?? [], ...filters, related: args.related, confirm: false })
  const tooMany = report.ids.length > MAX_IDS
  const shownIds = report.ids.slice(0, ROWS_SHOWN)
  const observations = shownIds.length === 0 ? [] : (await call('observations', { ids: shownIds })).observations
  if (!tooMany && report.ids.length > 0) dryRuns.offer(report.ids)
  const data = {
    ...forgetReply(report),
    ids: tooMany ? undefined : unlessEmpty(report.ids),
    rows: unlessEmpty(observations.map((view) => indexRow(rowSource(view), { project: true, session: false }))),
    next: forgetNextStep(report, tooMany),
  }
  const rest = report.ids.length - observations.length
  const lines = [
    `Dry run: ${forgottenText(report)} would be erased.`,
    ...(data.rows ?? []).map(indexRowText),
    rest > 0 && observations.length > 0 ? `… ${groupedNumber(rest)} more` : '',
    data.ids === undefined ? '' : `ids: [${data.ids.join(', ')}]`,
    forgetRemarks(data),
    data.next,
  ]
  return { data, text: joinParts(lines, '\n') }
}

async function confirmForget(
  args: ForgetArguments,
  { callOnce, dryRuns }: ToolContext,
): Promise<ToolReply<ForgetReply>> {
  const { ids } = args
  if (ids === undefined || narrows(args)) {
    throw new MemError(
      'bad_request',
      'confirm takes the ids of a dry run and no filters; call forget without confirm first',
    )
  }
  if (!dryRuns.has(ids)) {
    throw new MemError(
      'bad_request',
      'these are not exactly the ids of a dry run; call forget without confirm, show the user what would be erased, then confirm the ids of its answer',
    )
  }
  const { report } = await callOnce('forget', { ids, related: args.related, confirm: true })
  dryRuns.done(ids)
  const data = forgetReply(report)
  return { data, text: joinParts([`Forgotten: ${forgottenText(report)}.`, forgetRemarks(data)], '\n') }
}

/** Whether anything is selected: all projects, or only the current one by default, is no selection. */
function narrows({ ids: _, confirm: __, related: ___, project: asked, ...filters }: ForgetArguments): boolean {
  const named = asked !== undefined && asked.trim() !== '' && asked.trim() !== ALL_PROJECTS
  return named || Object.values(filters).some((value) => (Array.isArray(value) ? value.length > 0 : Boolean(value)))
}

function forgetReply(report: ForgetReport): ForgetReply {
  return {
    dry_run: report.dryRun,
    observations: report.observations,
    summaries: report.summaries || undefined,
    prompts: report.prompts || undefined,
    missing: unlessEmpty(report.missing.slice(0, MAX_IDS)),
    related: relatedReply(report.related),
    copies: report.copies.length || undefined,
    others: report.others === undefined ? undefined : othersForgottenText(report.others),
  }
}

function relatedReply({ observations, summaries, prompts }: ForgetReport['related']): ForgetReply['related'] {
  if (observations.length + summaries.length + prompts.length === 0) return undefined
  return {
    observations: unlessEmpty(observations.slice(0, MAX_IDS)),
    summaries: summaries.length || undefined,
    prompts: prompts.length || undefined,
  }
}

function relatedRemark({ observations = [], summaries = 0, prompts = 0 }: NonNullable<ForgetReply['related']>): string {
  const counts = { observations: 0, summaries, prompts }
  const parts = [
    summaries + prompts === 0 ? '' : `${memoriesText(counts)} of the same turn`,
    observations.length === 0 ? '' : `linked observations ${idList(observations)}`,
  ]
  return `What may say the same stays: ${joinParts(parts, ', ')}. related: true erases it too.`
}

function forgetNextStep(report: ForgetReport, tooMany: boolean): string {
  if (tooMany) {
    return `That is more than ${MAX_IDS} at once: narrow it, or let the user run \`claude-mem forget\` in a terminal.`
  }
  if (report.ids.length === 0) return 'There is nothing to forget: find ids with search_memory.'
  return 'If the user agrees: forget with exactly these ids and confirm: true.'
}

function forgottenText({ observations, summaries, prompts }: ForgetReport): string {
  const text = memoriesText({ observations, summaries, prompts })
  return text === '' ? '0 observations' : text
}

function memoriesText({
  observations,
  summaries,
  prompts,
}: Pick<ForgetReport, 'observations' | 'summaries' | 'prompts'>) {
  const parts = [
    observations === 0 ? '' : `${groupedNumber(observations)} observation${observations === 1 ? '' : 's'}`,
    summaries === 0 ? '' : `${groupedNumber(summaries)} summar${summaries === 1 ? 'y' : 'ies'}`,
    prompts === 0 ? '' : `${groupedNumber(prompts)} prompt${prompts === 1 ? '' : 's'}`,
  ]
  return joinParts(parts, ', ')
}

function forgetRemarks({ missing, related, copies, others = '' }: ForgetReply): string {
  const remarks = [
    others,
    missing === undefined ? '' : `Not found: ${idList(missing)}.`,
    related === undefined ? '' : relatedRemark(related),
    copies === undefined
      ? ''
      : `${copies} backup${copies === 1 ? '' : 's'} may still contain it; the user can run \`claude-mem forget --everywhere\`.`,
  ]
  return joinParts(remarks, '\n')
}

function rowSource(view: ObservationView) {
  return { ...view, kind: 'observation' as const, title: view.title ?? view.subtitle ?? view.narrative ?? '' }
}
