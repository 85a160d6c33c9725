import { cpSync } from 'node:fs'
import { makePlace } from './lib/place.ts'
import { populate } from './lib/populate.ts'
const place = makePlace('keep')
await populate(place, { finished: 9000, released: 500, abandoned: 500, messagesEach: 5 }, () => undefined)
cpSync(place.paths.dataDir, '/tmp/rs/base', { recursive: true })
place.remove()
