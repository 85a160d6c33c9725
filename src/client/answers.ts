/** Which answer each request gets. A request that is missing here, or one too many, does not compile. */
import type { Answer, Request } from '../channel/protocol.ts'

/** Following the stream is more than one question and one answer: see `follow`. */
export type RequestType = Exclude<Request['type'], 'subscribe'>

export const ANSWERS = {
  hello: 'hello',
  event: 'ack',
  file_context: 'recalled',
  status: 'status',
  sessions: 'sessions',
  session: 'session',
  context: 'context',
  queue: 'queue',
  usage: 'usage',
  calls: 'calls',
  queue_retry: 'done',
  queue_clear: 'done',
  flush: 'done',
  close_session: 'session',
  reopen_session: 'session',
  reported: 'reported',
  import: 'imported',
  backup: 'backups',
  backups: 'backups',
  stop: 'done',
  handover: 'done',
  search: 'found',
  observations: 'observations',
  timeline: 'timeline',
  summaries: 'summaries',
  remember: 'remembered',
  correct: 'remembered',
  forget: 'forgotten',
  pin: 'pinned',
  link: 'linked',
  memory_stats: 'memory_stats',
  reindex: 'indexing',
  indexing: 'indexing',
  projects: 'projects',
  project_rename: 'project',
  project_merge: 'project_merged',
  files: 'files',
  origin: 'origin',
  event_view: 'event_view',
  story: 'story',
  activity: 'activity',
  payloads: 'payloads',
  viewer_link: 'viewer_link',
  settings: 'settings',
  setting_set: 'settings',
} as const satisfies Record<RequestType, Answer['type']>

export type AnswerTo<T extends RequestType> = Omit<Extract<Answer, { type: (typeof ANSWERS)[T] }>, 'v' | 'id'>

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** What a request says besides its name. */
export type Fields<T extends RequestType> = Without<Extract<Request, { type: T }>, 'v' | 'id' | 'type'>
