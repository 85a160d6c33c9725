/** Prints what `claude-mem install` and `uninstall` did or would do. */
import type { InstalledClient } from '../../setup/install/clients/adapter.ts'
import type { ChangedFile, InstallResult, UninstallResult } from '../../setup/install/install.ts'
import type { ObserverChange } from '../observer-choice.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines } from '../table.ts'
import { terminalSafe, wrapText } from '../text.ts'

/** Columns of the list of events. */
const EVENTS_WIDTH = 70

interface InstallView {
  title: string
  found: InstalledClient | null
  result: InstallResult
  observer: ObserverChange | null
  restarted: boolean
}

/** `call`: how a shell of this machine runs our command line. */
export function installedLines(
  view: InstallView,
  { call, undo }: { call: string; undo: string },
  display: Display,
): string[] {
  const { title, found, result, observer, restarted } = view
  const { bold, green } = display.style
  const [firstEvents = '', ...moreEvents] = wrapText(result.events.join(', '), EVENTS_WIDTH)
  const heading = result.changed
    ? `claude-mem is installed in ${title}`
    : `claude-mem is already installed in ${title}; nothing changed`
  const daemon = restarted ? ' (the daemon was restarted)' : ''
  return [
    `${green('✓')} ${bold(heading)}`,
    ...fieldLines(
      [
        ...result.files.flatMap(({ file, what, backup }): Field[] => [
          [what, terminalSafe(file)],
          ['copy', backup && terminalSafe(backup)],
        ]),
        ['client', clientText(title, found)],
        ['events', firstEvents],
        ...moreEvents.map((line) => ['', line] as const),
        ['runs', terminalSafe(result.command)],
        ['observer', observer && `${observer.provider}${daemon}`],
      ],
      display,
    ),
    '',
    `Next: start ${title} as usual; restart sessions that are open now.`,
    ...(observer === null ? [`To see and change the observer: ${call} providers`] : []),
    `To see what is remembered: ${call} inspect    To undo it: ${undo}`,
  ]
}

function clientText(title: string, found: InstalledClient | null): string {
  if (found === null) return 'not found'
  return terminalSafe(`${title}${found.version === null ? '' : ` ${found.version}`} (${found.path})`)
}

export function installNoteLines(notes: readonly string[], display: Display): string[] {
  return notes.length === 0 ? [] : ['', ...notes.map((note) => `${display.style.yellow('!')} ${terminalSafe(note)}`)]
}

export function installDryRunLines(files: readonly ChangedFile[], display: Display): string[] {
  return files.flatMap(({ file, diff }) => diffLines(file, diff, display))
}

function diffLines(file: string, diff: readonly string[], display: Display): string[] {
  const { green, red, cyan, bold } = display.style
  if (diff.length === 0) return [`Nothing would change in ${terminalSafe(file)}`]
  const painted = (line: string): string => {
    const text = terminalSafe(line)
    if (line.startsWith('---') || line.startsWith('+++')) return bold(text)
    if (line.startsWith('@@')) return cyan(text)
    return line.startsWith('+') ? green(text) : line.startsWith('-') ? red(text) : text
  }
  return diff.flatMap((line) => line.split('\n')).map(painted)
}

export function uninstalledLines(title: string, { files, changed }: UninstallResult, display: Display): string[] {
  const { bold, green } = display.style
  if (!changed) {
    const names = files.map(({ file }) => terminalSafe(file)).join(' and ')
    return [`claude-mem is not installed in ${title}; there is no entry of it in ${names}`]
  }
  return [
    `${green('✓')} ${bold(`claude-mem is no longer installed in ${title}`)}`,
    ...files.flatMap((file) => uninstalledFileLines(file, true)),
  ]
}

/** `showCopy`: false if the copies are deleted, too. */
export function uninstalledFileLines(
  { file, how, what, backup }: UninstallResult['files'][number],
  showCopy: boolean,
): string[] {
  const path = terminalSafe(file)
  const text = {
    nothing: `${path} had no ${what} of ours.`,
    restored: `${path} is restored, byte for byte.`,
    removed: `${path} was changed since, so only our ${what === 'hooks' ? 'hooks were' : 'server was'} removed.`,
    'file removed': `${path} did not exist before and is removed.`,
  }[how]
  return [
    `  ${text}`,
    ...(backup === null || !showCopy ? [] : [`  A copy from before is kept: ${terminalSafe(backup)}`]),
  ]
}
