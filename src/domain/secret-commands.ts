/**
 * Secrets in command lines that no name shows: `curl -u user:password`, `mysql -pPassword`, `sshpass -p password`. Only the
 * program says what a flag means, so each program has its own flags.
 */
import type { Span } from './private-parts.ts'
import { isPlaceholderValue } from './secret-names.ts'

/** A quoted text, or a word. The quotes stay. */
const VALUE = `(?:"(?<double>[^"\\n]{1,512})"|'(?<single>[^'\\n]{1,512})'|(?<bare>[^\\s"'|;&<>]{1,512}))`
/** As `VALUE` after `user:`: a quote may be before the user. */
const AFTER_USER = '[ =]?["\']?(?!\\[secret:)[^\\s:"\'@]{1,128}:(?<bare>[^\\s"\']{1,256})'
const flag = (source: string): string => `(?<=\\s)(?:${source})${VALUE}`

interface ProgramFlags {
  programs: string
  /** Source of a pattern for the rest of the command; its groups are masked. */
  flags: string
  kind?: string
  /** Only after this word: `docker login`. */
  needs?: RegExp
}

const PROGRAMS: readonly ProgramFlags[] = [
  { programs: 'curl', flags: `(?<=\\s)(?:-u|-U|--user|--proxy-user)${AFTER_USER}` },
  {
    programs: 'curl',
    kind: 'cookie',
    flags: '(?<=\\s)(?:-b|--cookie)[ =]?["\']?[^\\s="\']{1,128}=(?<bare>[^\\s"\']{4,2048})',
  },
  { programs: 'http|https|xh|xhs', flags: `(?<=\\s)(?:-a|--auth)(?=[ =])${AFTER_USER}` },
  {
    programs: 'http|https|xh|xhs',
    kind: 'token',
    needs: /\s(?:-A|--auth-type)[ =]?bearer\b/,
    flags: flag('-a |--auth[ =]'),
  },
  { programs: 'mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump', flags: flag('-p') },
  { programs: 'sqlplus|sqlldr|expdp|impdp', flags: '\\s[\\w.$-]{1,64}/(?<bare>[^\\s@"\'/]{1,128})(?=@|\\s|$)' },
  { programs: 'sshpass|twine|ncftpput', flags: flag('-p ?') },
  { programs: 'docker|podman|nerdctl|helm|oras|skopeo|buildah|az', needs: /\blogin\b/, flags: flag('-p ') },
  { programs: 'redis-cli|valkey-cli', flags: flag('-a |--pass ') },
  { programs: 'mongo|mongosh|mongodump|mongorestore|mongoimport|mongoexport', flags: flag('-p ?') },
  { programs: 'openssl', flags: flag('-(?:passin|passout|pass) pass:|-k ') },
  { programs: 'keytool|jarsigner', flags: flag('-(?:src|dest)?(?:store|key)pass ') },
  { programs: 'apksigner', flags: flag('--(?:ks|key)-pass pass:') },
  { programs: 'ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd', flags: flag('-w ') },
  { programs: 'sqlcmd|bcp|osql|mosquitto_pub|mosquitto_sub|ipmitool', flags: flag('-P ?') },
  { programs: 'plink|pscp|psftp', flags: flag('-pw ') },
  { programs: 'zip|unzip', flags: flag('-P ') },
  { programs: '7z|7za|7zz|rar|unrar', flags: flag('-p') },
  { programs: 'gpg', flags: flag('--passphrase[ =]') },
  {
    programs: 'htpasswd|mosquitto_passwd',
    needs: /\s-\w{0,4}b/,
    flags: '\\s-\\w{0,4}b\\w{0,4}\\s[^\\s]{1,200}\\s[^\\s]{1,80}\\s(?<bare>[^\\s"\'|;&<>]{1,200})',
  },
  { programs: 'kubectl|oc', kind: 'secret', flags: flag('--from-literal[ =]["\']?[\\w.-]{1,100}=') },
  { programs: 'gh|glab', needs: /\bsecret set\b/, kind: 'secret', flags: flag('(?:-b|--body)[ =]') },
  {
    programs: 'fly|flyctl|supabase|doppler|heroku',
    needs: /\bsecrets? set\b|\bconfig:set\b/,
    kind: 'secret',
    flags: flag('[A-Za-z_]\\w{0,100}='),
  },
  { programs: 'aws', needs: /\bSecureString\b/, kind: 'secret', flags: flag('--value[ =]') },
  { programs: 'az', needs: /\bkeyvault secret set\b/, kind: 'secret', flags: flag('--value[ =]') },
  { programs: 'vault', needs: /\slogin\s/, kind: 'token', flags: flag('login (?=[\\w.]*\\d)') },
  { programs: 'smbclient|rpcclient|smbmap', flags: '(?<=\\s)-U ?["\']?[^\\s%"\']{1,80}%(?<bare>[^\\s"\']{1,128})' },
  { programs: 'wpa_passphrase', flags: '\\s(?:"[^"\\n]{1,64}"|\\S{1,64})\\s(?<bare>[^\\s"\'|;&<>]{8,63})' },
  { programs: 'nmcli', flags: flag('password ') },
  { programs: 'rabbitmqctl', flags: flag('(?:add_user|change_password|authenticate_user) [^\\s-]\\S{0,80} ') },
  { programs: 'composer|poetry', flags: flag('http-basic\\.\\S{1,100} [^\\s-]\\S{0,80} ') },
  { programs: 'bundle', needs: /\sconfig\s/, flags: `(?<=\\s[\\w-]{1,60}\\.[\\w.-]{1,60})${AFTER_USER}` },
  // `net use Z: \\host\share PASSWORD /user:NAME`; a star asks for it.
  {
    programs: 'net',
    needs: /^\s{1,4}use\s/,
    flags: '\\\\\\\\[^\\s/]{1,200}(?:\\s{1,4}/user:\\S{1,100})?\\s{1,4}(?![/*])(?<bare>[^\\s"\'|;&<>]{1,128})',
  },
  { programs: 'net', needs: /^\s{1,4}user\s/, flags: flag('user [^\\s/]{1,100} (?![/*])') },
  { programs: 'cmdkey|xfreerdp|wfreerdp', flags: flag('/(?:pass|p):') },
  { programs: 'security', needs: /\sadd-(?:generic|internet)-password\s/, flags: flag('-w ') },
  { programs: 'security', needs: /\s(?:unlock|create)-keychain\s/, flags: flag('-p ') },
  { programs: 'cypher-shell', flags: flag('-p ') },
  { programs: 'x11vnc', flags: flag('-passwd ') },
  { programs: 'mc', needs: /\salias set\s/, flags: flag('https?://\\S{1,200} [^\\s-]\\S{0,80} ') },
  {
    programs: 'printf',
    flags: flag('["\'][^"\'\\n%]{0,80}(?:password|passwd|secret|token)[:=] ?%s[^"\'\\n]{0,40}["\'] '),
  },
  { programs: 'schtasks|psexec', flags: flag('/rp |-p ') },
]

const NAMES = [...new Set(PROGRAMS.flatMap(({ programs }) => programs.split('|')))]
const STARTS = new RegExp(`(?<![\\w.-])(?:${NAMES.join('|')})(?=[ \\t])`, 'g')

type Rule = Omit<ProgramFlags, 'flags'> & { flags: RegExp }
const rulesByProgram = new Map<string, Rule[]>()

/** Their patterns are made when a text has the program. */
function rulesOf(program: string): readonly Rule[] {
  const known = rulesByProgram.get(program)
  if (known !== undefined) return known
  const own = PROGRAMS.filter(({ programs }) => programs.split('|').includes(program))
  const rules = own.map((rule) => ({ ...rule, flags: new RegExp(rule.flags, 'dg') }))
  rulesByProgram.set(program, rules)
  return rules
}

/** `echo SECRET | docker login --password-stdin`, `echo user:SECRET | chpasswd` */
const PIPED =
  /(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?["']?(?:[\w.-]{1,64}:(?=[^\n|]{1,520}\|[ \t]{0,4}(?:sudo )?chpasswd))?(?<bare>[^\s"'|]{1,512})["']?[ \t]{0,4}\|[^\n|]{0,400}?(?:--password-stdin|--stdin|--with-token|sudo -S|--passphrase-fd|chpasswd|cryptsetup|secret create|secret put)/dg

const PIPED_HINTS = [
  '-stdin',
  '--with-token',
  'sudo -S',
  '-fd',
  'chpasswd',
  'cryptsetup',
  'secret create',
  'secret put',
]

/** Characters of a command after its program: longer ones are rare, and this bounds the time for each program. */
const MAX_COMMAND = 2_000

/** Masks secrets in the command lines of a text. */
export function maskCommands(text: string): string {
  const spans: (Span & { kind: string })[] = []
  let end = 0
  STARTS.lastIndex = 0
  for (let match = STARTS.exec(text); match !== null; match = STARTS.exec(text)) {
    // `curl curl curl …`: the rest of a command is read once.
    if (match.index < end) continue
    const from = match.index + match[0].length
    const rest = commandRest(text, from)
    end = from + rest.length
    for (const rule of rulesOf(match[0])) {
      if (rule.needs?.test(rest) === false) continue
      for (const found of rest.matchAll(rule.flags)) addSpan(spans, found, from, rule.kind ?? 'password')
    }
  }
  if (PIPED_HINTS.some((hint) => text.includes(hint))) {
    for (const found of text.matchAll(PIPED)) addSpan(spans, found, 0, 'password')
  }
  return spans.length === 0 ? text : replaced(text, spans)
}

function commandRest(text: string, from: number): string {
  const rest = text.slice(from, from + MAX_COMMAND)
  const stop = /(?<!\\)\n|[;|&](?=\s)/.exec(rest)
  return stop === null ? rest : rest.slice(0, stop.index)
}

function addSpan(spans: (Span & { kind: string })[], found: RegExpMatchArray, offset: number, kind: string): void {
  for (const [group, range] of Object.entries(found.indices?.groups ?? {})) {
    const value = found.groups?.[group]
    if (range === undefined || value === undefined) continue
    // `docker run -u 1000:1000` has numbers, and a flag may be followed by another one.
    if (isPlaceholderValue(value) || value.startsWith('$') || value.startsWith('-')) continue
    spans.push({ start: offset + range[0], end: offset + range[1], kind })
  }
}

function replaced(text: string, spans: (Span & { kind: string })[]): string {
  spans.sort((a, b) => a.start - b.start)
  let result = ''
  let done = 0
  for (const { start, end, kind } of spans) {
    if (start < done) continue
    result += `${text.slice(done, start)}[secret:${kind}]`
    done = end
  }
  return result + text.slice(done)
}
