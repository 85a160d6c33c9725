/**
 * Files that exist to hold secrets: `.env`, `.netrc`, `.pgpass`, kubeconfigs, key files, … Nothing of their content is kept,
 * whatever tool shows it: of files with a setting per line only the names, of others a marker. Their lines are also found in
 * the output of `grep` and in diffs, and the data of Kubernetes secrets wherever such a manifest is.
 */

import { LiteralSearch } from '../lib/literal-search.ts'
import { secretKindForName } from './secret-names.ts'

/** `lines`: one setting per line, the names are kept. `whole`: nothing is kept. */
export type CredentialFile = 'lines' | 'whole'

/** In files with a setting per line every value is masked: the name does not show whether it is a secret. */
const ENV_MARKER = '[secret:env]'
const FILE_MARKER = '[secret:credentials-file]'

/** `.env`, `.env.production`, `staging.env`; not examples such as `.env.example`. */
export function isEnvFile(path: string): boolean {
  return /^\.env(?:\..+)?$|.\.env$/.test(baseName(path)) && !isExample(path)
}

const LINE_FILES =
  /(?:^|[\\/])(?:\.npmrc|\.pypirc|\.my\.cnf|\.s3cfg|\.boto|\.databrickscfg|\.Renviron|\.aws[\\/]credentials|[^\\/]*\.tfvars)$/i
const WHOLE_FILES = new RegExp(
  `(?:^|[\\\\/])(?:${[
    '[._]netrc|\\.pgpass|pgpass\\.conf|\\.mylogin\\.cnf|\\.git-credentials|\\.htpasswd|\\.vault-token|\\.dockercfg|\\.passwd-s3fs',
    'id_(?:rsa|dsa|ecdsa|ed25519)(?:_[\\w-]+)?|[^\\\\/]*\\.(?:ppk|p12|pfx|jks|keystore|kdbx|key|ovpn)|master\\.key',
    'kubeconfig(?:\\.ya?ml)?|[^\\\\/]*\\.kubeconfig|[^\\\\/]*\\.tfstate(?:\\.backup)?|[^\\\\/]*\\.tfvars\\.json|credentials\\.tfrc\\.json|\\.terraformrc',
    'application_default_credentials\\.json|access_tokens\\.db|rclone\\.conf|settings-security\\.xml|\\.credentials\\.json|msal_token_cache\\.\\w+',
    '\\.docker[\\\\/]config\\.json|\\.kube[\\\\/]config|\\.cargo[\\\\/]credentials(?:\\.toml)?|\\.gem[\\\\/]credentials|\\.m2[\\\\/]settings\\.xml',
    'gh[\\\\/]hosts\\.yml|gcloud[\\\\/]credentials\\.db|\\.gnupg[\\\\/].*|wireguard[\\\\/][\\w-]+\\.conf|\\.?(?:composer|codex)[\\\\/]auth\\.json|etc[\\\\/]g?shadow',
  ].join('|')})$`,
  'i',
)
/** A text without any of these names none of the files. */
const FILE_HINTS = new LiteralSearch([
  ...'.env .npmrc .pypirc .cnf .s3cfg .boto databrickscfg Renviron credentials tfvars tfstate netrc pgpass htpasswd'.split(
    ' ',
  ),
  ...'vault-token dockercfg passwd-s3fs id_r id_d id_e .ppk .p12 .pfx .jks .keystore .kdbx .key .ovpn kubeconfig'.split(
    ' ',
  ),
  ...'terraformrc access_tokens rclone settings msal_token config hosts.yml gnupg wireguard auth.json shadow'.split(
    ' ',
  ),
])

/** Most characters of a path that is looked at. */
const MAX_PATH = 1_024

export function credentialFile(path: string): CredentialFile | null {
  if (path.length > MAX_PATH || isExample(path)) return null
  if (isEnvFile(path) || LINE_FILES.test(path)) return 'lines'
  return WHOLE_FILES.test(path) ? 'whole' : null
}

const isExample = (path: string): boolean => /\.(?:example|sample|template|dist|pub)$/i.test(path)

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
}

/** Fields in which tools name the file they work on. */
const PATH_FIELDS = new Set(['file_path', 'filePath', 'path', 'notebook_path', 'filename'])
/** Fields that never contain the file's content. */
const DESCRIBING_FIELDS = new Set([...PATH_FIELDS, 'type', 'mode', 'output_mode', 'filenames', 'description'])

export function isFileContentField(key: string | null): boolean {
  return key !== null && !DESCRIBING_FIELDS.has(key)
}

/** Levels at which tools have paths in their input or response, and members that are looked at. */
const MAX_PATH_DEPTH = 4
const MAX_MEMBERS = 100

/** The strictest kind of file that a tool's input or response names. */
export function namedCredentialFile(value: unknown, depth = 0): CredentialFile | null {
  if (typeof value !== 'object' || value === null || depth > MAX_PATH_DEPTH) return null
  let found: CredentialFile | null = null
  for (const [key, item] of Object.entries(value).slice(0, MAX_MEMBERS)) {
    const kind =
      typeof item === 'string'
        ? PATH_FIELDS.has(key)
          ? credentialFile(item)
          : null
        : namedCredentialFile(item, depth + 1)
    if (kind === 'whole') return kind
    found ??= kind
  }
  return found
}

/** Programs that print a file. */
const READERS =
  /^(?:cat|bat|batcat|head|tail|less|more|nl|tac|grep|egrep|fgrep|zgrep|rg|ag|awk|gawk|sed|cut|sort|uniq|jq|yq|xxd|od|hexdump|base64|strings|diff|cmp|git|type|gc|Get-Content|xmllint|column)$/
const MAX_COMMAND = 20_000

/** Commands whose whole output is a secret. The group is a name that has to be that of a secret. */
const PRINTERS: readonly RegExp[] = [
  /^(?:kubectl|oc)\s.{0,200}\bget\s+secrets?[\s/].{0,200}(?:jsonpath|template)=.{0,40}\.(?:data|stringData)\b/,
  /^(?:vault|bao)\s.{0,200}\s-field[= ]["']?([\w.-]+)/,
  /^(?:terraform|tofu)\s.{0,200}\boutput\s.{0,100}-raw\s+([\w.-]+)/,
  /^aws\s.{0,200}(?:\bsecretsmanager\s+get-secret-value\b.{0,400}--output\s+text|\bssm\s+get-parameters?\b.{0,400}--output\s+text|\becr\s+get-login-password\b)/,
  /^gcloud\s.{0,100}(?:print-(?:access|identity)-token|secrets\s+versions\s+access)/,
  /^az\s.{0,200}(?:get-access-token|keyvault\s+secret\s+show)\b.{0,200}\s(?:-o|--output)[ =]?tsv/,
  /^(?:op\s+read|pass\s+show|gh\s+auth\s+token|lpass\s+show\s.{0,100}--password|bw\s+get\s+(?:password|totp))\b/,
  /^security\s+find-(?:generic|internet)-password\s.{0,200}\s-w\b/,
  /^(?:heroku|eb|doppler)\s.{0,200}(?:config:get|secrets\s+get)\s+([\w.-]+)/,
]
/** Programs that pass on what they read. */
const FILTERS = /^(?:base64|jq|tr|head|tail|cut|cat|tee|sed|awk|xxd)\b/

/** Whether a command prints a secret: what goes into a file or another program is not printed. */
function printsSecret(command: string): boolean {
  const plain = command
    .slice(0, MAX_COMMAND)
    .replace(/"[^"\n]*"|'[^'\n]*'/g, (quoted) => quoted.replace(/[;|&>]/g, ' '))
  return plain.split(/&&|[;\n]/).some((line) => {
    const [first = '', ...others] = line.split('|').map((part) => part.trim())
    if (line.includes('>') || others.some((program) => !FILTERS.test(program))) return false
    return PRINTERS.some((printer) => {
      const found = printer.exec(first.replace(/^(?:[A-Z_]+=\S{0,200}\s+){0,4}(?:sudo\s+)?/, ''))
      return found !== null && (found[1] === undefined || secretKindForName(found[1]) !== null)
    })
  })
}

/**
 * What a shell command prints or writes: `lines` if it names such a file, `whole` if it prints one or a secret from where
 * secrets are kept.
 */
export function commandCredentialFile(command: string): CredentialFile | null {
  if (printsSecret(command)) return 'whole'
  if (!FILE_HINTS.isIn(command)) return null
  let found: CredentialFile | null = null
  for (const simple of command.slice(0, MAX_COMMAND).split(/[;|&\n]|\$\(|`/)) {
    const words = simple.match(/[^\s"'()<>=]+/g) ?? []
    const kinds = words.map(credentialFile)
    if (kinds.includes('lines')) found ??= 'lines'
    if (kinds.includes('whole') && words.some((word) => READERS.test(word))) return 'whole'
  }
  return found
}

/** A command that writes such a file has its content: the text of `echo`, and the lines of a heredoc. */
export function maskWrittenCredentials(command: string): string {
  if (!FILE_HINTS.isIn(command)) return command
  const writes = [
    ...command.slice(0, MAX_COMMAND).matchAll(/(?:>{1,2}|\btee(?: -a)?)[ \t]{0,4}["']?([^\s"'|;&<>]{1,1024})/g),
  ]
  if (!writes.some(([, path = '']) => credentialFile(path) !== null)) return command
  const echoed = command.replace(
    /\b((?:echo|printf)[ \t]{1,4}(?:-\w[ \t]{1,4})?)(?:"[^"]{0,4096}"|'[^']{0,4096}'|[^\s"'|;&<>-][^\s|;&<>]{0,4096})/g,
    `$1${FILE_MARKER}`,
  )
  return withoutHeredocLines(echoed)
}

function withoutHeredocLines(command: string): string {
  let end: string | null = null
  const kept: string[] = []
  for (const line of command.split('\n')) {
    if (end !== null && line.trim() !== end) {
      if (kept.at(-1) !== FILE_MARKER) kept.push(FILE_MARKER)
      continue
    }
    kept.push(line)
    end = end === null ? (/<<-?[ \t]{0,4}["']?(\w{1,60})/.exec(line)?.[1] ?? null) : null
  }
  return kept.join('\n')
}

/** What is kept of the content of such a file. */
export function maskCredentialFile(text: string, kind: CredentialFile): string {
  if (kind === 'lines') return maskEnvFile(text)
  return text.trim() === '' ? text : FILE_MARKER
}

/** Before a value: a diff sign, a line number, a comment sign, `export`, and the variable's name. */
const ASSIGNMENT_START =
  /^[ \t+-]{0,16}(?:\d{1,7}[ \t→:|-]{1,4})?#{0,2}[ \t]{0,8}(?:export[ \t]{1,4}|set[ \t]{1,4})?[A-Za-z_/][\w./:-]{0,200}[ \t]{0,40}=$/
const COMMENT = /^[\s+-]{0,100}(?:\d{1,7}[\s→:|-]{1,4})?(?:#|$)/

/**
 * Masks the content of a `.env` file or a part of it. A line that is neither `name=` nor a comment belongs to a value.
 */
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
      if (ASSIGNMENT_START.test(name)) openQuote = unclosedQuote(line.slice(name.length).trim())
      return maskEnvLine(line)
    })
    .join('\n')
}

function maskEnvLine(line: string): string {
  const name = line.slice(0, line.indexOf('=') + 1)
  if (ASSIGNMENT_START.test(name)) return line.slice(name.length).trim() === '' ? line : name + ENV_MARKER
  return COMMENT.test(line) && !line.includes('=') ? line : ENV_MARKER
}

/** Masks assignments in the output of a command that may have printed such a file. */
export function maskEnvLines(text: string): string {
  return text.replace(
    /^((?:[^\s:=]{1,300}:)?(?:\d{1,7}[:-])?[ \t+-]{0,8}(?:export )?[A-Za-z_/][\w./:-]{0,100}[ \t]{0,8}=)(?!=)[^\r\n]+/gm,
    `$1${ENV_MARKER}`,
  )
}

function unclosedQuote(value: string): string | null {
  const quote = value[0]
  if (quote !== '"' && quote !== "'" && quote !== '`') return null
  return value.indexOf(quote, 1) === -1 ? quote : null
}

/** `$ cat .pgpass`, as somebody copies it from a terminal. */
const TYPED_COMMAND = /^[\w.@:~/\\()-]{0,80}(?:[$❯]|(?<=\w)[%>]) (\S[^\r\n]{0,2000})\r?$/
/** Where its output ends at the latest. */
const OUTPUT_END = /^\s*(?:```|$)/

/** Masks what commands printed of such files, or from where secrets are kept, in a text that shows both. */
export function maskTypedCommands(text: string): string {
  if (!text.includes('$ ') && !text.includes('❯ ')) return text
  let shown: CredentialFile | null = null
  return text
    .split('\n')
    .map((line) => {
      const command = TYPED_COMMAND.exec(line)?.[1]
      if (command !== undefined) shown = commandCredentialFile(command)
      else if (OUTPUT_END.test(line)) shown = null
      return command !== undefined || shown === null ? line : maskCredentialFile(line, shown)
    })
    .join('\n')
}

const DIFF_HEADER = /^(?:diff --git (?:"?a\/)?(\S{1,1024})|==> (.{1,1024}?) <==$)/
const DIFF_LINE = /^[ +-]/
const DIFF_OTHER =
  /^(?:@@|index |---|\+\+\+|new file|deleted file|old mode|new mode|similarity|rename|Binary|\\ No newline)/
/** `path:12:text`, `path-12-text`, `path:text`. The colon of a Windows drive belongs to the path. */
const QUOTED_LINE = /^((?:[A-Za-z]:[\\/])?[^\s:]{1,1024}?)(:\d{1,7}[:-]|-\d{1,7}-|:)/

/** Masks the lines of such files in the output of `grep`, `git diff`, `git show`, `head` and the like. */
export function maskQuotedFiles(text: string): string {
  if (!FILE_HINTS.isIn(text)) return text
  let section: CredentialFile | null = null
  let changed = false
  const lines = text.split('\n').map((line) => {
    const header = DIFF_HEADER.exec(line)
    if (header !== null) {
      section = credentialFile(header[1] ?? header[2] ?? '')
      return line
    }
    const masked = section === null ? maskQuotedLine(line) : maskSectionLine(line, section)
    if (section !== null && !DIFF_LINE.test(line) && !DIFF_OTHER.test(line) && line !== '' && isDiff(line))
      section = null
    changed ||= masked !== line
    return masked
  })
  return changed ? lines.join('\n') : text
}

/** After the last hunk of a diff other text may follow: `commit …`. */
const isDiff = (line: string): boolean => /^commit [0-9a-f]{7,}/.test(line)

function maskSectionLine(line: string, section: CredentialFile): string {
  if (DIFF_OTHER.test(line) || line.trim() === '' || isDiff(line)) return line
  if (section === 'lines') return maskEnvLine(line)
  return DIFF_LINE.test(line) ? `${line[0]}${FILE_MARKER}` : FILE_MARKER
}

function maskQuotedLine(line: string): string {
  const prefix = QUOTED_LINE.exec(line.slice(0, MAX_PATH + 16))
  if (prefix === null) return line
  const kind = credentialFile(prefix[1] ?? '')
  const rest = line.slice(prefix[0].length)
  // `.env:4` alone is a count of matches, and `.netrc: Permission denied` a message.
  if (kind === null || /^\d*$/.test(rest.trim()) || (prefix[2] === ':' && /^ [A-Z]/.test(rest))) return line
  return prefix[0] + (kind === 'lines' ? maskEnvLine(rest) : FILE_MARKER)
}

const SECRET_MANIFEST = /^[ \t]*["']?kind["']?:[ \t]{0,4}["']?Secret\b/m
const DATA_BLOCK = /^([ \t]{0,40})(?:data|stringData):[ \t]{0,8}\r?$/
const DATA_ENTRY = /^([ \t]{0,60})(["']?[\w.-]{1,253}["']?:[ \t]{1,8})(\S.*)$/

/** Masks the data of Kubernetes secrets in YAML. */
export function maskSecretManifests(text: string): string {
  if (!text.includes('ecret') || !SECRET_MANIFEST.test(text)) return text
  return text
    .split(/(?<=^|\n)(?=---)/)
    .map((part) => (SECRET_MANIFEST.test(part) ? maskManifest(part) : part))
    .join('')
}

function maskManifest(manifest: string): string {
  let block: number | null = null
  return manifest
    .split('\n')
    .map((line) => {
      const start = DATA_BLOCK.exec(line)
      if (start !== null) {
        block = (start[1] ?? '').length
        return line
      }
      const indent = line.length - line.trimStart().length
      if (block === null || line.trim() === '') return line
      if (indent <= block) {
        block = null
        return line
      }
      const entry = DATA_ENTRY.exec(line)
      if (entry === null) return line.trim().endsWith(':') ? line : `${line.slice(0, indent)}${KUBERNETES_MARKER}`
      return `${entry[1]}${entry[2]}${/^[|>][+-]?$/.test((entry[3] ?? '').trim()) ? entry[3] : KUBERNETES_MARKER}`
    })
    .join('\n')
}

const KUBERNETES_MARKER = '[secret:kubernetes]'
