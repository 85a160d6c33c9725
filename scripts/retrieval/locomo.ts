/**
 * Conversations in the format of LoCoMo: sessions of turns with their dates, and questions that name the turns which
 * answer them. What a turn says is its text with who said it and what a picture in it shows; nothing else of the file
 * is read.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

export interface Turn {
  id: string
  text: string
}

export interface Session {
  name: string
  /** Epoch ms. */
  at: number
  turns: Turn[]
}

export interface Question {
  text: string
  /** Ids of turns; one that does not exist can never be found and counts as missed. */
  evidence: string[]
}

export interface Conversation {
  name: string
  sessions: Session[]
  questions: Question[]
}

const turnShape = z.object({
  speaker: z.string(),
  dia_id: z.string(),
  text: z.string(),
  blip_caption: z.string().optional(),
})
const turnsShape = z.array(turnShape)
const fileShape = z.array(
  z.object({
    sample_id: z.union([z.string(), z.number()]),
    conversation: z.record(z.string(), z.unknown()),
    qa: z.array(z.object({ question: z.string(), evidence: z.array(z.string()).default([]) })),
  }),
)

export function readConversations(file: string): Conversation[] {
  return fileShape.parse(JSON.parse(readFileSync(file, 'utf8'))).map(({ sample_id, conversation, qa }) => ({
    name: String(sample_id),
    sessions: sessionsOf(conversation),
    questions: qa.flatMap(({ question, evidence }) => {
      const ids = [...new Set(evidence.join(' ').match(/D\d+:\d+/g) ?? [])]
      return ids.length === 0 ? [] : [{ text: question, evidence: ids }]
    }),
  }))
}

function sessionsOf(conversation: Record<string, unknown>): Session[] {
  return Object.keys(conversation)
    .flatMap((name) => /^session_(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .map((number) => ({
      name: `session_${number}`,
      at: timeOf(z.string().parse(conversation[`session_${number}_date_time`])),
      turns: turnsShape
        .parse(conversation[`session_${number}`])
        .map(({ dia_id, speaker, text, blip_caption = '' }) => ({
          id: dia_id,
          text: `${speaker}: ${text} ${blip_caption}`.trim(),
        })),
    }))
}

/** `1:56 pm on 8 May, 2023`, taken for UTC. */
function timeOf(text: string): number {
  const [time, day] = text.split(' on ')
  const at = Date.parse(`${day} ${time} UTC`)
  if (Number.isNaN(at)) throw new Error(`"${text}" is not a date`)
  return at
}
