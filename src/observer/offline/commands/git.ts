/** Version control: commits with branch, hash and message; what push, merge, rebase and the others came to. */
import { allLines, clip, lastLine, listed, type Output } from './output.ts'
import { fault, type Reader, type Run, reading } from './reading.ts'

const COMMIT = /^\[(.{1,100}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$/
const TRAILER = /^(?:[A-Z][\w-]+-(?:by|with|on)|Change-Id|Refs?|Fixes|Closes): |^\W*Generated (?:with|by)\b/i
const MAX_BODY = 400 // the why of a commit fits; its changelog does not

export const readGit: Reader = (run, out) => {
  const facts = [...commits(run, out), ...sentences(out, run)]
  const conflicts = allLines(
    out,
    /^CONFLICT \(.+?\): .*?(?:Merge conflict in |deleted in .*? and modified|)(\S+)$/,
  ).map(([, file = '']) => file)
  if (conflicts.length > 0) {
    const headline = `conflict in ${listed(conflicts, 4)}`
    return reading({
      headline,
      facts: [...facts, `Merge conflict in ${listed(conflicts, 6)}`],
      failed: true,
      faults: conflicts.map((file) => fault(`merge conflict in ${file}`, file)),
    })
  }
  const first = facts[0]
  if (first !== undefined) return reading({ headline: changed(out, first), facts })
  return lastLine(out, /^(?:nothing to commit|no changes added to commit)/)
    ? reading({ headline: 'nothing to commit' })
    : null
}

function commits(run: Run, out: Output): string[] {
  return allLines(out, COMMIT).flatMap(([, branch, hash, subject = '']) => {
    const body = run.kind === 'commit' ? bodyOf(run, subject) : ''
    const facts = [`Committed ${hash} on ${branch}: ${clip(subject, 160)}`]
    return body === '' ? facts : [...facts, `Commit ${hash} explains: ${clip(body, MAX_BODY)}`]
  })
}

/** What the message says below its subject: `-m subject -m body`, or one text of several lines. */
function bodyOf(run: Run, subject: string): string {
  const messages = run.args.flatMap((arg, i) => {
    if (/^(?:-[a-z]*m|--message)$/.test(run.args[i - 1] ?? '')) return [arg]
    return arg.startsWith('--message=') ? [arg.slice('--message='.length)] : []
  })
  if (messages.length === 0 && run.body !== null) messages.push(run.body)
  return messages
    .join('\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== subject.trim() && !TRAILER.test(line))
    .join(' ')
}

function changed(out: Output, first: string): string {
  const stat = lastLine(out, /^ (\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?)/)
  return stat ? `${first} (${stat[1]?.replace(/\([+-]\)/g, '')})` : first
}

const RULES: [RegExp, (found: string[]) => string][] = [
  [
    /^ {3}([0-9a-f]{7,40}\.\.[0-9a-f]{7,40})\s+(\S+) -> (\S+)/,
    ([, range, from, to]) => `Pushed ${from} to ${to} (${range})`,
  ],
  [
    /^ \+ ([0-9a-f]{7,40}\.{3}[0-9a-f]{7,40})\s+(\S+) -> (\S+) \(forced/,
    ([, range, from, to]) => `Force-pushed ${from} to ${to} (${range})`,
  ],
  [/^ \* \[new branch\]\s+(\S+) -> (\S+)/, ([, from, to]) => `Pushed new branch ${from} to ${to}`],
  [/^ \* \[new tag\]\s+(\S+)/, ([, tag]) => `Pushed new tag ${tag}`],
  [/^ - \[deleted\]\s+(?:\(none\) -> )?(\S+)/, ([, name]) => `Deleted remote ${name}`],
  [
    /^Switched to (a new )?branch '(.+)'/,
    ([, fresh, name]) => (fresh ? `Created branch ${name}` : `Switched to branch ${name}`),
  ],
  [/^Merge made by the '(\w+)' strategy/, () => 'Merged with a merge commit'],
  [/^Fast-forward/, () => 'Merged by fast-forward'],
  [/^Successfully rebased and updated (?:refs\/heads\/)?(.+?)\.?$/, ([, name]) => `Rebased ${name}`],
  [/^Saved working directory and index state (.+)$/, ([, what]) => `Stashed ${what}`],
  [/^Dropped (?:refs\/)?(stash@\{\d+\})/, ([, name]) => `Restored and dropped ${name}`],
  [/^HEAD is now at ([0-9a-f]{7,40}) (.+)$/, ([, hash, subject]) => `HEAD is now at ${hash}: ${subject}`],
  [/^Deleted branch (\S+)/, ([, name]) => `Deleted branch ${name}`],
  [/^Cloning into '(.+?)'/, ([, name]) => `Cloned into ${name}`],
  [/^(https:\/\/\S+\/(?:pull|merge_requests|issues|releases\/tag)\/\S+)$/, ([, url]) => `Opened ${url}`],
  [/^Everything up-to-date/, () => 'Nothing to push'],
]

function sentences(out: Output, run: Run): string[] {
  const said = RULES.flatMap(([rule, say]) => allLines(out, rule).slice(0, 5).map(say))
  const verbs = run.args.filter((arg) => !arg.startsWith('-'))
  if (
    run.program === 'git' &&
    run.kind === 'git' &&
    verbs[0] === 'tag' &&
    verbs[1] &&
    !/^(?:fatal|error):/m.test(out.text)
  )
    said.push(`Tagged ${verbs[1]}`)
  return said.map((fact) => clip(fact, 200))
}
