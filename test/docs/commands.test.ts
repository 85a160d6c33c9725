/** Every command and flag that the documentation names exists. `commands-guide.long.ts` and `commands-reference.long.ts` also run them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GENERAL_OPTIONS } from '../../src/cli/parse.ts'
import { ROOT } from '../support/paths.ts'
import { commandsIn, documentedCommands, typedCommand } from './documented-commands.ts'

/** Reference of each command. docs/commands.md is generated from the commands; pages.test.ts checks that it is current. */
const helpTexts = new Map(
  readFileSync(join(ROOT, 'docs', 'commands.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

/** Flags of a `claude-mem` command, without what another program in the pipe takes. */
function flagsOf(command: string): string[] {
  return [...command.matchAll(/(?<=[\s[])(--?[a-z][\w-]*)/g)].map(([, flag = '']) => flag)
}

const isGeneral = (flag: string): boolean => GENERAL_OPTIONS.includes(flag.slice(2))

describe('docs.commands', () => {
  test('the commands in shell blocks and inline code are found with their lines', () => {
    const markdown =
      'Run `claude-mem show 12`.\n\n```sh\nnpm test   # all\n# a comment\n```\n```ts\nclaude-mem no\n```\n'
    expect(commandsIn('x.md', markdown)).toEqual([
      { file: 'x.md', line: 1, command: 'claude-mem show 12' },
      { file: 'x.md', line: 4, command: 'npm test' },
    ])
  })

  test('each named claude-mem command exists and knows each named flag', () => {
    const problems: string[] = []
    for (const { file, line, command } of documentedCommands()) {
      // The flags of a pipe belong to the program that they follow.
      for (const part of command.split(/\s\|\s/)) {
        const [, name = ''] = /^(?:claude-mem|node dist\/cli\.js)\s+([a-z]+)/.exec(part) ?? []
        if (name === '') continue
        const text = helpTexts.get(name)
        if (text === undefined) problems.push(`${file}:${line}: ${command}: there is no command "${name}"`)
        else {
          const unknown = flagsOf(part).filter(
            (flag) => !isGeneral(flag) && !new RegExp(String.raw`(^|[\s,\x60])${flag}\b`, 'm').test(text),
          )
          for (const flag of unknown) problems.push(`${file}:${line}: ${command}: "${name}" has no flag ${flag}`)
        }
      }
    }
    expect(problems).toEqual([])
  })

  test('each named npm script and benchmark exists', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const benches = readFileSync(join(ROOT, 'scripts', 'npm.mjs'), 'utf8')
    const problems: string[] = []
    for (const { file, line, command } of documentedCommands()) {
      const typed = typedCommand(command)
      const [, script] = /^npm (?:run )?([\w:]+)/.exec(typed) ?? []
      if (script !== undefined && scripts[script] === undefined) {
        problems.push(`${file}:${line}: ${command}: package.json has no script "${script}"`)
      }
      const [, bench] = /^npm run bench -- (\w+)/.exec(typed) ?? []
      if (bench !== undefined && !new RegExp(`^\\s+${bench}:`, 'm').test(benches)) {
        problems.push(`${file}:${line}: ${command}: there is no benchmark "${bench}"`)
      }
    }
    expect(problems).toEqual([])
  })
})
