/** Memory while a session works, with the real Claude Code: for a prompt, and for a file that is about to be read. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from './abilities.ts'
import { ClientPlace } from './client-place.ts'
import type { Scripts } from './messages-api.ts'
import { missingFrom } from './requests.ts'

const MARKER = 'zephyrQuota'
const CONTENT = `export const ${MARKER} = 2`
const PROMPT_HEADING = 'Memory of earlier sessions that may concern this prompt'
const FILE_HEADING = `Memory of earlier sessions about \`${MARKER}.ts\`, newer than its last change`

const scripts = ({ project }: ClientPlace): Scripts => {
  const file = join(project, `${MARKER}.ts`)
  return {
    work: [
      { tools: [{ name: 'Write', input: { file_path: file, content: `${CONTENT}\n` } }] },
      { text: `Set ${MARKER} to 2 because the old limit was too low.` },
    ],
    ask: [{ text: 'Two.' }],
    thanks: [{ text: 'You are welcome.' }],
    look: [{ tools: [{ name: 'Read', input: { file_path: file } }] }, { text: 'Read it.' }],
  }
}

let place: ClientPlace
beforeAll(async () => {
  place = await ClientPlace.make(scripts)
  await place.memOk('config', 'set', 'CLAUDE_MEM_PROMPT_CONTEXT', 'true')
  await place.memOk('config', 'set', 'CLAUDE_MEM_FILE_CONTEXT', 'true')
  await place.memOk('install')
  await place.claude('[[script:work]] raise the limit')
  await place.settled()
})
afterAll(() => place?.dispose())

describe('while a session works', () => {
  it('a prompt about what is known gets it, and another gets nothing', async () => {
    await place.claude(`[[script:ask]] Why is ${MARKER} in ${MARKER}.ts so low?`)
    expect(missingFrom(place.api.firstRequest('ask'), [PROMPT_HEADING])).toEqual([])
    await place.claude('[[script:thanks]] thanks')
    expect(missingFrom(place.api.firstRequest('thanks'), [PROMPT_HEADING])).toEqual([PROMPT_HEADING])
  })

  it('a file that is read comes with what is known about it, and is read', async (test) => {
    needs('fileContext', test)
    await place.claude('[[script:look]] go on')
    expect(missingFrom(place.api.firstRequest('look'), [FILE_HEADING])).toEqual([FILE_HEADING])
    expect(missingFrom(place.api.lastRequest('look'), [FILE_HEADING, CONTENT])).toEqual([])
  })
})
