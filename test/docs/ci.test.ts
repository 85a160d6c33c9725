/** The workflow for GitHub runs documented commands on the systems and versions that the documentation names, and no more. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../support/paths.ts'
import { commandsIn } from './documented-commands.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const text = read('.github/workflows/ci.yml')

type Yaml = string | Yaml[] | { [key: string]: Yaml }

interface YamlLine {
  indent: number
  text: string
}

/** The part of YAML that the workflow keeps to: maps, lists of maps, plain values, `[a, b]`. Anything else throws. */
function parseYaml(source: string): Yaml {
  const lines = source
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trimEnd())
    .filter((line) => line !== '')
    .map((line): YamlLine => ({ indent: line.search(/\S/), text: line.trim() }))
  const block = (indent: number): Yaml => {
    const list: Yaml[] = []
    const map: { [key: string]: Yaml } = {}
    for (let line = lines[0]; line !== undefined && line.indent === indent; line = lines[0]) {
      if (line.text.startsWith('- ')) {
        // The item's first key is as far in as the others.
        lines[0] = { indent: indent + 2, text: line.text.slice(2) }
        list.push(block(indent + 2))
        continue
      }
      const [, key, value = ''] = /^([\w-]+):(?: (.+))?$/.exec(line.text) ?? []
      if (key === undefined || Object.hasOwn(map, key)) throw new Error(`not understood: ${line.text}`)
      lines.shift()
      const next = lines[0]
      map[key] = value !== '' || next === undefined || next.indent <= indent ? scalar(value) : block(next.indent)
    }
    if (list.length > 0 && Object.keys(map).length > 0) throw new Error('a list and a map in one block')
    return list.length > 0 ? list : map
  }
  const parsed = block(0)
  if (lines.length > 0) throw new Error(`not understood: ${lines[0]?.text}`)
  return parsed
}

function scalar(value: string): Yaml {
  const list = /^\[(.*)\]$/.exec(value)?.[1]
  if (list !== undefined) return list.split(',').map((item) => item.trim())
  if (/^[|>&*!'"{]/.test(value)) throw new Error(`not understood: ${value}`)
  return value
}

/** The value below these keys; `*` is every item of a list and every value of a map. */
function valuesAt(value: Yaml | undefined, ...keys: string[]): Yaml[] {
  const [key, ...rest] = keys
  if (value === undefined) return []
  if (key === undefined) return [value]
  if (typeof value === 'string') return []
  if (key === '*') return Object.values(value).flatMap((one) => valuesAt(one, ...rest))
  return Array.isArray(value) ? [] : valuesAt(value[key], ...rest)
}

const workflow = parseYaml(text)
const commands = valuesAt(workflow, 'jobs', '*', 'steps', '*', 'run').map(String)
const matrix = valuesAt(workflow, 'jobs', 'tests', 'strategy', 'matrix', 'include', '*')

describe('ci.workflow', () => {
  test('every step is a script of package.json that README.md or CONTRIBUTING.md names', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const documented = ['README.md', 'CONTRIBUTING.md'].flatMap((file) =>
      commandsIn(file, read(file)).map(({ command }) => scriptOf(command)),
    )
    expect(commands.length).toBeGreaterThan(0)
    for (const command of commands) {
      expect(scripts, command).toHaveProperty([scriptOf(command)])
      expect(documented, command).toContain(scriptOf(command))
    }
  })

  test('the first commands of the README run on every system', () => {
    const [steps] = valuesAt(workflow, 'jobs', 'tests', 'steps')
    const run = valuesAt(steps, '*', 'run')
    expect(run).toEqual(expect.arrayContaining(['npm run demo', 'npm test']))
  })

  test('what it runs beside them, .ci/run runs too', () => {
    const local = read('.ci/run').replaceAll('npm run --silent', 'npm run')
    for (const command of commands.filter((one) => one !== 'npm run demo')) expect(local).toContain(command)
  })

  test('the tests run on Linux, macOS and Windows, with the oldest Node and the newest long-term one', () => {
    const { engines } = JSON.parse(read('package.json'))
    const oldest = /^>=(\d+)/.exec(engines.node)?.[1]
    const systems = valuesAt(matrix, '*', 'system').map((system) => String(system).replace(/-.*/, ''))
    expect(new Set(systems)).toEqual(new Set(['ubuntu', 'macos', 'windows']))
    for (const system of ['ubuntu', 'macos', 'windows']) {
      const versions = matrix.filter((one) => String(valuesAt(one, 'system')[0]).startsWith(`${system}-`))
      expect(valuesAt(versions, '*', 'node'), system).toContain(oldest)
    }
    expect(valuesAt(matrix, '*', 'node')).toContain('lts/*')
    const others = valuesAt(workflow, 'jobs', '*', 'steps', '*', 'with', 'node-version')
    expect(others.filter((version) => version !== oldest)).toEqual([`\${{ matrix.node }}`])
  })

  test('it can only read, has no secret, and its actions cannot change', () => {
    expect(valuesAt(workflow, 'permissions')).toEqual([{ contents: 'read' }])
    expect(valuesAt(workflow, 'jobs', '*', 'permissions')).toEqual([])
    expect(text).not.toMatch(/secrets\.|pull_request_target|continue-on-error/)
    const actions = valuesAt(workflow, 'jobs', '*', 'steps', '*', 'uses')
    expect(actions.length).toBeGreaterThan(0)
    for (const action of actions) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
    // Nothing of a pull request is put into a command line.
    expect(commands.filter((command) => command.includes('${{'))).toEqual([])
  })

  test('docs/platforms.md names its systems and versions', () => {
    const page = read('docs/platforms.md')
    for (const one of matrix) for (const value of valuesAt(one, '*')) expect(page).toContain(`\`${value}\``)
  })
})

function scriptOf(command: string): string {
  return /^npm (?:run )?([\w:]+)/.exec(command)?.[1] ?? command
}
