/** `#/session` lists sessions, `#/session/ID` tells one. */
import { useCell } from '../../cell.ts'
import { route } from '../../route.ts'
import { SessionList } from './list.tsx'
import { StoryView } from './story.tsx'

export function SessionsView() {
  const { id, query } = useCell(route)
  if (id === null) return <SessionList query={query} />
  return <StoryView key={id} session={id} turn={Number(query.get('turn') ?? Number.NaN)} />
}
