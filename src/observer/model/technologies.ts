/** What a project is made with, told from the files at its top: enough for a model to know whose words it reads. */
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** More would describe the project instead of naming its world. */
const MAX_WORDS = 12
/** Of one manifest: a repository with two languages shows both. */
const MAX_WORDS_INSIDE = 7
/** Names in one directory that are looked at; a dump of a million files is no project. */
const MAX_NAMES = 10_000
/** Of one kind: `pyproject.toml` beside `requirements.txt`. */
const MAX_MANIFESTS = 4
/** Dependencies stand in the first part of any manifest. */
const MAX_BYTES = 131_072

/** How a dependency is written: the key of a JSON object; a word that begins an entry; or any part of the text. */
type Written = 'key' | 'entry' | 'part'

interface Sign {
  /** The file's name. */
  file: RegExp
  words: readonly string[]
  /** What to look for inside it, as it stands there, and what people call it. */
  inside?: { written: Written; names: Readonly<Record<string, string>> }
}

const NODE_PACKAGES = {
  typescript: 'TypeScript',
  react: 'React',
  'react-native': 'React Native',
  next: 'Next.js',
  vue: 'Vue',
  nuxt: 'Nuxt',
  svelte: 'Svelte',
  '@angular/core': 'Angular',
  'solid-js': 'Solid',
  astro: 'Astro',
  electron: 'Electron',
  express: 'Express',
  fastify: 'Fastify',
  hono: 'Hono',
  '@nestjs/core': 'NestJS',
  xstate: 'XState',
  graphql: 'GraphQL',
  '@trpc/server': 'tRPC',
  '@prisma/client': 'Prisma',
  'drizzle-orm': 'Drizzle',
  'better-sqlite3': 'SQLite',
  pg: 'PostgreSQL',
  mongoose: 'MongoDB',
  redis: 'Redis',
  ioredis: 'Redis',
  tailwindcss: 'Tailwind CSS',
  vite: 'Vite',
  webpack: 'webpack',
  esbuild: 'esbuild',
  vitest: 'Vitest',
  jest: 'Jest',
  mocha: 'Mocha',
  '@playwright/test': 'Playwright',
  cypress: 'Cypress',
  eslint: 'ESLint',
  '@biomejs/biome': 'Biome',
}

const PYTHON_PACKAGES = {
  django: 'Django',
  fastapi: 'FastAPI',
  flask: 'Flask',
  sqlalchemy: 'SQLAlchemy',
  pydantic: 'Pydantic',
  celery: 'Celery',
  numpy: 'NumPy',
  pandas: 'pandas',
  torch: 'PyTorch',
  tensorflow: 'TensorFlow',
  transformers: 'Transformers',
  pytest: 'pytest',
  ruff: 'Ruff',
  mypy: 'mypy',
  poetry: 'Poetry',
}

const JVM_PACKAGES = {
  'spring-boot': 'Spring Boot',
  quarkus: 'Quarkus',
  'com.android': 'Android',
  hibernate: 'Hibernate',
  kotlin: 'Kotlin',
  junit: 'JUnit',
}

/** In order of what says most; the first words are kept. */
const SIGNS: readonly Sign[] = [
  { file: /^package\.json$/, words: ['Node.js'], inside: { written: 'key', names: NODE_PACKAGES } },
  { file: /^tsconfig(?:\.\w+)?\.json$/, words: ['TypeScript'] },
  { file: /^deno\.jsonc?$/, words: ['Deno'] },
  { file: /^bun\.lockb?$/, words: ['Bun'] },
  {
    file: /^(?:pyproject\.toml|requirements[\w.-]*\.txt|Pipfile|setup\.(?:py|cfg))$/,
    words: ['Python'],
    inside: { written: 'entry', names: PYTHON_PACKAGES },
  },
  {
    file: /^go\.mod$/,
    words: ['Go'],
    inside: {
      written: 'part',
      names: {
        'gin-gonic/gin': 'Gin',
        'labstack/echo': 'Echo',
        'gofiber/fiber': 'Fiber',
        'go-chi/chi': 'chi',
        'google.golang.org/grpc': 'gRPC',
        'gorm.io/gorm': 'GORM',
        'jackc/pgx': 'PostgreSQL',
        'stretchr/testify': 'Testify',
      },
    },
  },
  {
    file: /^Cargo\.toml$/,
    words: ['Rust'],
    inside: {
      written: 'entry',
      names: {
        tokio: 'Tokio',
        axum: 'Axum',
        'actix-web': 'Actix Web',
        rocket: 'Rocket',
        serde: 'Serde',
        sqlx: 'SQLx',
        diesel: 'Diesel',
        clap: 'clap',
        bevy: 'Bevy',
        tauri: 'Tauri',
      },
    },
  },
  {
    file: /^Gemfile$/,
    words: ['Ruby'],
    inside: { written: 'entry', names: { rails: 'Rails', sinatra: 'Sinatra', rspec: 'RSpec', sidekiq: 'Sidekiq' } },
  },
  {
    file: /^composer\.json$/,
    words: ['PHP'],
    inside: {
      written: 'key',
      names: { 'laravel/framework': 'Laravel', 'symfony/framework-bundle': 'Symfony', 'phpunit/phpunit': 'PHPUnit' },
    },
  },
  { file: /^pom\.xml$/, words: ['Java', 'Maven'], inside: { written: 'part', names: JVM_PACKAGES } },
  { file: /^build\.gradle(?:\.kts)?$/, words: ['JVM', 'Gradle'], inside: { written: 'part', names: JVM_PACKAGES } },
  {
    file: /\.(?:cs|fs|vb)proj$/,
    words: ['.NET'],
    inside: {
      written: 'part',
      names: {
        'Microsoft.AspNetCore': 'ASP.NET Core',
        'Microsoft.NET.Sdk.Web': 'ASP.NET Core',
        EntityFrameworkCore: 'EF Core',
        xunit: 'xUnit',
      },
    },
  },
  { file: /\.slnx?$/, words: ['.NET'] },
  { file: /^mix\.exs$/, words: ['Elixir'], inside: { written: 'entry', names: { phoenix: 'Phoenix', ecto: 'Ecto' } } },
  { file: /^pubspec\.yaml$/, words: ['Dart'], inside: { written: 'entry', names: { flutter: 'Flutter' } } },
  { file: /^Package\.swift$/, words: ['Swift'], inside: { written: 'entry', names: { vapor: 'Vapor' } } },
  { file: /\.xcodeproj$/, words: ['Xcode'] },
  { file: /^build\.sbt$/, words: ['Scala', 'sbt'] },
  { file: /^(?:stack\.yaml|.+\.cabal)$/, words: ['Haskell'] },
  { file: /^build\.zig$/, words: ['Zig'] },
  { file: /^deps\.edn$|^project\.clj$/, words: ['Clojure'] },
  { file: /^CMakeLists\.txt$/, words: ['C/C++', 'CMake'] },
  { file: /^meson\.build$/, words: ['Meson'] },
  { file: /^DESCRIPTION$/, words: [], inside: { written: 'entry', names: { Package: 'R' } } },
  { file: /\.tf$/, words: ['Terraform'] },
  { file: /^Chart\.yaml$/, words: ['Helm'] },
  { file: /^(?:Dockerfile|Containerfile|(?:docker-)?compose\.ya?ml)$/, words: ['Docker'] },
  { file: /^flake\.nix$/, words: ['Nix'] },
  { file: /^pnpm-workspace\.yaml$|^pnpm-lock\.yaml$/, words: ['pnpm'] },
  { file: /^yarn\.lock$/, words: ['Yarn'] },
  { file: /^uv\.lock$/, words: ['uv'] },
  { file: /^Makefile$/, words: ['Make'] },
]

/** Never fails: of a directory that cannot be read nothing is known. */
export async function technologiesOf(dir: string): Promise<string[]> {
  const names = (await readdir(dir).catch(() => [])).slice(0, MAX_NAMES).sort()
  const found: string[] = []
  for (const { file, words, inside } of SIGNS) {
    const manifests = names.filter((name) => file.test(name)).slice(0, MAX_MANIFESTS)
    if (manifests.length === 0) continue
    found.push(...words)
    if (inside === undefined) continue
    const texts = await Promise.all(manifests.map((name) => beginningOf(join(dir, name))))
    const text = texts.join('\n')
    const told = Object.entries(inside.names).filter(([dependency]) => isIn(text, dependency, inside.written))
    found.push(...told.slice(0, MAX_WORDS_INSIDE).map(([, word]) => word))
  }
  return [...new Set(found)].slice(0, MAX_WORDS)
}

/** `next` is not in `next-themes`, and not in a sentence about the next release. */
function isIn(text: string, name: string, written: Written): boolean {
  if (written === 'part') return text.toLowerCase().includes(name.toLowerCase())
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const rule =
    written === 'key' ? `"${literal}"\\s*:` : `(?:^|["'[.,:])[ \\t]*${literal}(?=[ \\t]*(?:[="'<>~!;:,[\\]]|\\r?$))`
  return new RegExp(rule, 'im').test(text)
}

async function beginningOf(file: string): Promise<string> {
  try {
    // Opening a pipe would wait for whoever writes into it.
    if (!(await stat(file)).isFile()) return ''
    const handle = await open(file, 'r')
    try {
      const buffer = Buffer.alloc(MAX_BYTES)
      const { bytesRead } = await handle.read(buffer, 0, MAX_BYTES, 0)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch {
    // Not ours to read, or gone: its name has been told.
    return ''
  }
}
