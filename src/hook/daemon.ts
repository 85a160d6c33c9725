/** The hook's end of the channel: one message, one answer. */
import { CONNECT_TIMEOUT_MS, FILE_CONTEXT_TIMEOUT_MS, PROTOCOL_VERSION, type Request } from '../channel/protocol.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { FileQuestion } from '../memory/file-question.ts'
import { type Paths, prepareSocketDirectory } from '../paths.ts'
import { VERSION } from '../version.ts'
import type { Payload } from './clients/client.ts'
import { readText } from './io.ts'
import { parsePayload } from './payload.ts'
import { type Said, said } from './said.ts'
import { type AskFailure, ask } from './websocket.ts'

export type Reported = ({ type: 'ack'; version: string } & Said) | { type: AskFailure | 'refused' }

export function report(event: MemoryEvent, paths: Paths, timeoutMs: number): Promise<Reported> {
  return send(
    { v: PROTOCOL_VERSION, id: event.id, type: 'event', event, version: VERSION },
    paths,
    timeoutMs,
    (answer) =>
      answer.type === 'ack'
        ? { type: 'ack', version: String(answer.version), context: said(answer.context), message: said(answer.message) }
        : null,
  )
}

/** Null where nothing is known, or nobody says so in time. */
export async function askAboutFile(question: FileQuestion, paths: Paths): Promise<string | null> {
  const request: Request = { v: PROTOCOL_VERSION, id: 'file', type: 'file_context', ...question }
  const answer = await send(request, paths, FILE_CONTEXT_TIMEOUT_MS, ({ type, context }) =>
    type === 'recalled' ? { type: 'recalled' as const, context: said(context) } : null,
  )
  return answer.type === 'recalled' ? answer.context : null
}

async function send<T>(
  request: Request,
  paths: Paths,
  answerTimeoutMs: number,
  read: (answer: Payload) => T | null,
): Promise<T | { type: AskFailure | 'refused' }> {
  try {
    // In a shared directory anyone could listen under our name.
    prepareSocketDirectory(paths)
  } catch {
    return { type: 'refused' }
  }
  const token = process.platform === 'win32' ? readText(paths.token)?.trim() : undefined
  const result = await ask<T | { type: AskFailure | 'refused' }>({
    connect: { path: paths.socket },
    message: JSON.stringify(token === undefined ? request : { ...request, token }),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    answerTimeoutMs,
    read: (text) => {
      const answer = parsePayload(text)
      if (answer === null) return { type: 'protocol' }
      // One without our id answers us too: the daemon may not have understood as much as the id.
      // And a daemon that is letting go has no successor yet.
      if (answer.type === 'error') return { type: answer.code === 'draining' ? 'absent' : 'refused' }
      return answer.id === request.id ? read(answer) : null
    },
  })
  return result.type === 'failed' ? { type: result.failure } : result.answer
}
