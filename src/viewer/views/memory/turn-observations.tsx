/** The observations of one turn, each with what can be done about it. */
import { Loaded } from '../../components/basics.tsx'
import { MemoryLink } from '../../components/memory-parts.tsx'
import { useLive, useOperation } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { MemoryActions } from './actions.tsx'

/** An id that does nothing else when it is pasted into a shell. */
const PLAIN_ID = /^[\w-]{1,100}$/
/** More than a session has. */
const MAX_ROWS = 1_000

export function TurnObservations({ session, turn }: { session: string; turn: number }) {
  const story = useLive(useOperation('story', { session, trace: 0, rows: MAX_ROWS }))
  return (
    <Loaded query={story}>
      {({ story: { observationRows } }) => {
        const observations = observationRows.filter(({ promptNumber }) => promptNumber === turn)
        if (observations.length === 0) {
          return (
            <p class="small soft">
              This turn has no observation, only its words are kept.
              {PLAIN_ID.test(session) ? (
                <>
                  {' '}
                  To forget its session, run <code>claude-mem forget --session {session} --kind all</code>
                </>
              ) : null}
            </p>
          )
        }
        return (
          <ul class="rows small">
            {observations.map(({ id, type, title }) => (
              <MemoryLink key={id} href={viewHref('memory', id)} kind={type} title={title}>
                <MemoryActions id={id} />
              </MemoryLink>
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}
