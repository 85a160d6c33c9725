/**
 * The kind of work that a command does: by its program, by its subcommand, or by the name of the script it runs.
 * `commandKind` is the entry; the rules of single programs are in `RULES` at the end.
 */
import { wordList } from '../text.ts'
import { COMMAND_KINDS, type CommandKind } from '../types.ts'

/** Programs that do the same kind of work whatever their arguments are. */
const PROGRAMS: Record<Exclude<CommandKind, 'commit' | 'git' | 'run'>, string> = {
  test: `jest vitest mocha ava tap tape karma jasmine cypress pytest unittest nose2 tox nox rspec minitest phpunit pest paratest ctest
    bats prove behave cucumber robot busted testacular gotestsum c8 nyc stryker k6 detox ginkgo richgo`,
  build: `webpack rollup esbuild tsup swc parcel gcc g++ cc c++ clang clang++ ninja javac kotlinc scalac rustc ghc ocamlc dune bazel
    bazelisk buck2 meson cmake xcodebuild msbuild ant sass tsdown unbuild pkgroll microbundle ld ar nasm zig electron-builder
    ncc wasm-pack maturin pyinstaller goreleaser packer mkdocs sphinx-build hugo jekyll protoc buf make`,
  lint: `eslint biome ruff flake8 pylint golangci-lint rubocop shellcheck prettier black isort stylelint oxlint standard xo hadolint
    yamllint markdownlint markdownlint-cli2 gofmt goimports rustfmt clang-format clang-tidy cppcheck ktlint detekt phpcs phpcbf
    php-cs-fixer pint checkstyle credo standardrb bandit semgrep tflint actionlint commitlint knip depcheck staticcheck revive
    swiftlint dprint autopep8 pydocstyle`,
  typecheck: 'mypy pyright basedpyright flow vue-tsc pyre pytype phpstan psalm sorbet srb dialyzer tsgo ty',
  install:
    'pip pip-sync apt apt-get apk yum dnf pacman brew choco winget scoop nvm pyenv rustup volta fnm asdf corepack conda mamba',
  migration:
    'alembic knex flyway liquibase diesel goose dbmate sequelize sequelize-cli drizzle-kit typeorm migrate atlas sqitch yoyo',
  server: `uvicorn gunicorn hypercorn daphne nodemon flask serve http-server live-server puma unicorn rackup nginx ts-node-dev streamlit
    jupyter wrangler celery sidekiq caddy`,
  look: `ls cat head tail less more grep egrep fgrep rg ag ack find fd tree pwd echo printf which whereis type file stat du df wc sort
    uniq cut tr awk sed jq yq diff cmp env printenv date whoami id uname hostname ps top lsof netstat ss free uptime history man
    cd pushd popd set export unset source . sleep true false test exit return wait clear trap alias umask ulimit shopt read local
    bat exa eza column nl xxd hexdump od strings tee basename dirname realpath readlink md5sum sha256sum nproc tput seq yes fold
    pgrep jobs kill pkill killall break continue declare typeset disown nm objdump otool ldd rev tac paste comm`,
}

/** Kinds by word, from a table of kinds and their words. */
function kindsByWord(table: Partial<Record<CommandKind, string>>): Map<string, CommandKind> {
  return new Map(
    COMMAND_KINDS.flatMap((kind) => {
      const list = table[kind]
      return list === undefined ? [] : wordList(list).map((word): [string, CommandKind] => [word, kind])
    }),
  )
}

const PROGRAM_KINDS = kindsByWord(PROGRAMS)

/** Shell builtins that are never the purpose of a line. */
export const SHELL_BUILTINS = new Set(
  wordList(`cd pushd popd set export unset source . sleep true false exit return wait clear trap alias umask ulimit shopt local echo
    printf declare : pwd disown break continue`),
)

/** Programs that only pass on, cut or colour what comes through a pipe. */
export const PIPE_FILTERS = new Set(
  wordList(`head tail grep egrep fgrep rg tee sort uniq wc less more cat sed awk cut tr jq yq column nl fold ts strings tac rev paste
    bat ccze pino-pretty xxd sponge`),
)

/** Scripts and targets by their names: `npm run test:unit`, `make lint`, `scripts/migrate.sh`. */
const SCRIPT_NAMES: [RegExp, CommandKind][] = [
  [/\b(?:type-?checks?|types|tsc|mypy|pyright|check[-:_]types?|check-ts)\b/i, 'typecheck'],
  [/\b(?:lint|eslint|format|fmt|prettier|stylelint|ruff|clippy|rubocop|vet|biome|style)\b/i, 'lint'],
  [
    /\b(?:tests?|spec|specs|e2e|jest|vitest|pytest|coverage|unit|integration|smoke|cypress|playwright|verify)\b|^(?:check|ci|cov)$/i,
    'test',
  ],
  [/\b(?:migrate|migrations?|rollback|db[:_-](?:push|deploy|up|down|reset|setup|migrate|seed))\b/i, 'migration'],
  [/\b(?:build|compile|bundle|dist|package|webpack|generate|codegen|release|prod)\b|^all$/i, 'build'],
  [/\b(?:dev|start|serve|server|watch|preview|storybook|up)\b|runserver/i, 'server'],
  [/\b(?:install|bootstrap|deps|setup|vendor)\b/i, 'install'],
]

function kindByName(name: string): CommandKind | null {
  const separated = name.replace(/[_./]/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')
  return SCRIPT_NAMES.find(([pattern]) => pattern.test(separated) || pattern.test(name))?.[1] ?? null
}

/** Only the name of a script file counts, not its directory: `tests/seed.py` is not a test run. */
function kindByFile(path: string): CommandKind | null {
  const name = lastPart(path).replace(/\.\w+$/, '')
  return name === '' ? null : kindByName(name.replace(/-/g, ' '))
}

const lastPart = (path: string): string => path.split('/').at(-1) ?? ''

/** @param first the first argument that is not a flag */
type KindRule = (args: string[], first: string) => CommandKind | null

export function commandKind(program: string, args: string[]): CommandKind {
  if (args.length === 1 && /^(?:--?version|-[vV]|--?help|version|help)$/.test(args[0] ?? '')) return 'look'
  const first = args.find((arg) => !arg.startsWith('-') && !arg.startsWith('+')) ?? ''
  const isScript = /\.(?:sh|bash|py|rb|m?[jt]s|php|pl|ps1)$/.test(program)
  return (
    RULES.get(program)?.(args, first) ?? PROGRAM_KINDS.get(program) ?? (isScript ? kindByFile(program) : null) ?? 'run'
  )
}

/** The kind by the first argument: with `{ test: 'test bench' }`, `cargo test` and `cargo bench` are tests. */
function verbs(table: Partial<Record<CommandKind, string>>, otherwise: KindRule | CommandKind | null = null): KindRule {
  const kinds = kindsByWord(table)
  return (args, first) => kinds.get(first) ?? (typeof otherwise === 'function' ? otherwise(args, first) : otherwise)
}

/** The kind of the first pattern that matches the first argument. */
function patterns(table: [RegExp, CommandKind][], otherwise: KindRule | null = null): KindRule {
  return (args, first) => table.find(([pattern]) => pattern.test(first))?.[1] ?? otherwise?.(args, first) ?? null
}

const scriptName: KindRule = (_args, first) => kindByName(first) ?? 'run'

const scriptFile: KindRule = (args, first) => {
  if (args.includes('--check') && first !== '') return 'lint'
  return /\.\w+$|\//.test(first) ? (kindByFile(first) ?? 'run') : 'run'
}

function wordAfter(args: string[], word: string): string {
  const plain = args.filter((arg) => !arg.startsWith('-'))
  return plain.find((_, i) => plain[i - 1] === word) ?? ''
}

/** make and other programs that run named targets. */
function targets(withoutTarget: CommandKind): KindRule {
  return (args) => {
    const names = args.filter((arg) => !arg.startsWith('-') && !/^[A-Z_]+=/.test(arg) && !/^\d+$/.test(arg))
    for (const name of names) {
      const kind = kindByName(name)
      if (kind !== null) return kind
    }
    return names.length === 0 ? withoutTarget : 'run'
  }
}

const NODE_FLAGS_WITH_VALUE = ['-w', '--workspace', '-C', '--prefix', '--cwd', '--filter', '-F']
const nodePackageVerbs = verbs({
  install: 'i install ci add remove rm uninstall un update upgrade up link dedupe import rebuild install-test',
  look: 'ls list view info outdated why audit config root bin whoami explain search help pkg prefix',
  test: 't tst test',
  build: 'pack build',
  run: 'publish login logout version init create dlx x cache store setup',
})

/** npm, yarn and pnpm: a subcommand, or the name of a script. */
const nodePackages: KindRule = (args) => {
  const plain = args.filter((arg, i) => !arg.startsWith('-') && !NODE_FLAGS_WITH_VALUE.includes(args[i - 1] ?? ''))
  const [first = '', second = ''] = plain[0] === 'workspace' ? plain.slice(2) : plain
  const kind = nodePackageVerbs(args, first)
  if (kind !== null) return kind
  const script = first === 'run' || first === 'run-script' ? second : first
  if (script === '') return first === '' ? 'install' : 'look'
  return kindByName(script) ?? PROGRAM_KINDS.get(script) ?? 'run'
}

const GIT_FLAGS_WITH_VALUE = ['-C', '-c', '--git-dir', '--work-tree']
const gitVerbs = verbs(
  {
    look: `status diff log show blame ls-files ls-tree ls-remote rev-parse rev-list describe shortlog reflog grep cat-file remote
      config whatchanged merge-base name-rev for-each-ref check-ignore var help version count-objects diff-tree show-ref
      symbolic-ref`,
  },
  'git',
)

const git: KindRule = (args, first) => {
  const verb = args.find((arg, i) => !arg.startsWith('-') && !GIT_FLAGS_WITH_VALUE.includes(args[i - 1] ?? ''))
  const has = (pattern: RegExp) => args.some((arg) => pattern.test(arg))
  if (verb === 'commit') return args.includes('--dry-run') ? 'look' : 'commit'
  if (verb === 'branch' || verb === 'tag') {
    const lists = /^(?:-a|-r|-v|-vv|--list|--show-current|--all|--contains)$/
    return args.length === 1 || has(verb === 'tag' ? /^(?:-l|--list)$/ : lists) ? 'look' : 'git'
  }
  if (verb === 'stash') return has(/^(?:list|show)$/) ? 'look' : 'git'
  return gitVerbs(args, verb ?? first)
}

const gh: KindRule = (args, first) => {
  const changes =
    /^(?:pr|issue|release|repo|run|workflow)$/.test(first) &&
    /^(?:create|merge|close|edit|comment|review|reopen|fork|clone)$/.test(wordAfter(args, first))
  return changes ? 'git' : first === 'api' ? 'run' : 'look'
}

const docker: KindRule = (args, first) => {
  const verb = /^(?:compose|image|container|buildx|volume|network|system)$/.test(first) ? wordAfter(args, first) : first
  if (verb === 'run') return args.includes('-d') || args.includes('--detach') ? 'server' : 'run'
  return dockerVerbs(args, verb)
}
const dockerVerbs = verbs(
  {
    build: 'build bake',
    server: 'up start restart',
    look: 'ps logs images inspect ls stats top port version info history config df events',
  },
  'run',
)

const django = verbs(
  {
    migration: 'migrate makemigrations sqlmigrate squashmigrations',
    test: 'test',
    server: 'runserver runserver_plus',
    build: 'collectstatic compilemessages',
    lint: 'check',
    look: 'showmigrations',
  },
  'run',
)

const python: KindRule = (args, first) => {
  if (/(?:^|\/)manage\.py$/.test(first))
    return django([], args.slice(args.indexOf(first) + 1).find((arg) => !arg.startsWith('-')) ?? '')
  if (first === 'setup.py')
    return args.includes('test') ? 'test' : args.includes('install') || args.includes('develop') ? 'install' : 'build'
  return /(?:^|\/)(?:test_\w+|\w+_test)\.py$/.test(first) ? 'test' : scriptFile(args, first)
}

const rails = patterns(
  [
    [/^(?:test|spec|t)\b|^$/, 'test'],
    [/^db:(?:migrate:status|version)|^routes$/, 'look'],
    [/^db:(?:migrate|rollback|schema|setup|reset|prepare|forward|seed)/, 'migration'],
    [/^(?:s|server)$/, 'server'],
    [/^assets:/, 'build'],
  ],
  scriptName,
)

const artisan = patterns([
  [/^(?:migrate:status|route:list)$/, 'look'],
  [/^migrate|^db:seed$/, 'migration'],
  [/^test$/, 'test'],
  [/^serve$/, 'server'],
])

const php: KindRule = (args, first) => {
  if (first === 'artisan') return artisan([], args[args.indexOf('artisan') + 1] ?? '')
  if (args.includes('-S')) return 'server'
  return args.includes('-l') ? 'lint' : (PROGRAM_KINDS.get(lastPart(first)) ?? scriptFile(args, first))
}

const node: KindRule = (args, first) => {
  if (args.some((arg) => arg === '--test' || arg.startsWith('--test-'))) return 'test'
  if (args.includes('--check') || args.includes('-c')) return 'lint'
  if (args.includes('--watch')) return 'server'
  const script = lastPart(first)
  if (/\.(?:test|spec)\.\w+$/.test(script)) return 'test'
  const program = PROGRAM_KINDS.get(script.replace(/\.[mc]?js$/, ''))
  if (program !== undefined && first.includes('node_modules')) return program
  if (/^server\.\w+$/.test(script)) return 'server'
  return /^(?:app|index)\.\w+$/.test(script) ? 'run' : scriptFile(args, first)
}

const gradle: KindRule = (args, first) => {
  const task = (args.find((arg) => !arg.startsWith('-')) ?? first).split(':').at(-1) ?? ''
  if (/^(?:tasks|dependencies|projects|properties)$/.test(task)) return 'look'
  if (/bootRun|^run$/.test(task)) return 'server'
  return /^(?:check|test\w*|\w*Test)$/.test(task) ? 'test' : (kindByName(task) ?? 'build')
}

/** In this order, because a command line may have several goals. */
const MAVEN_GOALS: [RegExp, CommandKind][] = [
  [/flyway:|liquibase:/, 'migration'],
  [/^(?:test|verify|integration-test|surefire:test|failsafe:\S+)$/, 'test'],
  [/:run$/, 'server'],
  [/checkstyle|spotless|pmd|spotbugs/, 'lint'],
  [/^dependency:/, 'look'],
]
const maven: KindRule = (args) => {
  const goals = args.filter((arg) => !arg.startsWith('-'))
  return MAVEN_GOALS.find(([pattern]) => goals.some((goal) => pattern.test(goal)))?.[1] ?? 'build'
}

const shellScript: KindRule = (args, first) => (args.includes('-n') ? 'lint' : scriptFile(args, first))
const terraform = verbs({ lint: 'validate fmt', look: 'show output state version', install: 'init' }, 'run')

const RULES = new Map<string, KindRule>(
  Object.entries({
    npm: nodePackages,
    yarn: nodePackages,
    pnpm: nodePackages,
    bun: verbs({ test: 'test', build: 'build' }, (args, first) =>
      /\.\w+$/.test(first) ? scriptFile(args, first) : nodePackages(args, first),
    ),
    make: targets('build'),
    just: targets('run'),
    task: targets('run'),
    turbo: targets('build'),
    nx: targets('run'),
    lerna: targets('run'),
    grunt: targets('build'),
    gulp: targets('build'),
    sbt: targets('build'),
    composer: verbs(
      { install: 'install i require req update u remove', look: 'show validate outdated why' },
      scriptName,
    ),
    tsc: (args) => {
      if (args.some((arg) => /^(?:--version|-v|--showConfig)$/.test(arg))) return 'look'
      return args.some((arg) => /^(?:-b|--build|--outDir)$/.test(arg)) ? 'build' : 'typecheck'
    },
    gradle,
    mvn: maven,
    cargo: verbs({
      test: 'test t nextest bench',
      build: 'build b rustc doc package',
      typecheck: 'check c',
      lint: 'clippy fmt',
      install: 'add remove rm update install fetch uninstall',
      look: 'tree metadata search version',
      migration: 'sqlx',
      server: 'watch',
      run: 'run r clean publish',
    }),
    go: verbs({
      test: 'test',
      build: 'build generate',
      lint: 'vet fmt',
      install: 'get install mod work',
      look: 'list env doc version',
      run: 'run tool clean',
    }),
    dotnet: verbs(
      {
        test: 'test vstest',
        build: 'build publish pack msbuild',
        lint: 'format',
        install: 'add restore remove tool',
        server: 'watch',
        look: 'list --info',
      },
      (args, first) =>
        first !== 'ef' ? null : args.includes('database') || args.includes('add') ? 'migration' : 'look',
    ),
    swift: verbs({ test: 'test', build: 'build', install: 'package' }),
    mix: patterns([
      [/^(?:test|coveralls)/, 'test'],
      [/^ecto\./, 'migration'],
      [/^deps\.(?:get|update)/, 'install'],
      [/^(?:format|credo|lint)/, 'lint'],
      [/^dialyzer$/, 'typecheck'],
      [/^phx\.server$/, 'server'],
      [/^compile$/, 'build'],
    ]),
    deno: verbs({
      test: 'test',
      lint: 'lint fmt',
      typecheck: 'check',
      build: 'compile bundle',
      install: 'add install remove',
      server: 'serve',
    }),
    playwright: verbs({ test: 'test', install: 'install' }),
    cypress: verbs({ test: 'run open', install: 'install' }),
    vite: verbs({ build: 'build', server: 'dev preview serve' }, 'server'),
    next: verbs({ build: 'build export', server: 'dev start', lint: 'lint' }),
    nuxt: verbs({ build: 'build generate', server: 'dev start preview' }),
    astro: verbs({ build: 'build', server: 'dev preview', typecheck: 'check' }),
    ng: verbs({ build: 'build', server: 'serve', test: 'test e2e', lint: 'lint' }),
    'react-scripts': verbs({ build: 'build', server: 'start', test: 'test' }),
    flutter: verbs({ test: 'test', build: 'build', lint: 'analyze', install: 'pub', server: 'run' }),
    dart: verbs({ test: 'test', build: 'compile', lint: 'analyze format', install: 'pub' }),
    poetry: verbs({ install: 'install add remove update lock sync', build: 'build', look: 'show check env' }),
    uv: verbs({ install: 'add remove sync lock venv tool python', build: 'build', look: 'tree' }, (args, first) =>
      first !== 'pip' ? null : wordAfter(args, 'pip') === 'list' ? 'look' : 'install',
    ),
    pipenv: verbs({ install: 'install uninstall update sync lock' }),
    pdm: verbs({ install: 'install add remove update sync lock', build: 'build' }),
    pip: verbs({ look: 'list show freeze check index' }),
    pipx: verbs({ install: 'install upgrade uninstall', look: 'list' }),
    gem: verbs({ install: 'install uninstall update', build: 'build', look: 'list' }, 'run'),
    bundle: verbs({ install: 'install add update remove lock', look: 'list show info outdated' }, 'install'),
    brew: verbs({ look: 'list info search doctor', server: 'services' }),
    apt: verbs({ look: 'list show search' }),
    rails,
    rake: rails,
    ruby: patterns([[/(?:^|\/)(?:test_\w+|\w+_test)\.rb$/, 'test']], scriptFile),
    php,
    python,
    'manage.py': django,
    'django-admin': django,
    flask: verbs({ server: 'run', migration: 'db', look: 'routes' }, 'run'),
    prisma: verbs({ migration: 'migrate db', build: 'generate', lint: 'validate format' }),
    sqlx: verbs({ migration: 'migrate database' }),
    'drizzle-kit': verbs({ migration: 'migrate push generate up' }),
    alembic: verbs({ look: 'history current heads show' }),
    knex: verbs({ look: 'migrate:status migrate:list' }, 'migration'),
    supabase: verbs({ migration: 'db migration', server: 'start' }),
    node,
    tsx: node,
    'ts-node': node,
    bash: shellScript,
    sh: shellScript,
    git,
    gh,
    docker,
    podman: docker,
    kubectl: verbs({ look: 'get describe logs top explain version config' }, 'run'),
    helm: verbs({ look: 'list status get history template show', lint: 'lint' }, 'run'),
    terraform,
    tofu: terraform,
    sed: (args) => (args.some((arg) => /^-[a-z]*i/.test(arg) || arg.startsWith('--in-place')) ? 'run' : 'look'),
  }),
)
