/** What installing and undoing it did, or would do, for people. */
import type { Client } from '../../install/clients/adapter.ts'
import type { ChangedFile, Installed, Uninstalled } from '../../install/install.ts'
import type { ObserverPlan } from '../observer-choice.ts'
import type { Look } from '../style.ts'
import { fields } from '../table.ts'
import { clean, wrap } from '../text.ts'

/** Event names in one column are hard to read, in one line hard to find. */
const EVENTS_WIDTH = 70

export interface InstallView {
  title: string
  found: Client | null
  result: Installed
  observer: ObserverPlan | null
  restarted: boolean
}

export function installedLines(view: InstallView, undo: string, look: Look): string[] {
  const { title, found, result, observer, restarted } = view
  const { bold, green } = look.style
  const [firstEvents = '', ...moreEvents] = wrap(result.events.join(', '), EVENTS_WIDTH)
  const heading = result.changed
    ? `claude-mem is installed in ${title}`
    : `claude-mem was installed in ${title} already; nothing changed`
  const daemon = restarted ? ' (the daemon was started again)' : ''
  return [
    `${green('✓')} ${bold(heading)}`,
    ...fields(
      [
        ...result.files.flatMap(({ file, what, backup }) => [
          [what, clean(file)] as const,
          ...(backup === null ? [] : [['copy', clean(backup)] as const]),
        ]),
        ['client', clientText(title, found)],
        ['events', firstEvents],
        ...moreEvents.map((line) => ['', line] as const),
        ['runs', clean(result.command)],
        ...(observer === null ? [] : [['observer', `${observer.provider}${daemon}`] as const]),
      ],
      look,
    ),
    '',
    `Next: start ${title} as always; a session that is open now may have to be started again.`,
    ...(observer === null ? ['Who observes, and what else could: claude-mem providers'] : []),
    `See what is remembered with: claude-mem inspect    Undo it with: ${undo}`,
  ]
}

function clientText(title: string, found: Client | null): string {
  if (found === null) return 'not found'
  return clean(`${title}${found.version === null ? '' : ` ${found.version}`} (${found.path})`)
}

export function noteLines(notes: readonly string[], look: Look): string[] {
  return notes.length === 0 ? [] : ['', ...notes.map((note) => `${look.style.yellow('!')} ${clean(note)}`)]
}

export function dryRunLines(files: readonly ChangedFile[], look: Look): string[] {
  return files.flatMap(({ file, diff }) => previewLines(file, diff, look))
}

function previewLines(file: string, diff: readonly string[], look: Look): string[] {
  const { green, red, cyan, bold } = look.style
  if (diff.length === 0) return [`Nothing would change in ${clean(file)}`]
  const painted = (line: string): string => {
    const text = clean(line)
    if (line.startsWith('---') || line.startsWith('+++')) return bold(text)
    if (line.startsWith('@@')) return cyan(text)
    return line.startsWith('+') ? green(text) : line.startsWith('-') ? red(text) : text
  }
  return diff.flatMap((line) => line.split('\n')).map(painted)
}

export function uninstalledLines(title: string, { files, changed }: Uninstalled, look: Look): string[] {
  const { bold, green } = look.style
  if (!changed) {
    const names = files.map(({ file }) => clean(file)).join(' and ')
    return [`claude-mem is not installed in ${title}; there is nothing of ours in ${names}`]
  }
  return [
    `${green('✓')} ${bold(`claude-mem is no longer installed in ${title}`)}`,
    ...files.flatMap((file) => fileLines(file, true)),
  ]
}

/** Without `copies` where those are about to be deleted. */
export function fileLines({ file, how, what, backup }: Uninstalled['files'][number], copies: boolean): string[] {
  const path = clean(file)
  const said = {
    nothing: `${path} had no ${what} of ours.`,
    restored: `${path} is as it was before, to the byte.`,
    removed: `${path} was changed since, so only our ${what === 'hooks' ? 'hooks were' : 'server was'} taken out.`,
    'file removed': `${path} was not there before and is removed.`,
  }[how]
  return [`  ${said}`, ...(backup === null || !copies ? [] : [`  A copy from before is kept: ${clean(backup)}`])]
}
