/** From a request that looks inside to its answer. */
import { MemError } from '../errors.ts'
import { eventNamed, storyNamed } from '../store/named.ts'
import type { Activity, Origin } from '../store/origin-port.ts'
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
      return { type: 'event_view', view: await eventNamed(service.store, request.event, request.session) }
    case 'story':
      return { type: 'story', story: await storyNamed(service.store, request.session, request) }
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

export async function activityOf(service: Service, days: number): Promise<Activity> {
  const now = service.now()
  return await service.store.activity(lastDays(days, now), now)
}
