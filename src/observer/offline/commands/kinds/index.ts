/** Which kind of work a command is. */
import type { CommandKind } from '../../types.ts'
import { PROGRAM_KINDS } from './programs.ts'
import { kindByFile, kindByName } from './scripts.ts'
import {
  django,
  docker,
  git,
  gradle,
  mvn,
  node,
  nodePackages,
  php,
  python,
  type Rule,
  rails,
  scriptFile,
  targets,
  tsc,
  verbs,
  wordAfter,
} from './toolchains.ts'

const ONLY_SHOWS = /^(?:--?version|-V|--?help|version|help)$/

export function kindOf(program: string, args: string[]): CommandKind {
  const plain = args.filter((arg) => !arg.startsWith('-') && !arg.startsWith('+'))
  if (args.length === 1 && (ONLY_SHOWS.test(args[0] ?? '') || args[0] === '-v')) return 'look'
  const ruled = RULES[program]?.(args, plain[0] ?? '')
  return ruled ?? PROGRAM_KINDS.get(program) ?? kindByScriptFile(program) ?? 'run'
}

function kindByScriptFile(program: string): CommandKind | null {
  return /\.(?:sh|bash|py|rb|m?[jt]s|php|pl|ps1)$/.test(program) ? kindByFile(program) : null
}

const goRule = verbs({
  test: 'test',
  build: 'build generate',
  lint: 'vet fmt',
  install: 'get install mod work',
  look: 'list env doc version',
  run: 'run tool clean',
})

const RULES: Record<string, Rule> = {
  npm: nodePackages,
  yarn: nodePackages,
  pnpm: nodePackages,
  bun: (args, first) =>
    first === 'test'
      ? 'test'
      : first === 'build'
        ? 'build'
        : /\.\w+$/.test(first)
          ? scriptFile(args, first)
          : nodePackages(args),
  make: (args, first) => targets(args, first) ?? 'build',
  just: (args, first) => targets(args, first) ?? 'run',
  task: (args, first) => targets(args, first) ?? 'run',
  turbo: (args, first) => targets(args, first) ?? 'build',
  nx: (args, first) => targets(args, first) ?? 'run',
  lerna: (args, first) => targets(args, first) ?? 'run',
  grunt: (args, first) => targets(args, first) ?? 'build',
  gulp: (args, first) => targets(args, first) ?? 'build',
  composer: (_args, first) =>
    /^(?:install|i|require|req|update|u|remove)$/.test(first)
      ? 'install'
      : /^(?:show|validate|outdated|why)$/.test(first)
        ? 'look'
        : (kindByName(first) ?? 'run'),
  tsc,
  gradle,
  mvn,
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
  go: goRule,
  dotnet: (args, first) =>
    first === 'ef'
      ? args.includes('database') || args.includes('add')
        ? 'migration'
        : 'look'
      : verbs({
          test: 'test vstest',
          build: 'build publish pack msbuild',
          lint: 'format',
          install: 'add restore remove tool',
          server: 'watch',
          look: 'list --info',
        })(args, first),
  swift: verbs({ test: 'test', build: 'build', install: 'package' }),
  mix: (_args, first) =>
    /^(?:test|coveralls)/.test(first)
      ? 'test'
      : /^ecto\./.test(first)
        ? 'migration'
        : /^deps\.(?:get|update)/.test(first)
          ? 'install'
          : /^(?:format|credo|lint)/.test(first)
            ? 'lint'
            : first === 'dialyzer'
              ? 'typecheck'
              : first === 'phx.server'
                ? 'server'
                : first === 'compile'
                  ? 'build'
                  : 'run',
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
  sbt: (args, first) => targets(args, first) ?? 'build',
  poetry: verbs({ install: 'install add remove update lock sync', build: 'build', look: 'show check env' }),
  uv: (args, first) =>
    first === 'pip'
      ? wordAfter(args, 'pip') === 'list'
        ? 'look'
        : 'install'
      : verbs({ install: 'add remove sync lock venv tool python', build: 'build', look: 'tree' })(args, first),
  pipenv: verbs({ install: 'install uninstall update sync lock' }),
  pdm: verbs({ install: 'install add remove update sync lock', build: 'build' }),
  pip: verbs({ look: 'list show freeze check index' }),
  pipx: verbs({ install: 'install upgrade uninstall', look: 'list' }),
  gem: verbs({ install: 'install uninstall update', build: 'build', look: 'list' }, 'run'),
  bundle: verbs({ install: 'install add update remove lock', look: 'list show info outdated' }, 'install'),
  brew: verbs({ look: 'list info search doctor', server: 'services' }),
  apt: verbs({ look: 'list show search' }),
  rails,
  rake: (args, first) => rails(args, first),
  ruby: (args, first) => (/(?:^|\/)(?:test_\w+|\w+_test)\.rb$/.test(first) ? 'test' : scriptFile(args, first)),
  php,
  python,
  'manage.py': (args) => django(args),
  'django-admin': (args) => django(args),
  flask: verbs({ server: 'run', migration: 'db', look: 'routes' }, 'run'),
  prisma: verbs({ migration: 'migrate db', build: 'generate', lint: 'validate format' }),
  sqlx: verbs({ migration: 'migrate database' }),
  'drizzle-kit': verbs({ migration: 'migrate push generate up' }),
  alembic: verbs({ look: 'history current heads show' }),
  knex: (_args, first) => (first === 'migrate:status' || first === 'migrate:list' ? 'look' : 'migration'),
  supabase: verbs({ migration: 'db migration', server: 'start' }),
  node,
  tsx: node,
  'ts-node': node,
  bash: (args, first) => (args.includes('-n') ? 'lint' : scriptFile(args, first)),
  sh: (args, first) => (args.includes('-n') ? 'lint' : scriptFile(args, first)),
  git,
  gh: (args, first) =>
    /^(?:pr|issue|release|repo|run|workflow)$/.test(first) &&
    /^(?:create|merge|close|edit|comment|review|reopen|fork|clone)$/.test(wordAfter(args, first))
      ? 'git'
      : first === 'api'
        ? 'run'
        : 'look',
  docker,
  podman: docker,
  kubectl: verbs({ look: 'get describe logs top explain version config' }, 'run'),
  helm: verbs({ look: 'list status get history template show', lint: 'lint' }, 'run'),
  terraform: verbs({ lint: 'validate fmt', look: 'show output state version', install: 'init' }, 'run'),
  tofu: verbs({ lint: 'validate fmt', look: 'show output state version', install: 'init' }, 'run'),
  http: () => 'run',
  sed: (args) => (args.some((arg) => /^-[a-z]*i/.test(arg) || arg.startsWith('--in-place')) ? 'run' : 'look'),
}
