/** How the commands of the larger tools divide into kinds of work. */
import type { CommandKind } from '../../types.ts'
import { PROGRAM_KINDS } from './programs.ts'
import { kindByFile, kindByName } from './scripts.ts'

export type Rule = (args: string[], first: string) => CommandKind | null

/** First match wins: `verbs({ test: 'test bench' })` says that `cargo test` and `cargo bench` are tests. */
export function verbs(table: Partial<Record<CommandKind, string>>, otherwise: CommandKind | null = null): Rule {
  const kinds = new Map<string, CommandKind>()
  for (const [kind, words] of Object.entries(table)) {
    for (const word of words.split(' ')) kinds.set(word, kind as CommandKind)
  }
  return (_args, first) => kinds.get(first) ?? otherwise
}

export function wordAfter(args: string[], ...words: string[]): string {
  const plain = args.filter((arg) => !arg.startsWith('-'))
  return plain.find((_, i) => words.includes(plain[i - 1] ?? '')) ?? ''
}

const VALUED_NODE_FLAGS = ['-w', '--workspace', '-C', '--prefix', '--cwd', '--filter', '-F']

export function nodePackages(args: string[]): CommandKind {
  const plain = args.filter((arg, i) => !arg.startsWith('-') && !VALUED_NODE_FLAGS.includes(args[i - 1] ?? ''))
  const [first = '', second = ''] = plain[0] === 'workspace' ? plain.slice(2) : plain
  if (
    /^(?:i|install|ci|add|remove|rm|uninstall|un|update|upgrade|up|link|dedupe|import|rebuild|install-test)$/.test(
      first,
    )
  )
    return 'install'
  if (/^(?:ls|list|view|info|outdated|why|audit|config|root|bin|whoami|explain|search|help|pkg|prefix)$/.test(first))
    return 'look'
  if (/^(?:t|tst|test)$/.test(first)) return 'test'
  if (/^(?:pack|build)$/.test(first)) return 'build'
  if (/^(?:publish|login|logout|version|init|create|dlx|x|cache|store|setup)$/.test(first)) return 'run'
  const script = first === 'run' || first === 'run-script' ? second : first
  if (script === '') return first === '' ? 'install' : 'look'
  return kindByName(script) ?? PROGRAM_KINDS.get(script) ?? 'run'
}

export const targets: Rule = (args) => {
  const named = args.filter((arg) => !arg.startsWith('-') && !/^[A-Z_]+=/.test(arg) && !/^\d+$/.test(arg))
  for (const name of named) {
    const kind = kindByName(name)
    if (kind !== null) return kind
  }
  return named.length === 0 ? null : 'run'
}

export const scriptFile: Rule = (args, first) => {
  if (args.includes('--check') && first !== '') return 'lint'
  return /\.\w+$|\//.test(first) ? (kindByFile(first) ?? 'run') : 'run'
}

export const git: Rule = (args, first) => {
  const verb = args.find(
    (arg, i) => !arg.startsWith('-') && !['-C', '-c', '--git-dir', '--work-tree'].includes(args[i - 1] ?? ''),
  )
  if (verb === 'commit') return args.includes('--dry-run') ? 'look' : 'commit'
  if (
    /^(?:status|diff|log|show|blame|ls-files|ls-tree|ls-remote|rev-parse|rev-list|describe|shortlog|reflog|grep|cat-file|remote|config|whatchanged|merge-base|name-rev|for-each-ref|check-ignore|var|help|version|count-objects|diff-tree|show-ref|symbolic-ref)$/.test(
      verb ?? first,
    )
  )
    return 'look'
  if (verb === 'branch')
    return args.length === 1 ||
      args.some((arg) => /^(?:-a|-r|-v|-vv|--list|--show-current|--all|--contains)$/.test(arg))
      ? 'look'
      : 'git'
  if (verb === 'stash') return args.includes('list') || args.includes('show') ? 'look' : 'git'
  if (verb === 'tag') return args.length === 1 || args.includes('-l') || args.includes('--list') ? 'look' : 'git'
  return 'git'
}

export const docker: Rule = (args, first) => {
  const verb =
    first === 'compose'
      ? wordAfter(args, 'compose')
      : /^(?:image|container|buildx|volume|network|system)$/.test(first)
        ? wordAfter(args, first)
        : first
  if (verb === 'build' || verb === 'bake') return 'build'
  if (verb === 'up' || verb === 'start' || verb === 'restart') return 'server'
  if (verb === 'run') return args.includes('-d') || args.includes('--detach') ? 'server' : 'run'
  if (/^(?:ps|logs|images|inspect|ls|stats|top|port|version|info|history|config|df|events)$/.test(verb)) return 'look'
  return 'run'
}

export const python: Rule = (args, first) => {
  if (/(?:^|\/)manage\.py$/.test(first)) return django(args.slice(args.indexOf(first) + 1))
  if (first === 'setup.py')
    return args.includes('test') ? 'test' : args.includes('install') || args.includes('develop') ? 'install' : 'build'
  if (/(?:^|\/)(?:test_\w+|\w+_test)\.py$/.test(first)) return 'test'
  return scriptFile(args, first)
}

export function django(args: string[]): CommandKind {
  const verb = args.find((arg) => !arg.startsWith('-')) ?? ''
  if (/^(?:migrate|makemigrations|sqlmigrate|squashmigrations)$/.test(verb)) return 'migration'
  if (verb === 'test') return 'test'
  if (verb === 'runserver' || verb === 'runserver_plus') return 'server'
  if (verb === 'collectstatic' || verb === 'compilemessages') return 'build'
  if (verb === 'check') return 'lint'
  return verb === 'showmigrations' ? 'look' : 'run'
}

export const rails: Rule = (_args, first) => {
  if (/^(?:test|spec|t)\b/.test(first)) return 'test'
  if (/^db:(?:migrate:status|version)/.test(first)) return 'look'
  if (/^db:(?:migrate|rollback|schema|setup|reset|prepare|forward|seed)/.test(first)) return 'migration'
  if (first === 's' || first === 'server') return 'server'
  if (first.startsWith('assets:')) return 'build'
  if (first === 'routes') return 'look'
  return first === '' ? 'test' : (kindByName(first) ?? 'run')
}

export const php: Rule = (args, first) => {
  if (first === 'artisan') {
    const verb = args[args.indexOf('artisan') + 1] ?? ''
    if (verb === 'migrate:status' || verb === 'route:list') return 'look'
    if (verb.startsWith('migrate') || verb === 'db:seed') return 'migration'
    if (verb === 'test') return 'test'
    return verb === 'serve' ? 'server' : 'run'
  }
  if (args.includes('-S')) return 'server'
  if (args.includes('-l')) return 'lint'
  return PROGRAM_KINDS.get(first.split('/').at(-1) ?? '') ?? scriptFile(args, first)
}

export const node: Rule = (args, first) => {
  if (args.some((arg) => arg === '--test' || arg.startsWith('--test-'))) return 'test'
  if (args.includes('--check') || args.includes('-c')) return 'lint'
  if (args.includes('--watch')) return 'server'
  const script = first.split('/').at(-1) ?? ''
  if (/\.(?:test|spec)\.\w+$/.test(script)) return 'test'
  const program = PROGRAM_KINDS.get(script.replace(/\.[mc]?js$/, ''))
  if (program !== undefined && first.includes('node_modules')) return program
  return /^(?:server|app|index)\.\w+$/.test(script)
    ? script.startsWith('server')
      ? 'server'
      : 'run'
    : scriptFile(args, first)
}

export const tsc: Rule = (args) => {
  if (args.includes('--version') || args.includes('-v') || args.includes('--showConfig')) return 'look'
  return args.includes('-b') || args.includes('--build') || args.includes('--outDir') ? 'build' : 'typecheck'
}

export const gradle: Rule = (args, first) => {
  const task = (args.find((arg) => !arg.startsWith('-')) ?? first).split(':').at(-1) ?? ''
  if (/^(?:tasks|dependencies|projects|properties)$/.test(task)) return 'look'
  if (/bootRun|^run$/.test(task)) return 'server'
  return /^(?:check|test\w*|\w*Test)$/.test(task) ? 'test' : (kindByName(task) ?? 'build')
}

export const mvn: Rule = (args) => {
  const goals = args.filter((arg) => !arg.startsWith('-'))
  if (goals.some((goal) => /flyway:|liquibase:/.test(goal))) return 'migration'
  if (goals.some((goal) => /^(?:test|verify|integration-test|surefire:test|failsafe:\S+)$/.test(goal))) return 'test'
  if (goals.some((goal) => /:run$/.test(goal))) return 'server'
  if (goals.some((goal) => /checkstyle|spotless|pmd|spotbugs/.test(goal))) return 'lint'
  return goals.some((goal) => /^dependency:/.test(goal)) ? 'look' : 'build'
}
