import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { technologiesOf } from '../../../src/observer/model/technologies.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claude-mem-technologies-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const put = (name: string, text: string) => writeFileSync(join(dir, name), text)

test('packages count by their key, not by a word in a sentence', async () => {
  put(
    'package.json',
    JSON.stringify({
      description: 'what next: react to events with "jest"',
      dependencies: { hono: '4', 'next-themes': '1', pg: '8' },
      devDependencies: { typescript: '5', vitest: '4' },
    }),
  )
  expect(await technologiesOf(dir)).toEqual(['Node.js', 'TypeScript', 'Hono', 'PostgreSQL', 'Vitest'])
})

test.each([
  [
    'pyproject.toml',
    '[project]\ndependencies = ["fastapi[all]>=0.1", "SQLAlchemy"]\n[tool.ruff]\n',
    ['Python', 'FastAPI', 'SQLAlchemy', 'Ruff'],
  ],
  ['requirements.txt', 'django==5.0\r\npytest\r\nflask-cors\r\n', ['Python', 'Django', 'pytest']],
  ['go.mod', 'module x\nrequire github.com/gin-gonic/gin v1.9.0\n', ['Go', 'Gin']],
  [
    'Cargo.toml',
    '[dependencies]\ntokio = { version = "1" }\nserde_json = "1"\n[dependencies.axum]\n',
    ['Rust', 'Tokio', 'Axum'],
  ],
  ['Gemfile', "gem 'rails', '~> 8'\ngem \"rspec\"\n", ['Ruby', 'Rails', 'RSpec']],
  ['composer.json', '{"require":{"laravel/framework":"^11"}}', ['PHP', 'Laravel']],
  ['pom.xml', '<artifactId>spring-boot-starter-web</artifactId>', ['Java', 'Maven', 'Spring Boot']],
  ['build.gradle.kts', 'plugins { kotlin("jvm") }', ['JVM', 'Gradle', 'Kotlin']],
  ['shop.csproj', '<Project Sdk="Microsoft.NET.Sdk.Web">', ['.NET', 'ASP.NET Core']],
  ['mix.exs', '{:phoenix, "~> 1.7"}', ['Elixir', 'Phoenix']],
  ['pubspec.yaml', 'dependencies:\n  flutter:\n    sdk: flutter\n', ['Dart', 'Flutter']],
  ['Dockerfile', 'FROM node', ['Docker']],
  ['tsconfig.json', '{}', ['TypeScript']],
])('%s is known with what it holds', async (name, text, words) => {
  put(name, text)
  expect(await technologiesOf(dir)).toEqual(words)
})

test('a manifest with a thousand dependencies leaves room for the second language', async () => {
  const names = 'react vue svelte astro electron express fastify hono xstate graphql vite webpack jest mocha'.split(' ')
  put('package.json', JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, '1'])) }))
  put('go.mod', 'module x')
  const words = await technologiesOf(dir)
  expect(words.length).toBeLessThanOrEqual(12)
  expect(words).toContain('Go')
})

test('what cannot be read is told by its name alone, and nothing fails', async () => {
  put('package.json', `{"dependencies": {"react": "19", ${'\0\ufffd'.repeat(200_000)}`)
  mkdirSync(join(dir, 'Cargo.toml'))
  expect(await technologiesOf(dir)).toEqual(['Node.js', 'React', 'Rust'])
  expect(await technologiesOf(join(dir, 'nowhere'))).toEqual([])
  expect(await technologiesOf('\0')).toEqual([])
  expect(await technologiesOf('')).toEqual([])
})

test.skipIf(process.platform === 'win32')('a pipe under the name of a manifest is not waited for', async () => {
  execFileSync('mkfifo', [join(dir, 'go.mod')])
  expect(await technologiesOf(dir)).toEqual(['Go'])
})
