/**
 * Secrets in command lines that no name shows: `curl -u user:password`, `mysql -pPassword`, `sshpass -p password`. Only the
 * program says what a flag means, so each program has its own flags.
 */
import type { Span } from './private-parts.ts'
import { isPlaceholderValue } from './secret-names.ts'

interface ProgramFlags {
  programs: string
  /** Applied to the rest of the command; its group `secret` is masked. */
  flags: RegExp
  kind?: string
  /** Only after this word: `docker login`. */
  needs?: RegExp
}

/** A quoted text, or a word. The quotes stay. */
const VALUE = `(?:"(?<double>[^"\\n]{1,512})"|'(?<single>[^'\\n]{1,512})'|(?<bare>[^\\s"'|;&<>]{1,512}))`
const flags = (source: string): RegExp => new RegExp(`(?<=\\s)(?:${source})${VALUE}`, 'gd')

/** Made when a text has one of the programs. */
const programFlags = (): ProgramFlags[] => [
  {
    programs: 'curl',
    flags: /(?<=\s)(?:-u|-U|--user|--proxy-user)[ =]?["']?[^\s:"'@]{1,128}:(?<bare>[^\s"']{1,256})/dg,
  },
  {
    programs: 'curl',
    kind: 'cookie',
    flags: /(?<=\s)(?:-b|--cookie)[ =]?["']?[^\s="']{1,128}=(?<bare>[^\s"']{4,2048})/dg,
  },
  { programs: 'mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump', flags: flags('-p') },
  { programs: 'sshpass', flags: flags('-p ?') },
  { programs: 'docker|podman|nerdctl|helm|oras|skopeo|buildah|az', needs: /\blogin\b/, flags: flags('-p ') },
  { programs: 'redis-cli|valkey-cli', flags: flags('-a ') },
  { programs: 'mongo|mongosh|mongodump|mongorestore|mongoimport|mongoexport', flags: flags('-p ?') },
  { programs: 'openssl', flags: flags('-(?:passin|passout|pass) pass:|-k ') },
  { programs: 'keytool|jarsigner', flags: flags('-(?:src|dest)?(?:store|key)pass ') },
  { programs: 'apksigner', flags: flags('--(?:ks|key)-pass pass:') },
  { programs: 'ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd', flags: flags('-w ') },
  { programs: 'sqlcmd|bcp|osql', flags: flags('-P ?') },
  { programs: 'zip|unzip', flags: flags('-P ') },
  { programs: '7z|7za|7zz|rar|unrar', flags: flags('-p') },
  { programs: 'gpg', flags: flags('--passphrase[ =]') },
  {
    programs: 'htpasswd',
    needs: /\s-\w{0,4}b/,
    flags: /\s-\w{0,4}b\w{0,4}\s[^\s]{1,200}\s[^\s]{1,80}\s(?<bare>[^\s"'|;&<>]{1,200})/dg,
  },
  { programs: 'kubectl|oc', kind: 'secret', flags: flags('--from-literal[ =]["\']?[\\w.-]{1,100}=') },
  { programs: 'gh|glab', needs: /\bsecret set\b/, kind: 'secret', flags: flags('(?:-b|--body)[ =]') },
  {
    programs: 'fly|flyctl|supabase|doppler',
    needs: /\bsecrets? set\b/,
    kind: 'secret',
    flags: flags('[A-Za-z_]\\w{0,100}='),
  },
  { programs: 'smbclient|rpcclient|smbmap', flags: /(?<=\s)-U ?["']?[^\s%"']{1,80}%(?<bare>[^\s"']{1,128})/dg },
  { programs: 'wpa_passphrase', flags: /\s(?:"[^"\n]{1,64}"|\S{1,64})\s(?<bare>[^\s"'|;&<>]{8,63})/dg },
]

const NAMES =
  'curl|mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|sshpass|docker|podman|nerdctl|helm|oras|skopeo|buildah|az|redis-cli|valkey-cli|mongo|mongosh|mongodump|mongorestore|mongoimport|mongoexport|openssl|keytool|jarsigner|apksigner|ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd|sqlcmd|bcp|osql|zip|unzip|7z|7za|7zz|rar|unrar|gpg|htpasswd|kubectl|oc|gh|glab|fly|flyctl|supabase|doppler|smbclient|rpcclient|smbmap|wpa_passphrase'
const STARTS = new RegExp(`(?<![\\w.-])(?:${NAMES})(?=[ \\t])`, 'g')

let rulesByProgram: Map<string, ProgramFlags[]> | null = null

function rulesOf(program: string): readonly ProgramFlags[] {
  if (rulesByProgram === null) {
    rulesByProgram = new Map()
    for (const rule of programFlags()) {
      for (const name of rule.programs.split('|')) rulesByProgram.set(name, [...(rulesByProgram.get(name) ?? []), rule])
    }
  }
  return rulesByProgram.get(program) ?? []
}

/** `echo SECRET | docker login --password-stdin` */
const PIPED =
  /(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?["']?(?<bare>[^\s"'|]{1,512})["']?[ \t]{0,4}\|[^\n|]{0,400}?(?:--password-stdin|--with-token|sudo -S|--passphrase-fd)/dg

const PIPED_HINTS = ['-stdin', '--with-token', 'sudo -S', '-fd']

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
