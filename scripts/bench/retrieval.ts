/**
 * `npm run bench -- retrieval --data FILE [--code] [--json] [--show-missing]`: whether the search finds what answers a
 * question, with the default settings and the bundled embedder, compared with plain FTS5 over the same texts.
 *
 * - recall_at_10, ndcg_at_10: over the questions of all conversations of FILE, each within its conversation
 * - loco: each conversation with the weights that are best for all others
 * - code_recall_at_10: share of the questions about code (test/retrieval) with a right memory among the first ten
 * - code_below_fts5: categories in which plain FTS5 finds more
 */
import { parseArgs } from 'node:util'
import { type Figures, Progress, printNote, report, rounded } from '../lib/report.ts'
import { askCode, type CodeAnswer, keepSessions, observedSessions, readCodeQueries } from '../search/code-queries.ts'
import {
  type Answered,
  askConversation,
  type Conversation,
  keepConversation,
  leaveOneOut,
  readConversations,
} from '../search/conversations.ts'
import { meanOf, type Score, SearchedMemory } from '../search/searched-memory.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    code: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    'show-missing': { type: 'boolean', default: false },
  },
})
if (options.data === undefined && !options.code) {
  printNote('claude-mem: give --data FILE (conversations in the LoCoMo format), --code, or both')
  process.exit(2)
}
const progress = new Progress()

async function withMemory<T>(name: string, work: (memory: SearchedMemory) => Promise<T>): Promise<T> {
  const memory = await SearchedMemory.open(name)
  try {
    return await work(memory)
  } finally {
    await memory.close()
  }
}

/** All conversations are in one database, as all projects of a user are. */
async function conversations(all: readonly Conversation[]): Promise<Answered[]> {
  return await withMemory('bench-retrieval', async (memory) => {
    const kept: { conversation: Conversation; turnOf: Map<number, string> }[] = []
    for (const conversation of all) {
      progress.show(`keeping ${conversation.name}`)
      kept.push({ conversation, turnOf: await keepConversation(memory, conversation) })
    }
    progress.show('indexing')
    await memory.index()
    const answered: Answered[] = []
    for (const { conversation, turnOf } of kept) {
      progress.show(`asking ${conversation.name}`)
      answered.push(await askConversation(memory, conversation, turnOf))
    }
    return answered
  })
}

function conversationFigures(answered: readonly Answered[]): Figures {
  const fitted = leaveOneOut(answered.map(({ asked }) => asked))
  const all = meanOf(answered.flatMap(({ scores }) => scores))
  const plain = meanOf(answered.flatMap((one) => one.plain))
  const left = meanOf(fitted.flatMap(({ scores }) => scores))
  return {
    recall_at_10: rounded(all.recall, 4),
    ndcg_at_10: rounded(all.ndcg, 4),
    fts5_recall_at_10: rounded(plain.recall, 4),
    fts5_ndcg_at_10: rounded(plain.ndcg, 4),
    loco: figuresOf(left),
    per_conversation: answered.map(({ name, scores, plain }, i) => ({
      name,
      questions: scores.length,
      ...figuresOf(meanOf(scores)),
      fts5: figuresOf(meanOf(plain)),
      loco: { ...figuresOf(meanOf(fitted[i]?.scores ?? [])), ...fitted[i]?.weights },
    })),
    questions: answered.reduce((sum, { scores }) => sum + scores.length, 0),
  }
}

function figuresOf({ recall, ndcg }: Score): Figures {
  return { recall_at_10: rounded(recall, 4), ndcg_at_10: rounded(ndcg, 4) }
}

async function code(): Promise<CodeAnswer[]> {
  progress.show('observing the recorded sessions')
  const sessions = await observedSessions()
  return await withMemory('bench-retrieval-code', async (memory) => {
    const texts = await keepSessions(memory, sessions)
    await memory.index()
    progress.show('asking about code')
    return await askCode(memory, readCodeQueries(), texts)
  })
}

function codeFigures(answers: readonly CodeAnswer[]): Figures {
  const share = (some: readonly CodeAnswer[], found: (answer: CodeAnswer) => boolean) =>
    rounded(some.filter(found).length / some.length, 4)
  const names = [...new Set(answers.map(({ category }) => category))]
  const categories = names.map((category) => {
    const some = answers.filter((answer) => answer.category === category)
    return {
      category,
      queries: some.length,
      recall_at_10: share(some, ({ found }) => found),
      fts5_recall_at_10: share(some, ({ plainFound }) => plainFound),
    }
  })
  return {
    code_recall_at_10: share(answers, ({ found }) => found),
    code_fts5_recall_at_10: share(answers, ({ plainFound }) => plainFound),
    code_below_fts5: categories
      .filter((one) => one.recall_at_10 < one.fts5_recall_at_10)
      .map(({ category }) => category),
    code_categories: categories,
    code_lost: answers.filter(({ isLost }) => isLost).map(({ query }) => query),
    code_queries: answers.length,
  }
}

function showMissing(answers: readonly CodeAnswer[]): void {
  for (const { category, query, expect, found, plainFound, isLost } of answers) {
    if (found) continue
    const why = isLost ? 'no memory holds it' : plainFound ? 'FTS5 finds it' : 'FTS5 neither'
    printNote(`not found (${category}, ${why}): ${query}  [${expect.join(' + ')}]`)
  }
}

const figures: Figures = {}
if (options.data !== undefined) {
  Object.assign(figures, conversationFigures(await conversations(readConversations(options.data))))
}
if (options.code) {
  const answers = await code()
  progress.clear()
  if (options['show-missing']) showMissing(answers)
  Object.assign(figures, codeFigures(answers))
}
progress.clear()
report(figures, options.json)
