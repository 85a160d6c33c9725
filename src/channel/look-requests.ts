/** From a request that looks inside to its answer. */
import { MemError } from '../errors.ts'
import { chosenEvent, noEvent } from '../store/find-event.ts'
import { noSession } from '../store/find-session.ts'
import type { Activity, EventView, Origin, SessionStory } from '../store/origin-port.ts'
import { lastDays } from '../store/usage-view.ts'
import type { ObservationView } from './memory.ts'
import type { LookAnswer, LookRequest } from './protocol.ts'
import type { Service } from './service.ts'

export async function lookAnswer(
  request: Exclude<LookRequest, { type: 'viewer_link' | 'payloads' }>,
  service: Service,
): Promise<LookAnswer> {
  switch (request.type) {
    case 'origin':
      return { type: 'origin', ...(await originOf(service, request.observation)) }
    case 'event_view':
      return { type: 'event_view', view: await eventView(service, request.event, request.session) }
    case 'story':
      return { type: 'story', story: await storyOf(service, request.session, request) }
    case 'activity':
      return { type: 'activity', activity: await activityOf(service, request.days) }
  }
}

export async function originOf(
  service: Service,
  id: number,
): Promise<{ observation: ObservationView; origin: Origin }> {
  const { observations } = await service.memory.observations([id])
  const [observation] = observations
  const origin = observation === undefined ? null : await service.store.origin(id)
  if (observation === undefined || origin === null) throw new MemError('not_found', `there is no observation ${id}`)
  return { observation, origin }
}

/** `event`: the first characters of its id; `prefix`: those of a session's; null: whichever has the event. */
export async function eventView(service: Service, event: string, prefix: string | null): Promise<EventView> {
  const session = prefix === null ? null : await service.resolveSession(prefix)
  const found = await service.store.findEvents(event, session)
  const view = await service.store.eventView(chosenEvent(event, found), session)
  if (view === null) throw noEvent(event)
  return view
}

export async function storyOf(
  service: Service,
  prefix: string,
  { trace, rows }: { trace: number; rows: number },
): Promise<SessionStory> {
  const story = await service.store.story(await service.resolveSession(prefix), { trace, rows })
  if (story === null) throw noSession(prefix)
  return story
}

export async function activityOf(service: Service, days: number): Promise<Activity> {
  const now = service.now()
  return await service.store.activity(lastDays(days, now), now)
}
