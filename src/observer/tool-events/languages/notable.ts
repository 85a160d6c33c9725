/** Sentences about a change: routes, schema, exports, environment variables, flags, errors, tests. */
import { joinNames } from '../text.ts'
import { cleanName, maskSecretValue } from './code-text.ts'
import { type Language, type NotableKind, type NotablePattern, notablePattern } from './language.ts'
import type { CodePart, OutlinedSide } from './outline.ts'
import { isSymbol, type SymbolChanges } from './symbols.ts'

export const MAX_NOTABLE_CHANGES = 30
/** The tests of a new file must not displace everything else. */
const MAX_TESTS = 15
const MAX_EXPORTS = 8
/** Changed lines that are read of each side. */
const MAX_LINES = 2_000

/** The sentences for an added and a removed subject, in the order of their importance. */
const SENTENCES: [NotableKind, added: string, removed?: string][] = [
  ['route', 'New route $', 'Removes route $'],
  ['schema', '$'],
  ['error', 'Defines error $', 'Removes error $'],
  ['code', 'Uses error code $'],
  ['env', 'Reads environment variable $', 'No longer reads environment variable $'],
  ['flag', 'Adds CLI flag $', 'Removes CLI flag $'],
  ['feature', 'Uses feature flag $', 'Drops feature flag $'],
  ['todo', '$'],
]

export function notableChanges(
  before: OutlinedSide,
  after: OutlinedSide,
  changes: SymbolChanges,
  language: Language,
): string[] {
  const old = findSubjects(before, language)
  const now = findSubjects(after, language)
  const sentences: string[] = []
  for (const [kind, added, removed] of SENTENCES) {
    if (kind === 'env') sentences.push(...exportSentences(changes))
    const was = old.get(kind) ?? new Set<string>()
    const is = now.get(kind) ?? new Set<string>()
    const say = (sentence: string, subjects: Set<string>, others: Set<string>) => {
      for (const subject of subjects) if (!others.has(subject)) sentences.push(sentence.replace('$', () => subject))
    }
    say(added, is, was)
    if (removed !== undefined) say(removed, was, is)
  }
  for (const part of changes.modified) if (part.kind === 'route') sentences.push(`Changes route ${part.name}`)
  sentences.push(...testSentences(changes))
  const safe = sentences
    .map((sentence) => cleanName(maskSecretValue('', sentence)))
    .filter((sentence) => sentence !== '')
  return [...new Set(safe)].slice(0, MAX_NOTABLE_CHANGES)
}

function exportSentences({ added, deleted }: SymbolChanges): string[] {
  const sentence = (verb: string, parts: CodePart[]): string[] => {
    const names = parts.filter((part) => part.exported && isSymbol(part) && !part.test).map((part) => part.name)
    return names.length === 0 ? [] : [`${verb} ${joinNames(names, MAX_EXPORTS)}`]
  }
  return [...sentence('Exports', added), ...sentence('No longer exports', deleted)]
}

function testSentences({ added, deleted, modified }: SymbolChanges): string[] {
  const sentences = (verb: string, parts: CodePart[]): string[] =>
    parts.filter((part) => part.kind === 'test' || part.test).map((part) => `${verb} test: ${part.ownName}`)
  return [...sentences('Adds', added), ...sentences('Removes', deleted), ...sentences('Changes', modified)].slice(
    0,
    MAX_TESTS,
  )
}

function findSubjects({ side }: OutlinedSide, language: Language): Map<NotableKind, Set<string>> {
  const found = new Map<NotableKind, Set<string>>()
  const match = (patterns: readonly NotablePattern[], text: string): void => {
    for (const { kind, pattern, subject } of patterns) {
      const groups = pattern.exec(text)
      const name = groups && subject(groups)
      if (name) found.set(kind, (found.get(kind) ?? new Set()).add(name))
    }
  }
  let read = 0
  for (let i = 0; i < side.lines.length && read < MAX_LINES; i++) {
    if (side.change[i] === 0) continue
    const text = (side.lines[i] ?? '').trim()
    if (text.length < 4) continue
    read++
    if (language.comment.test(text)) {
      if (language.name !== 'markdown' && TODO_WORD.test(text)) match(TODO, text)
    } else if (language.notable !== undefined) {
      for (const { when, patterns } of COMMON_PATTERNS) if (when.test(text)) match(patterns, text)
      match(language.notable, text)
    }
  }
  return found
}

const SQL_NAME = String.raw`((?:["\x60[]?[A-Za-z_]\w*["\x60\]]?\.)?["\x60[]?[A-Za-z_]\w*["\x60\]]?)`
const withoutSqlQuotes = (text: string | undefined): string => (text ?? '').replace(/["'`[\]]/g, '')

/** In `source`, NAME is an SQL name and a blank any white space. In `sentence`, `$1` is a name and `%1` a keyword. */
function sqlPattern(source: string, sentence: string): NotablePattern {
  const pattern = new RegExp(`\\b${source.replaceAll('NAME', SQL_NAME).replaceAll(' ', String.raw`\s+`)}`, 'i')
  return notablePattern('schema', pattern, (match) =>
    sentence
      .replace(/([$%])(\d)/g, (_, mark, number) =>
        mark === '$' ? withoutSqlQuotes(match[number]) : (match[number] ?? '').toLowerCase(),
      )
      .replace(/ on $/, ''),
  )
}

/** SQL is also in the strings of every other language. */
const SCHEMA: NotablePattern[] = [
  sqlPattern(
    'CREATE(?: (?:TEMP|TEMPORARY|VIRTUAL|UNLOGGED|EXTERNAL))? TABLE(?: IF NOT EXISTS)? NAME',
    'Creates table $1',
  ),
  sqlPattern(
    'CREATE(?: UNIQUE)? INDEX(?: CONCURRENTLY)?(?: IF NOT EXISTS)? NAME(?: ON NAME)?',
    'Creates index $1 on $2',
  ),
  sqlPattern(
    'CREATE(?: OR REPLACE)?(?: MATERIALIZED)? (VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE|SEQUENCE)(?: IF NOT EXISTS)? NAME',
    'Creates %1 $2',
  ),
  sqlPattern(
    'DROP (TABLE|INDEX|VIEW|FUNCTION|TRIGGER|TYPE|SEQUENCE)(?: CONCURRENTLY)?(?: IF EXISTS)? NAME',
    'Drops %1 $2',
  ),
  sqlPattern(
    'ALTER TABLE(?: IF EXISTS)?(?: ONLY)? NAME ADD(?: COLUMN)?(?: IF NOT EXISTS)? (?!CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|INDEX|CHECK)NAME',
    'Adds column $1.$2',
  ),
  sqlPattern('ALTER TABLE(?: IF EXISTS)?(?: ONLY)? NAME DROP COLUMN(?: IF EXISTS)? NAME', 'Drops column $1.$2'),
  sqlPattern('ALTER TABLE NAME RENAME COLUMN NAME TO NAME', 'Renames column $1.$2 to $3'),
  sqlPattern('ALTER TABLE NAME RENAME TO NAME', 'Renames table $1 to $2'),
  sqlPattern('ALTER TABLE(?: IF EXISTS)?(?: ONLY)? NAME ADD CONSTRAINT NAME', 'Adds constraint $2 on $1'),
]

/** Rails, Knex, Laravel and Alembic migrations. */
const MIGRATION: NotablePattern[] = [
  notablePattern('schema', /\bcreate_table[ (]+[:'"](\w+)/, 'Creates table $1'),
  notablePattern('schema', /\bdrop_table[ (]+[:'"](\w+)/, 'Drops table $1'),
  notablePattern(
    'schema',
    /\b(add|remove|drop)_column[ (]+[:'"](\w+)['"]?,\s*(?:sa\.Column\()?[:'"](\w+)/,
    ([, verb, table, column]) => `${verb === 'add' ? 'Adds' : 'Drops'} column ${table}.${column}`,
  ),
  notablePattern('schema', /\badd_index[ (]+[:'"](\w+)['"]?,\s*\[?[:'"](\w+)/, 'Creates index on $1.$2'),
  notablePattern('schema', /\.createTable\(\s*['"`](\w+)|\bSchema::create\(\s*['"](\w+)/, 'Creates table $1$2'),
  notablePattern(
    'schema',
    /\.dropTable(?:IfExists)?\(\s*['"`](\w+)|\bSchema::drop(?:IfExists)?\(\s*['"](\w+)/,
    'Drops table $1$2',
  ),
]

const ENV_NAME = '([A-Z_][A-Z0-9_]+)'
const ENV: NotablePattern[] = [
  notablePattern('env', new RegExp(`\\b(?:process|import\\.meta|Bun)\\.env(?:\\.|\\[\\s*['"])${ENV_NAME}`)),
  notablePattern(
    'env',
    new RegExp(
      `\\b(?:os\\.environ(?:\\.get\\(|\\.pop\\(|\\[)|os\\.getenv\\(|os\\.(?:Getenv|LookupEnv)\\(|env::var(?:_os)?\\(|\\benv!\\(|System\\.getenv\\(|getenv\\(|Deno\\.env\\.get\\(|GetEnvironmentVariable\\(|\\benv\\(|ENV\\.fetch\\(|ENV\\[|\\$_(?:ENV|SERVER)\\[|environment\\[)\\s*['"]${ENV_NAME}`,
    ),
  ),
]

const FEATURE: NotablePattern[] = [
  notablePattern(
    'feature',
    /\b(?:is_?[fF]eature_?[eE]nabled|feature_?[eE]nabled|use_?[fF]eature_?[fF]lag|get_?[fF]eature_?[fF]lag|useFlag|useFeature|flag_is_active|isFlagEnabled|hasFeature|featureFlags?(?:\.(?:isEnabled|get|is_enabled))?|flags\.(?:isEnabled|is_enabled|get)|Flipper\.enabled\?|Feature\.enabled\?|unleash\.isEnabled|(?:[bB]ool)?[vV]ariation)\s*[([]\s*(?:\w+,\s*)?[:'"]([A-Za-z][\w.:-]{2,60})/,
  ),
  notablePattern('feature', /\b(?:FEATURE|FF|FLAG)_(?:[A-Z][A-Z0-9_]{2,})\b/, '$0'),
]

const FLAG: NotablePattern[] = [
  notablePattern(
    'flag',
    /(?:\.(?:option|addOption|requiredOption|add_option|add_argument|on)|click\.option|@option|Option|Argument|typer\.Option)\(.{0,60}?['"]\s*(?:-\w,?\s*['"]?,?\s*['"]?)?(--[a-z][\w-]*)/,
  ),
  notablePattern(
    'flag',
    /(?:\bflag|[fF]lags?\(\)|\bfs|\bflagset)\.(?:String|Bool|Int|Int64|Duration|Float64|StringSlice|Uint|Var)(?:Var)?P?\(\s*(?:&[\w.]+,\s*)?"([a-z][\w-]*)"/,
    '--$1',
  ),
  notablePattern('flag', /\bArg::new\("([a-z][\w-]*)"\)/, '--$1'),
]

const ERROR: NotablePattern[] = [
  notablePattern('error', /\bclass\s+(\w+)\s*(?:extends|:|<|\()\s*(?:public\s+)?[\w.:\\]*(?:Error|Exception)\b/),
  notablePattern('error', /\b(Err[A-Z]\w*)\s*=\s*(?:errors\.New|fmt\.Errorf)/),
  notablePattern('error', /\b(?:enum|struct)\s+(\w+(?:Error|Exception))\b/),
  notablePattern('code', /\b(?:error_?)?code['"]?\s*[:=]\s*['"]([A-Z][A-Z0-9]*_[A-Z0-9_]+)['"]/i, ([, code = '']) =>
    code === code.toUpperCase() ? code : null,
  ),
  notablePattern('code', /['"](E(?:RR)?_[A-Z][A-Z0-9_]+)['"]/),
]

const TODO_WORD = /TODO|FIXME|HACK|XXX/
const TODO: NotablePattern[] = [
  notablePattern(
    'todo',
    /(?:\/\/|\/?\*|#|--|<!--|;|%).{0,40}?\b(TODO|FIXME|HACK|XXX)\b[:\s]*(?:\([\w@ -]{1,30}\)[:\s]*)?(.*)/,
    ([, word, text = '']) => {
      const rest = text
        .trim()
        .replace(/(?:\*\/|-->)$/, '')
        .trim()
      return rest === '' ? null : `${word}: ${rest}`
    },
  ),
]

/** Patterns that mean the same in every language; only lines that match `when` can have one of them. */
const COMMON_PATTERNS: { when: RegExp; patterns: NotablePattern[] }[] = [
  { when: /\b(?:create|drop|alter)\b/i, patterns: SCHEMA },
  { when: /_table|_column|add_index|Table|Schema::/, patterns: MIGRATION },
  { when: /env/i, patterns: ENV },
  { when: /feature|flag|FF_|Flipper|unleash|ariation/i, patterns: FEATURE },
  { when: /--[a-z]|[fF]lag|\bfs\.|Arg::/, patterns: FLAG },
  { when: /Err|Exception|code|E_/i, patterns: ERROR },
  { when: TODO_WORD, patterns: TODO },
]
