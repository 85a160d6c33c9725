import { rmSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventsToRegister } from '../../../src/setup/install/claude-code-events.ts'
import { settingsAt as at } from './fixture.ts'
import { COMMAND, INPUTS } from './inputs.ts'

const EVENT_NAMES = eventsToRegister()
const inputs = Object.entries(INPUTS)

describe('install', () => {
  it.each(inputs)('%s: adds our hooks, keeps the rest, and is idempotent', (_, input) => {
    const place = at(input)
    const before = /\S/.test(place.text) ? place.json : {}
    expect(place.install().changed).toBe(true)
    const { hooks, ...rest } = place.json
    const { hooks: hooksBefore, ...restBefore } = before
    expect(rest).toEqual(restBefore)
    for (const [event, groups] of Object.entries(hooksBefore ?? {})) {
      expect(hooks[event].slice(0, Object(groups).length)).toEqual(groups)
    }
    expect(place.commands.filter((command) => command.endsWith(COMMAND)).sort()).toEqual(
      EVENT_NAMES.map((event) => `${event}: ${COMMAND}`).sort(),
    )
    const once = place.bytes
    const kept = place.kept
    expect(place.install()).toMatchObject({ changed: false, backup: null, diff: [] })
    expect(place.bytes.equals(once)).toBe(true)
    expect(place.kept).toEqual(kept)
  })

  it.each(inputs)('%s: uninstall restores every byte', (_, input) => {
    const place = at(input)
    const before = place.bytes
    place.install()
    expect(place.uninstall().how).toBe('restored')
    expect(place.bytes.equals(before)).toBe(true)
    expect(statSync(place.file).mode & 0o777).toBe(0o640)
    expect(place.uninstall()).toMatchObject({ changed: false, how: 'nothing' })
  })

  // What is left empty goes with our entries, whoever made it.
  const laidOut = inputs.filter(([, input]) => !/\{\s*\}|\[\]|^\s*$/.test(String(input)))
  it.each(laidOut)('%s: without a record, only our entries are removed', (_, input) => {
    const place = at(input)
    const before = place.text
    place.install()
    rmSync(place.dataDir, { recursive: true })
    expect(place.uninstall().how).toBe('removed')
    expect(place.text).toBe(before)
  })

  it('writes the entries that the client expects', () => {
    const place = at('{}')
    place.install()
    const entry = (timeout: number) => ({ type: 'command', command: COMMAND, timeout })
    expect(place.json.hooks).toEqual({
      SessionStart: [{ hooks: [entry(15)] }],
      UserPromptSubmit: [{ hooks: [entry(10)] }],
      PostToolUse: [{ matcher: '*', hooks: [entry(10)] }],
      PostToolUseFailure: [{ matcher: '*', hooks: [entry(10)] }],
      SubagentStop: [{ hooks: [entry(10)] }],
      PreCompact: [{ hooks: [entry(10)] }],
      Stop: [{ hooks: [entry(10)] }],
      StopFailure: [{ hooks: [entry(10)] }],
      SessionEnd: [{ hooks: [entry(10)] }],
    })
  })

  it.each([
    ['1.0.60', ['SessionStart', 'PostToolUseFailure', 'StopFailure', 'SessionEnd']],
    ['1.0.128', ['PostToolUseFailure', 'StopFailure']],
    ['2.0.0', ['PostToolUseFailure', 'StopFailure']],
    ['2.0.76', ['StopFailure']],
    ['2.1.77', ['StopFailure']],
    ['2.1.197', []],
    ['3.0.0', []],
    [null, ['PostToolUseFailure', 'StopFailure']],
  ])('leaves out what client %s does not know: %j', (version, leftOut) => {
    const place = at('{}')
    expect(place.install(version).leftOut).toEqual(leftOut)
    expect(Object.keys(place.json.hooks)).toEqual(EVENT_NAMES.filter((name) => !leftOut.includes(name)))
  })

  it('follows the client to another version', () => {
    const place = at('{}')
    place.install('1.0.128')
    expect(place.install('2.1.197').changed).toBe(true)
    expect(Object.keys(place.json.hooks).sort()).toEqual([...EVENT_NAMES].sort())
    expect(place.install(null).changed).toBe(false)
    place.install('2.0.0')
    expect(Object.keys(place.json.hooks)).not.toContain('StopFailure')
    expect(place.uninstall().how).toBe('restored')
    expect(place.text).toBe('{}')
  })

  it('refuses a client that has no hooks', () => {
    const place = at('{}')
    expect(() => place.install('1.0.20')).toThrow('has no hooks; update it')
    expect(place.text).toBe('{}')
  })
})

describe('after node or the program has moved', () => {
  it.each([
    ['remembered', false],
    ['not remembered', true],
  ])('entries are updated in their place, never doubled (%s)', (_, forget) => {
    const place = at(INPUTS['two spaces'])
    const before = place.text
    place.install()
    const old = place.text
    if (forget) rmSync(place.dataDir, { recursive: true })
    place.node = '/home/me/.nvm/versions/node/v22.1.0/bin/node'
    place.hook = '/usr/local/lib/node_modules/claude-mem/dist/hook.cjs'
    place.install()
    const command = `"${place.node}" "${place.hook}" --data-dir "${place.registered}"`
    expect(place.text).toBe(old.replaceAll(JSON.stringify(COMMAND), JSON.stringify(command)))
    expect(place.uninstall().how).toBe('restored')
    expect(place.text).toBe(before)
  })

  it('a second entry of ours is removed, an entry of another tool in the same group stays', () => {
    const ours = { type: 'command', command: '"/old/node" "/old/claude-mem/dist/hook.cjs"', timeout: 3 }
    const theirs = { type: 'command', command: 'say done' }
    const place = at(JSON.stringify({ hooks: { Stop: [{ hooks: [ours, theirs] }, { hooks: [ours] }] } }))
    place.install()
    expect(place.commands.filter((line) => line.startsWith('Stop:'))).toEqual(['Stop: say done', `Stop: ${COMMAND}`])
    place.uninstall()
    expect(place.json).toEqual({ hooks: { Stop: [{ hooks: [theirs] }] } })
  })

  it('a program of another name is not ours', () => {
    const theirs = '"/usr/bin/node" "/opt/other/dist/hook.cjs"'
    const place = at(JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: theirs }] }] } }))
    const before = place.text
    place.install()
    expect(place.commands).toContain(`Stop: ${theirs}`)
    place.uninstall()
    expect(place.text).toBe(before)
  })
})
