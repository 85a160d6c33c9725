/** Files of environment variables hold secrets under any name: their names are kept, their values never. */

export const ENV_MARKER = '[secret:env]'

/** `.env`, `.env.production`, `staging.env`; not the examples that are made to be shared. */
export function isEnvFile(path: string): boolean {
  const base = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  if (!/^\.env(?:\..+)?$|.\.env$/.test(base)) return false
  return !/\.(?:example|sample|template)$/.test(base)
}

/** The fields in which tools name the file they work on. */
const PATH_FIELDS = new Set(['file_path', 'filePath', 'path', 'notebook_path', 'filename'])
/** Fields that describe the call and never hold a file's content. */
const DESCRIBING_FIELDS = new Set([...PATH_FIELDS, 'type', 'mode', 'output_mode', 'filenames', 'description'])

export function isEnvContentField(key: string | null): boolean {
  return key !== null && !DESCRIBING_FIELDS.has(key)
}

/** Whether a tool's input or response is about such a file; nested as deep as tools nest their paths. */
export function namesEnvFile(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > 4) return false
  return Object.entries(value).some(([key, item]) =>
    typeof item === 'string' ? PATH_FIELDS.has(key) && isEnvFile(item) : namesEnvFile(item, depth + 1),
  )
}

/** A shell command that may print such a file. */
export function commandNamesEnvFile(command: string): boolean {
  for (const match of command.matchAll(/[^\s"'`;|&()<>=]+/g)) if (isEnvFile(match[0])) return true
  return false
}

/** What may stand before a value: a diff's sign, a line number, a comment sign, `export`, the name. */
const NAMED =
  /^[ \t+-]{0,16}(?:\d{1,7}[ \t→:|]{1,4})?#{0,2}[ \t]{0,8}(?:export[ \t]{1,4}|set[ \t]{1,4})?[A-Za-z_][\w.-]{0,100}[ \t]{0,4}=$/

/** The content of such a file, or any part of it: a line that is not `name=` or a comment is part of a value. */
export function maskEnvFile(text: string): string {
  let openQuote: string | null = null
  return text
    .split('\n')
    .map((line) => {
      if (openQuote !== null) {
        if (line.includes(openQuote)) openQuote = null
        return ENV_MARKER
      }
      const name = line.slice(0, line.indexOf('=') + 1)
      if (NAMED.test(name)) {
        const value = line.slice(name.length).trim()
        openQuote = unclosedQuote(value)
        return value === '' ? line : name + ENV_MARKER
      }
      return /^[\s+-]*(?:\d{1,7}[\s→:|]{1,4})?(?:#|$)/.test(line) && !line.includes('=') ? line : ENV_MARKER
    })
    .join('\n')
}

/** What a command printed: only lines that are assignments, the rest is the command's own words. */
export function maskEnvLines(text: string): string {
  return text.replace(/^([ \t]{0,8}(?:export )?[A-Za-z_]\w{0,100}=)(?!=)[^\r\n]+/gm, `$1${ENV_MARKER}`)
}

function unclosedQuote(value: string): string | null {
  const quote = value[0]
  if (quote !== '"' && quote !== "'" && quote !== '`') return null
  return value.indexOf(quote, 1) === -1 ? quote : null
}
