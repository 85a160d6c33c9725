/** Every function that reads stored or foreign text takes linear time on 64 KB of every piece of `HOSTILE_PIECES`. */
import { describeHostileText } from './support/hostile-cases.ts'
import { HOSTILE_PIECES } from './support/hostile-text.ts'

describeHostileText(HOSTILE_PIECES)
