/** From a request to its answer. */
import { MemError, messageOf } from '../errors.ts'
import { fault } from '../faults.ts'
import { payloadsNamed } from '../store/named.ts'
import { VERSION } from '../version.ts'
import { lookAnswer } from './look-requests.ts'
import { memoryAnswer } from './memory-requests.ts'
import { projectAnswer } from './project-requests.ts'
import { type Answer, PROTOCOL_VERSION, type Request } from './protocol.ts'
import type { Service } from './service.ts'

type Body = Answer extends infer A ? (A extends Answer ? Omit<A, 'v' | 'id'> : never) : never

/** What does not depend on the connection that it came over. */
type Answerable = Exclude<Request, { type: 'subscribe' | 'viewer_link' }>

export async function answer(request: Answerable, service: Service, dataDir: string): Promise<Answer> {
  return { v: PROTOCOL_VERSION, id: request.id, ...(await body(request, service, dataDir)) }
}

export function errorAnswer(id: string, error: unknown): Answer {
  const known = error instanceof MemError ? error : null
  return {
    v: PROTOCOL_VERSION,
    id,
    type: 'error',
    code: known?.code ?? 'internal',
    message: messageOf(error),
    // A hook that is told "not now" spools: what we do not understand ourselves must not be lost either.
    retryable: known?.retryable ?? true,
  }
}

async function body(request: Answerable, service: Service, dataDir: string): Promise<Body> {
  switch (request.type) {
    case 'hello':
      return { type: 'hello', version: VERSION, pid: process.pid, dataDir }
    case 'event': {
      const { duplicate, context, message } = await service.accept(request.event)
      fault('ack')
      const told = { ...(context === '' ? {} : { context }), ...(message === '' ? {} : { message }) }
      return { type: 'ack', duplicate, version: VERSION, ...told }
    }
    case 'file_context':
      return { type: 'recalled', context: await service.fileContext(request) }
    case 'status':
      return { type: 'status', status: await service.status() }
    case 'sessions':
      return { type: 'sessions', sessions: await service.sessions(request.filter) }
    case 'session':
      return { type: 'session', view: await service.view(request.session, request.trace) }
    case 'context': {
      const { v: _, id: __, type, project, ...wish } = request
      return { type, ...(await service.context(project, wish)) }
    }
    case 'queue': {
      const { session, ...rest } = request.filter
      const filter = session === undefined ? rest : { ...rest, session: await service.resolveSession(session) }
      const [messages, stats] = await Promise.all([service.store.queue(filter), service.store.queueStats()])
      return { type: 'queue', messages, stats }
    }
    case 'usage':
      return { type: 'usage', usage: await service.usage(request.by, request.days) }
    case 'calls':
      return { type: 'calls', ...(await service.calls(request.session, request.limit)) }
    case 'payloads': {
      const { session, after, limit } = request
      return { type: 'payloads', ...(await payloadsNamed(service.store, session, after, limit)) }
    }
    case 'queue_retry':
      return { type: 'done', affected: await service.retry(request.session) }
    case 'queue_clear':
      return { type: 'done', affected: await service.clear(request.session, request.pending) }
    case 'flush':
      return { type: 'done', affected: await service.flush(request.session, request.wait) }
    case 'close_session':
      return { type: 'session', view: await service.closeSession(request.session) }
    case 'reopen_session':
      return { type: 'session', view: await service.reopenSession(request.session) }
    case 'reported':
      return { type: 'reported', sessions: await service.store.reported(request.sessions) }
    case 'import':
      return { type: 'imported', outcomes: await service.import(request.batch) }
    case 'backup':
      return { type: 'backups', backups: [await service.backup()] }
    case 'backups':
      return { type: 'backups', backups: await service.store.backups() }
    case 'files':
      return { type: 'files', report: await service.files(request) }
    case 'projects':
    case 'project_rename':
    case 'project_merge':
      return await projectAnswer(request, service.projects)
    case 'origin':
    case 'event_view':
    case 'story':
    case 'activity':
      return await lookAnswer(request, service)
    case 'settings':
      return { type: 'settings', ...service.settings.list() }
    case 'setting_set':
      service.settings.set(request.name, request.value)
      return { type: 'settings', ...service.settings.list() }
    case 'stop':
      service.stop('asked to stop')
      return { type: 'done', affected: 1 }
    case 'handover':
      service.handover(request.version)
      return { type: 'done', affected: 1 }
    default:
      return await memoryAnswer(request, service.memory)
  }
}
