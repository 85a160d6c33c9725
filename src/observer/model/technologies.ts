/** The technologies of a project, detected from the files in its root directory, for the opening of a conversation. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileStart } from '../../lib/files.ts'

const MAX_TECHNOLOGIES = 12
/** Per kind of manifest, so that a repository with two languages shows both. */
const MAX_DEPENDENCIES = 7
/** Directory entries that are looked at; more is not a project root. */
const MAX_NAMES = 10_000
/** Manifests of one kind: `pyproject.toml` beside `requirements.txt`. */
const MAX_MANIFESTS = 4
/** Dependencies are in the first part of a manifest. */
const MAX_BYTES = 131_072

interface TechnologySign {
  /** Name of the file. */
  file: RegExp
  technologies: readonly string[]
  dependencies?: DependencySigns
}

/** How a manifest names a dependency: as a JSON key, as the first word of an entry, or anywhere in the text. */
type Notation = 'key' | 'entry' | 'anywhere'

interface DependencySigns {
  notation: Notation
  /** Name in the manifest, and label. */
  labels: readonly (readonly [name: string, label: string])[]
}

/** `list`: comma-separated items of a dependency and its label. */
function dependencies(notation: Notation, list: string): DependencySigns {
  const labels = list.split(',').map((item) => {
    const [name = '', ...label] = item.trim().split(' ')
    return [name, label.join(' ')] as const
  })
  return { notation, labels }
}

const NODE_PACKAGES = dependencies(
  'key',
  `typescript TypeScript, react React, react-native React Native, next Next.js, vue Vue, nuxt Nuxt, svelte Svelte,
  @angular/core Angular, solid-js Solid, astro Astro, electron Electron, express Express, fastify Fastify, hono Hono,
  @nestjs/core NestJS, xstate XState, graphql GraphQL, @trpc/server tRPC, @prisma/client Prisma, drizzle-orm Drizzle,
  better-sqlite3 SQLite, pg PostgreSQL, mongoose MongoDB, redis Redis, ioredis Redis, tailwindcss Tailwind CSS,
  vite Vite, webpack webpack, esbuild esbuild, vitest Vitest, jest Jest, mocha Mocha, @playwright/test Playwright,
  cypress Cypress, eslint ESLint, @biomejs/biome Biome`,
)
const PYTHON_PACKAGES = dependencies(
  'entry',
  `django Django, fastapi FastAPI, flask Flask, sqlalchemy SQLAlchemy, pydantic Pydantic, celery Celery, numpy NumPy,
  pandas pandas, torch PyTorch, tensorflow TensorFlow, transformers Transformers, pytest pytest, ruff Ruff, mypy mypy,
  poetry Poetry`,
)
const GO_MODULES = dependencies(
  'anywhere',
  `gin-gonic/gin Gin, labstack/echo Echo, gofiber/fiber Fiber, go-chi/chi chi, google.golang.org/grpc gRPC,
  gorm.io/gorm GORM, jackc/pgx PostgreSQL, stretchr/testify Testify`,
)
const RUST_CRATES = dependencies(
  'entry',
  `tokio Tokio, axum Axum, actix-web Actix Web, rocket Rocket, serde Serde, sqlx SQLx, diesel Diesel, clap clap,
  bevy Bevy, tauri Tauri`,
)
const JVM_PACKAGES = dependencies(
  'anywhere',
  'spring-boot Spring Boot, quarkus Quarkus, com.android Android, hibernate Hibernate, kotlin Kotlin, junit JUnit',
)
const DOTNET_PACKAGES = dependencies(
  'anywhere',
  `Microsoft.AspNetCore ASP.NET Core, Microsoft.NET.Sdk.Web ASP.NET Core, EntityFrameworkCore EF Core, xunit xUnit`,
)
const RUBY_GEMS = dependencies('entry', 'rails Rails, sinatra Sinatra, rspec RSpec, sidekiq Sidekiq')
const PHP_PACKAGES = dependencies(
  'key',
  'laravel/framework Laravel, symfony/framework-bundle Symfony, phpunit/phpunit PHPUnit',
)

/** The most informative first: only the first technologies are kept. */
const SIGNS: readonly TechnologySign[] = [
  { file: /^package\.json$/, technologies: ['Node.js'], dependencies: NODE_PACKAGES },
  { file: /^tsconfig(?:\.\w+)?\.json$/, technologies: ['TypeScript'] },
  { file: /^deno\.jsonc?$/, technologies: ['Deno'] },
  { file: /^bun\.lockb?$/, technologies: ['Bun'] },
  {
    file: /^(?:pyproject\.toml|requirements[\w.-]*\.txt|Pipfile|setup\.(?:py|cfg))$/,
    technologies: ['Python'],
    dependencies: PYTHON_PACKAGES,
  },
  { file: /^go\.mod$/, technologies: ['Go'], dependencies: GO_MODULES },
  { file: /^Cargo\.toml$/, technologies: ['Rust'], dependencies: RUST_CRATES },
  { file: /^Gemfile$/, technologies: ['Ruby'], dependencies: RUBY_GEMS },
  { file: /^composer\.json$/, technologies: ['PHP'], dependencies: PHP_PACKAGES },
  { file: /^pom\.xml$/, technologies: ['Java', 'Maven'], dependencies: JVM_PACKAGES },
  { file: /^build\.gradle(?:\.kts)?$/, technologies: ['JVM', 'Gradle'], dependencies: JVM_PACKAGES },
  { file: /\.(?:cs|fs|vb)proj$/, technologies: ['.NET'], dependencies: DOTNET_PACKAGES },
  { file: /\.slnx?$/, technologies: ['.NET'] },
  { file: /^mix\.exs$/, technologies: ['Elixir'], dependencies: dependencies('entry', 'phoenix Phoenix, ecto Ecto') },
  { file: /^pubspec\.yaml$/, technologies: ['Dart'], dependencies: dependencies('entry', 'flutter Flutter') },
  { file: /^Package\.swift$/, technologies: ['Swift'], dependencies: dependencies('entry', 'vapor Vapor') },
  { file: /\.xcodeproj$/, technologies: ['Xcode'] },
  { file: /^build\.sbt$/, technologies: ['Scala', 'sbt'] },
  { file: /^(?:stack\.yaml|.+\.cabal)$/, technologies: ['Haskell'] },
  { file: /^build\.zig$/, technologies: ['Zig'] },
  { file: /^deps\.edn$|^project\.clj$/, technologies: ['Clojure'] },
  { file: /^CMakeLists\.txt$/, technologies: ['C/C++', 'CMake'] },
  { file: /^meson\.build$/, technologies: ['Meson'] },
  { file: /^DESCRIPTION$/, technologies: [], dependencies: dependencies('entry', 'Package R') },
  { file: /\.tf$/, technologies: ['Terraform'] },
  { file: /^Chart\.yaml$/, technologies: ['Helm'] },
  { file: /^(?:Dockerfile|Containerfile|(?:docker-)?compose\.ya?ml)$/, technologies: ['Docker'] },
  { file: /^flake\.nix$/, technologies: ['Nix'] },
  { file: /^pnpm-workspace\.yaml$|^pnpm-lock\.yaml$/, technologies: ['pnpm'] },
  { file: /^yarn\.lock$/, technologies: ['Yarn'] },
  { file: /^uv\.lock$/, technologies: ['uv'] },
  { file: /^Makefile$/, technologies: ['Make'] },
]

/** Never rejects; empty if the directory cannot be read. */
export async function detectTechnologies(dir: string): Promise<string[]> {
  const names = (await readdir(dir).catch(() => [])).slice(0, MAX_NAMES).sort()
  const found: string[] = []
  for (const { file, technologies, dependencies } of SIGNS) {
    const manifests = names.filter((name) => file.test(name)).slice(0, MAX_MANIFESTS)
    if (manifests.length === 0) continue
    found.push(...technologies)
    if (dependencies === undefined) continue
    const texts = await Promise.all(manifests.map((name) => manifestText(join(dir, name))))
    const text = texts.join('\n')
    const present = dependencies.labels.filter(([name]) => namesDependency(text, name, dependencies.notation))
    found.push(...present.slice(0, MAX_DEPENDENCIES).map(([, label]) => label))
  }
  return [...new Set(found)].slice(0, MAX_TECHNOLOGIES)
}

/** `next` matches neither `next-themes` nor a sentence about the next release. */
function namesDependency(text: string, name: string, notation: Notation): boolean {
  if (notation === 'anywhere') return text.toLowerCase().includes(name.toLowerCase())
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pattern =
    notation === 'key' ? `"${literal}"\\s*:` : `(?:^|["'[.,:])[ \\t]*${literal}(?=[ \\t]*(?:[="'<>~!;:,[\\]]|\\r?$))`
  return new RegExp(pattern, 'im').test(text)
}

/** Empty if the file cannot be read: its name has been counted. */
async function manifestText(file: string): Promise<string> {
  try {
    return (await readFileStart(file, MAX_BYTES)).toString('utf8')
  } catch {
    return ''
  }
}
