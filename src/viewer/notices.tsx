/** What the user should know wherever they are: notices of the daemon, an observer that does not answer, failed messages. */
import { Note } from './components/basics.tsx'
import { Icon } from './components/icon.tsx'
import { daemonStatus } from './daemon-status.ts'
import { countOf, fullCount, RelativeTime } from './format.tsx'
import { Observable, useObservable } from './observable.ts'
import { viewHref } from './route.ts'
import { safeLine, safeText } from './safe-text.ts'

/** Dismissed on this page. A repeated notice has another time and is shown again. */
const readNotices = new Observable<ReadonlySet<string>>(new Set())
const MAX_NOTICES = 3
const MAX_NOTICE_CHARS = 600

const TONES = { info: undefined, warn: 'warn', error: 'bad' } as const

interface NoticeFields {
  at: number
  text: string
}

export function NoticeList() {
  const read = useObservable(readNotices)
  const status = useObservable(daemonStatus)
  if (status === null) return null
  const { waiting, queue, indexing } = status
  const unread = status.notices.filter((one) => !read.has(noticeKey(one))).reverse()
  return (
    <>
      {unread.slice(0, MAX_NOTICES).map((notice) => (
        <Note key={noticeKey(notice)} tone={TONES[notice.level]}>
          {safeText(notice.text, MAX_NOTICE_CHARS)}{' '}
          <span class="soft">
            <RelativeTime at={notice.at} />
          </span>{' '}
          <button type="button" class="plain" aria-label="Dismiss" title="Dismiss" onClick={() => dismiss(notice)}>
            <Icon name="close" size={14} />
          </button>
        </Note>
      ))}
      {waiting === null ? null : (
        <Note tone="warn" live>
          The observer is {waiting.offline ? 'working without a model' : 'not answering'}, since{' '}
          <RelativeTime at={waiting.since} />: {safeLine(waiting.reason)}
        </Note>
      )}
      {queue.failed === 0 ? null : (
        <Note tone="bad">
          {countOf(queue.failed, 'message')} could not be observed.{' '}
          <a href={viewHref('session', null, { status: 'with failed messages' })}>Retry or drop</a>
        </Note>
      )}
      {indexing === null ? null : (
        <Note>
          {indexing.what === 'vectors' ? 'Computing vectors for the search' : 'Indexing for the search'}:{' '}
          {fullCount(indexing.done)} of {fullCount(indexing.total)}
        </Note>
      )}
    </>
  )
}

function noticeKey({ at, text }: NoticeFields): string {
  return `${at} ${text.slice(0, 40)}`
}

function dismiss(notice: NoticeFields): void {
  readNotices.set(new Set([...readNotices.value, noticeKey(notice)]))
}
