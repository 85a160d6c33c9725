import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { detectTechnologies } from '../../../src/observer/model/technologies.ts'
import { temporaryDirectory } from '../../support/directories.ts'

let dir: string
beforeEach(() => {
  dir = temporaryDirectory('technologies')
})
const put = (name: string, text: string) => writeFileSync(join(dir, name), text)

test('a package is detected by its key, not by a word in a sentence', async () => {
  put(
    'package.json',
    JSON.stringify({
      description: 'what next: react to events with "jest"',
      dependencies: { hono: '4', 'next-themes': '1', pg: '8' },
      devDependencies: { typescript: '5', vitest: '4' },
    }),
  )
  expect(await detectTechnologies(dir)).toEqual(['Node.js', 'TypeScript', 'Hono', 'PostgreSQL', 'Vitest'])
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
])('%s is detected with its dependencies', async (name, text, words) => {
  put(name, text)
  expect(await detectTechnologies(dir)).toEqual(words)
})

test('a manifest with many dependencies leaves space for the second language', async () => {
  const names = 'react vue svelte astro electron express fastify hono xstate graphql vite webpack jest mocha'.split(' ')
  put('package.json', JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, '1'])) }))
  put('go.mod', 'module x')
  const words = await detectTechnologies(dir)
  expect(words.length).toBeLessThanOrEqual(12)
  expect(words).toContain('Go')
})

test('an unreadable manifest counts by its name, without an error', async () => {
  put('package.json', `{"dependencies": {"react": "19", ${'\0\ufffd'.repeat(200_000)}`)
  mkdirSync(join(dir, 'Cargo.toml'))
  expect(await detectTechnologies(dir)).toEqual(['Node.js', 'React', 'Rust'])
  expect(await detectTechnologies(join(dir, 'nowhere'))).toEqual([])
  expect(await detectTechnologies('\0')).toEqual([])
  expect(await detectTechnologies('')).toEqual([])
})

test.skipIf(process.platform === 'win32')('a pipe with the name of a manifest does not block', async () => {
  execFileSync('mkfifo', [join(dir, 'go.mod')])
  expect(await detectTechnologies(dir)).toEqual(['Go'])
})
