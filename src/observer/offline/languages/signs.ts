/** Signs that mean the same in every language of code. */
import type { Sign, SignKind } from './language.ts'

export function sign(kind: SignKind, pattern: RegExp, subject?: (match: RegExpExecArray) => string | null): Sign {
  return { kind, pattern, subject: subject ?? ((match) => match[1] ?? null) }
}

/** First group the verb, second the path. */
export function route(pattern: RegExp, verb?: string): Sign {
  return sign('route', pattern, (match) => {
    const path = verb === undefined ? match[2] : match[1]
    const method = (verb ?? match[1] ?? '').toUpperCase()
    return path === undefined ? null : `${method === 'ALL' ? 'ANY' : method} ${path === '' ? '/' : path}`.trim()
  })
}

const lower = (text: string | undefined): string => (text ?? '').toLowerCase()
const sqlName = (text: string | undefined): string => (text ?? '').replace(/["'`[\]]/g, '')
const SQL_NAME = String.raw`((?:["\x60[]?[A-Za-z_]\w*["\x60\]]?\.)?["\x60[]?[A-Za-z_]\w*["\x60\]]?)`

const sql = (source: string): RegExp =>
  new RegExp(source.replaceAll('NAME', SQL_NAME).replaceAll(' ', String.raw`\s+`), 'i')

/** SQL is written into every language's strings. */
const SCHEMA: Sign[] = [
  sign(
    'schema',
    sql('\\bCREATE(?: (?:TEMP|TEMPORARY|VIRTUAL|UNLOGGED|EXTERNAL))? TABLE(?: IF NOT EXISTS)? NAME'),
    (m) => `Creates table ${sqlName(m[1])}`,
  ),
  sign(
    'schema',
    sql('\\bCREATE(?: UNIQUE)? INDEX(?: CONCURRENTLY)?(?: IF NOT EXISTS)? NAME(?: ON NAME)?'),
    (m) => `Creates index ${sqlName(m[1])}${m[2] ? ` on ${sqlName(m[2])}` : ''}`,
  ),
  sign(
    'schema',
    sql(
      '\\bCREATE(?: OR REPLACE)?(?: MATERIALIZED)? (VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE|SEQUENCE)(?: IF NOT EXISTS)? NAME',
    ),
    (m) => `Creates ${lower(m[1])} ${sqlName(m[2])}`,
  ),
  sign(
    'schema',
    sql('\\bDROP (TABLE|INDEX|VIEW|FUNCTION|TRIGGER|TYPE|SEQUENCE)(?: CONCURRENTLY)?(?: IF EXISTS)? NAME'),
    (m) => `Drops ${lower(m[1])} ${sqlName(m[2])}`,
  ),
  sign(
    'schema',
    sql(
      '\\bALTER TABLE(?: IF EXISTS)?(?: ONLY)? NAME ADD(?: COLUMN)?(?: IF NOT EXISTS)? (?!CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|INDEX|CHECK)NAME',
    ),
    (m) => `Adds column ${sqlName(m[1])}.${sqlName(m[2])}`,
  ),
  sign(
    'schema',
    sql('\\bALTER TABLE(?: IF EXISTS)?(?: ONLY)? NAME DROP COLUMN(?: IF EXISTS)? NAME'),
    (m) => `Drops column ${sqlName(m[1])}.${sqlName(m[2])}`,
  ),
  sign(
    'schema',
    sql('\\bALTER TABLE NAME RENAME COLUMN NAME TO NAME'),
    (m) => `Renames column ${sqlName(m[1])}.${sqlName(m[2])} to ${sqlName(m[3])}`,
  ),
  sign(
    'schema',
    sql('\\bALTER TABLE NAME RENAME TO NAME'),
    (m) => `Renames table ${sqlName(m[1])} to ${sqlName(m[2])}`,
  ),
  sign(
    'schema',
    sql('\\bALTER TABLE(?: IF EXISTS)?(?: ONLY)? NAME ADD CONSTRAINT NAME'),
    (m) => `Adds constraint ${sqlName(m[2])} on ${sqlName(m[1])}`,
  ),
]

/** Rails, Knex, Laravel and Alembic migrations. */
const MIGRATION: Sign[] = [
  sign('schema', /\bcreate_table[ (]+[:'"](\w+)/, (m) => `Creates table ${m[1]}`),
  sign('schema', /\bdrop_table[ (]+[:'"](\w+)/, (m) => `Drops table ${m[1]}`),
  sign(
    'schema',
    /\b(add|remove|drop)_column[ (]+[:'"](\w+)['"]?,\s*(?:sa\.Column\()?[:'"](\w+)/,
    (m) => `${m[1] === 'add' ? 'Adds' : 'Drops'} column ${m[2]}.${m[3]}`,
  ),
  sign('schema', /\badd_index[ (]+[:'"](\w+)['"]?,\s*\[?[:'"](\w+)/, (m) => `Creates index on ${m[1]}.${m[2]}`),
  sign('schema', /\.createTable\(\s*['"`](\w+)|\bSchema::create\(\s*['"](\w+)/, (m) => `Creates table ${m[1] ?? m[2]}`),
  sign(
    'schema',
    /\.dropTable(?:IfExists)?\(\s*['"`](\w+)|\bSchema::drop(?:IfExists)?\(\s*['"](\w+)/,
    (m) => `Drops table ${m[1] ?? m[2]}`,
  ),
]

const ENV_NAME = '([A-Z_][A-Z0-9_]+)'
const ENV: Sign[] = [
  sign('env', new RegExp(`\\b(?:process|import\\.meta|Bun)\\.env(?:\\.|\\[\\s*['"])${ENV_NAME}`)),
  sign(
    'env',
    new RegExp(
      `\\b(?:os\\.environ(?:\\.get\\(|\\.pop\\(|\\[)|os\\.getenv\\(|os\\.(?:Getenv|LookupEnv)\\(|env::var(?:_os)?\\(|\\benv!\\(|System\\.getenv\\(|getenv\\(|Deno\\.env\\.get\\(|GetEnvironmentVariable\\(|\\benv\\(|ENV\\.fetch\\(|ENV\\[|\\$_(?:ENV|SERVER)\\[|environment\\[)\\s*['"]${ENV_NAME}`,
    ),
  ),
]

const NAME = String.raw`([A-Za-z][\w.:-]{2,60})`
const FEATURE: Sign[] = [
  sign(
    'feature',
    new RegExp(
      `\\b(?:is_?[fF]eature_?[eE]nabled|feature_?[eE]nabled|use_?[fF]eature_?[fF]lag|get_?[fF]eature_?[fF]lag|useFlag|useFeature|flag_is_active|isFlagEnabled|hasFeature|featureFlags?(?:\\.(?:isEnabled|get|is_enabled))?|flags\\.(?:isEnabled|is_enabled|get)|Flipper\\.enabled\\?|Feature\\.enabled\\?|unleash\\.isEnabled|(?:[bB]ool)?[vV]ariation)\\s*[(\\[]\\s*(?:\\w+,\\s*)?[:'"]${NAME}`,
    ),
  ),
  sign('feature', /\b(?:FEATURE|FF|FLAG)_([A-Z][A-Z0-9_]{2,})\b/, (m) => m[0]),
]

const FLAG: Sign[] = [
  sign(
    'flag',
    /(?:\.(?:option|addOption|requiredOption|add_option|add_argument|on)|click\.option|@option|Option|Argument|typer\.Option)\(.{0,60}?['"]\s*(?:-\w,?\s*['"]?,?\s*['"]?)?(--[a-z][\w-]*)/,
  ),
  sign(
    'flag',
    /(?:\bflag|[fF]lags?\(\)|\bfs|\bflagset)\.(?:String|Bool|Int|Int64|Duration|Float64|StringSlice|Uint|Var)(?:Var)?P?\(\s*(?:&[\w.]+,\s*)?"([a-z][\w-]*)"/,
    (m) => `--${m[1]}`,
  ),
  sign('flag', /\bArg::new\("([a-z][\w-]*)"\)/, (m) => `--${m[1]}`),
]

const ERROR: Sign[] = [
  sign('error', /\bclass\s+(\w+)\s*(?:extends|:|<|\()\s*(?:public\s+)?[\w.:\\]*(?:Error|Exception)\b/),
  sign('error', /\b(Err[A-Z]\w*)\s*=\s*(?:errors\.New|fmt\.Errorf)/),
  sign('error', /\b(?:enum|struct)\s+(\w+(?:Error|Exception))\b/),
  sign('code', /\b(?:error_?)?code['"]?\s*[:=]\s*['"]([A-Z][A-Z0-9]*_[A-Z0-9_]+)['"]/i, (m) =>
    m[1] === m[1]?.toUpperCase() ? (m[1] ?? null) : null,
  ),
  sign('code', /['"](E(?:RR)?_[A-Z][A-Z0-9_]+)['"]/),
]

export const TODO: Sign[] = [
  sign(
    'todo',
    /(?:\/\/|\/?\*|#|--|<!--|;|%).{0,40}?\b(TODO|FIXME|HACK|XXX)\b[:\s]*(?:\([\w@ -]{1,30}\)[:\s]*)?(.*)/,
    (m) => {
      const rest = (m[2] ?? '').replace(/\s*(?:\*\/|-->)\s*$/, '').trim()
      return rest === '' ? null : `${m[1]}: ${rest}`
    },
  ),
]

interface Gate {
  /** Lines without it have none of these signs. */
  when: RegExp
  signs: Sign[]
}

export const COMMON_SIGNS: Gate[] = [
  { when: /\b(?:create|drop|alter)\b/i, signs: SCHEMA },
  { when: /_table|_column|add_index|Table|Schema::/, signs: MIGRATION },
  { when: /env/i, signs: ENV },
  { when: /feature|flag|FF_|Flipper|unleash|ariation/i, signs: FEATURE },
  { when: /--[a-z]|[fF]lag|\bfs\.|Arg::/, signs: FLAG },
  { when: /Err|Exception|code|E_/i, signs: ERROR },
  { when: /TODO|FIXME|HACK|XXX/, signs: TODO },
]
