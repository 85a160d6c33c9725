/** `claude-mem projects`: lists, renames, merges, links, splits and excludes projects. */
import { resolve } from 'node:path'
import type { LinkReport } from '../../daemon/project-directories.ts'
import type { ProjectView } from '../../daemon/project-views.ts'
import type { MergeReport } from '../../daemon/projects.ts'
import { isExcluded, projectOfDirectory, projectWorkingTree } from '../../domain/project.ts'
import { travellingIdentity } from '../../domain/repository.ts'
import { MemError } from '../../lib/errors.ts'
import { loadSettings } from '../../settings/settings.ts'
import { oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, confirmChange, printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED, yesOption } from '../command.ts'
import { parsePath, parseProject } from '../filters.ts'
import { formatAgo, memoryCountsText } from '../format.ts'
import { callMemory, withDaemon } from '../memory-client.ts'
import type { Display } from '../style.ts'
import { cutColumn, rightColumn, type TableCell, tableLines } from '../table.ts'
import { terminalSafe } from '../text.ts'
import { overrideLines, setSetting } from './config.ts'

const ACTIONS = ['list', 'rename', 'merge', 'link', 'split', 'exclude'] as const
const EXCLUDED_SETTING = 'CLAUDE_MEM_EXCLUDED_PROJECTS'
/** Tens of thousands of memories are moved in batches. */
const MERGE_TIMEOUT_MS = 600_000

export const projectsCommand = defineCommand({
  usage: 'projects [action] [project] [to]',
  group: 'Maintenance',
  summary: 'Projects: list, rename, merge, link, split, exclude',
  about:
    'A project is a repository with all its worktrees and clones, or a directory without one. Projects with the same name ' +
    'are different projects. A repository is known by its remote (docs/projects.md), else by its path. A repository that ' +
    'was moved keeps its memory when the next session starts in it. ' +
    'list works without a daemon. rename sets a name, --reset removes it. merge moves everything of the first project to the ' +
    'second, now and in the future: it first shows what would be moved and asks; --yes does it without asking. A merge ' +
    'cannot be undone: make a backup before (claude-mem backup). link PATH confirms that a directory is a clone of the ' +
    'repository that its remote names; link PATH NAME gives a directory without a remote a name by which other machines ' +
    'find it. split keeps a clone apart: what is learned there from now on is its own. exclude stops recording in a directory, or in the ' +
    'directory of a project, with everything below it; what is already stored stays until you forget it. A project is ' +
    'given by its name, key or path.',
  examples: [
    ['claude-mem projects', 'all of them, the last used first; gone: its directory no longer exists'],
    ['claude-mem projects rename shop "Shop old"', ''],
    ['claude-mem projects rename "Shop old" --reset', 'back to the name of its directory'],
    ['claude-mem projects merge ~/old/shop .', 'what would be moved; then it asks'],
    ['claude-mem projects link ~/work/shop', 'it is a clone of the repository that it names'],
    ['claude-mem projects link ~/notes notes', 'other machines find it by this name'],
    ['claude-mem projects split ~/work/shop-experiment', 'a memory of its own from now on'],
    ['claude-mem projects exclude ~/clients/secret', 'record nothing below it'],
    ['claude-mem projects exclude ~/clients/secret --remove', 'record it again'],
  ],
  positionals: {
    action: { type: 'string', describe: ACTIONS.join(', '), default: 'list' },
    project: { type: 'string', describe: 'Name, key or path; link, split: a path' },
    to: { type: 'string', describe: 'rename, link: the new name; merge: the project that receives everything' },
  },
  options: {
    reset: { type: 'boolean', describe: 'rename: back to the name that its sessions report' },
    remove: { type: 'boolean', describe: 'exclude: remove it from the list' },
    yes: { ...yesOption, describe: 'merge: do not ask for confirmation' },
  },
  run: async ({ action, project, to, reset, remove, yes }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    refuseIf(chosen !== 'rename' && reset, '--reset is an option of rename')
    refuseIf(chosen !== 'exclude' && remove, '--remove is an option of exclude')
    refuseIf(chosen !== 'merge' && yes, '--yes is an option of merge')
    if (chosen === 'list') {
      refuseIf(project !== undefined, 'projects list takes no other argument')
      await listProjects(cli)
      return 0
    }
    if (project === undefined || project.trim() === '')
      throw new UsageError(`projects ${chosen} needs a project: its name, key or path; claude-mem projects lists them`)
    switch (chosen) {
      case 'rename':
        await renameProject(cli, project, to, reset)
        return 0
      case 'merge':
        return await mergeProjects(cli, project, to, yes)
      case 'link':
        await linkDirectory(cli, project, to)
        return 0
      case 'split':
        refuseIf(to !== undefined, 'projects split takes one directory')
        await splitDirectory(cli, project)
        return 0
      case 'exclude':
        refuseIf(to !== undefined, 'projects exclude takes one project or directory')
        await setExcluded(cli, project, !remove)
        return 0
    }
  },
})

async function listProjects(cli: Cli): Promise<void> {
  const loaded = await callMemory(cli, 'projects')
  const excluded = loadSettings(cli.paths.dataDir, cli.env).values[EXCLUDED_SETTING]
  const projects = loaded.projects.map((project) => ({
    ...project,
    excluded: project.place !== null && isPathExcluded(project.place, excluded, project.key),
  }))
  // Excluded directories without a project in the list.
  const others = excluded.filter(
    (entry) => !projects.some(({ place, key }) => place !== null && isPathExcluded(place, [entry], key)),
  )
  printResult(cli, { running: loaded.running, projects, excluded: others }, () =>
    projectListLines(projects, others, cli.display()),
  )
}

async function renameProject(cli: Cli, given: string, name: string | undefined, reset: boolean): Promise<void> {
  refuseIf(reset && name !== undefined, 'rename takes a new name or --reset, not both')
  refuseIf(!reset && name === undefined, 'rename needs a new name, or --reset: claude-mem projects rename shop store')
  const input = { project: parseProject(given, cli.env), name: name ?? null }
  const { project } = await withDaemon(cli, (client) => client.call('project_rename', input))
  printResult(cli, project, () => `${terminalSafe(project.key)} is now called ${terminalSafe(project.name)}`)
}

async function mergeProjects(cli: Cli, from: string, into: string | undefined, yes: boolean): Promise<number> {
  if (into === undefined) throw new UsageError('merge needs two projects: claude-mem projects merge FROM INTO')
  const projects = { from: parseProject(from, cli.env), into: parseProject(into, cli.env) }
  return await withDaemon(cli, async (client) => {
    const request = async (confirm: boolean): Promise<MergeReport> =>
      (await client.call('project_merge', { ...projects, confirm }, MERGE_TIMEOUT_MS)).report
    const planned = await request(false)
    if (cli.json && !yes) {
      cli.printJson(planned)
      return 0
    }
    if (!cli.json) cli.print(...mergePreviewLines(planned, cli.display()))
    const question = `Merge ${terminalSafe(planned.from.name)} into ${terminalSafe(planned.into.name)}?`
    if (!yes && !(await confirmChange(cli, question, 'Nothing was merged'))) return cli.interactive ? EXIT_FAILED : 0
    const report = await request(true)
    const [part, whole] = [terminalSafe(report.from.name), terminalSafe(report.into.name)]
    printResult(cli, report, () => `${part} is now part of ${whole}: ${memoryCountsText(report)}`)
    return 0
  })
}

/** Always a path: a directory may have no project yet. */
const directoryKey = (given: string): string => projectOfDirectory(parsePath(given, {}) ?? resolve(given)).key

async function linkDirectory(cli: Cli, given: string, name: string | undefined): Promise<void> {
  const input = { directory: directoryKey(given), name: name ?? null }
  const { report } = await withDaemon(cli, (client) => client.call('project_link', input, MERGE_TIMEOUT_MS))
  printResult(cli, report, () => {
    const { key, name: project } = report.project
    const moved = Object.values(report.moved).some((count) => count > 0)
    return [
      `${terminalSafe(given)} belongs to ${terminalSafe(project)} (${terminalSafe(key)})`,
      ...(moved ? [`What was learned there belongs to it too: ${memoryCountsText(report.moved)}`] : []),
      ...staysLines(report),
    ]
  })
}

async function splitDirectory(cli: Cli, given: string): Promise<void> {
  const input = { directory: directoryKey(given) }
  const { report } = await withDaemon(cli, (client) => client.call('project_split', input))
  printResult(cli, report, () => [
    `${terminalSafe(given)} is a project of its own from now on (${terminalSafe(report.project.key)})`,
    ...staysLines(report),
  ])
}

function staysLines({ stays }: LinkReport): string[] {
  if (stays === null) return []
  return [`What was learned there before stays with ${terminalSafe(stays.name)} (${terminalSafe(stays.key)})`]
}

async function setExcluded(cli: Cli, given: string, on: boolean): Promise<void> {
  const path = parsePath(given, {})
  const places = path === null ? await findProjectDirectories(cli, given) : [path]
  const { dataDir } = cli.paths
  const results = places.map((place) => ({
    place,
    excluded: on,
    changed: on ? excludeDirectory(dataDir, place) : includeDirectory(dataDir, place),
  }))
  const [only, ...others] = results
  printResult(cli, others.length === 0 ? (only ?? {}) : { places: results }, () =>
    results.flatMap(({ place, changed }) => excludedLines(cli, terminalSafe(place), on, changed)),
  )
}

/** A repository may have several clones. */
async function findProjectDirectories(cli: Cli, given: string): Promise<string[]> {
  const { projects } = await callMemory(cli, 'projects')
  const found = projects.filter(({ key, name }) => key === given || name === given)
  const [only, ...others] = found
  if (only === undefined) {
    const directory = projectWorkingTree(given)
    if (directory !== null) return [directory]
    throw new MemError(
      'not_found',
      `no project is called "${given}"; give a path: claude-mem projects exclude ./${given}`,
    )
  }
  if (others.length > 0) {
    const keys = found.map(({ key }) => key).join(', ')
    throw new MemError('bad_request', `${found.length} projects are called "${given}"; give one of the keys: ${keys}`)
  }
  if (only.places.length === 0)
    throw new MemError('bad_request', `${given} has no directory on this machine: there is nothing to exclude`)
  return only.places
}

/** Whether a directory, or the repository that the key names, is in one of the excluded directories. */
function isPathExcluded(directory: string, excluded: readonly string[], key = `dir:${directory}`): boolean {
  return isExcluded(directory, { key, name: '' }, excluded)
}

/** False: it, or a directory above it, was already excluded. */
function excludeDirectory(dataDir: string, directory: string): boolean {
  const excluded = excludedInFile(dataDir)
  if (isPathExcluded(directory, excluded)) return false
  setSetting(dataDir, EXCLUDED_SETTING, [...excluded, directory])
  return true
}

/** False: it was not excluded. */
function includeDirectory(dataDir: string, directory: string): boolean {
  const excluded = excludedInFile(dataDir)
  const rest = excluded.filter((entry) => !isSameDirectory(entry, directory))
  const parent = rest.find((entry) => isPathExcluded(directory, [entry]))
  if (parent !== undefined) {
    const command = `claude-mem projects exclude ${parent} --remove`
    throw new MemError(
      'bad_request',
      `${directory} is in ${parent}, which is excluded; to include all of it: ${command}`,
    )
  }
  if (rest.length === excluded.length) return false
  setSetting(dataDir, EXCLUDED_SETTING, rest)
  return true
}

/** Only what the settings file contains: values from the environment must not be written to it. */
function excludedInFile(dataDir: string): readonly string[] {
  const { values, problems } = loadSettings(dataDir, {})
  const problem = problems.find(({ name }) => name === EXCLUDED_SETTING)
  if (problem !== undefined) throw new MemError('bad_setting', `${problem.message}; fix it first`)
  return values[EXCLUDED_SETTING]
}

function isSameDirectory(entry: string, directory: string): boolean {
  return isPathExcluded(directory, [entry]) && isPathExcluded(parsePath(entry, {}) ?? resolve(entry), [directory])
}

function excludedLines(cli: Cli, place: string, on: boolean, changed: boolean): string[] {
  const overridden = overrideLines(cli, EXCLUDED_SETTING)
  if (!on) return [changed ? `${place} is recorded again` : `${place} was not excluded`, ...overridden]
  const argument = /\s/.test(place) ? `"${place}"` : place
  return [
    changed ? `Nothing is recorded in ${place} and below from now on` : `${place} is already excluded`,
    `What is already stored stays. To forget it: claude-mem forget --kind all --project ${argument}`,
    ...overridden,
  ]
}

type ListedProject = ProjectView & { excluded: boolean }

function projectListLines(projects: readonly ListedProject[], excluded: readonly string[], display: Display): string[] {
  const { style, now } = display
  const counts = [rightColumn('OBS'), rightColumn('SESSIONS')]
  const columns = [cutColumn('PROJECT'), ...counts, 'LAST', cutColumn('PLACE'), cutColumn('KEY'), '']
  const rows = projects.map((project): TableCell[] => [
    { text: project.name || project.key, paint: style.bold },
    String(project.observations),
    String(project.sessions),
    formatAgo(project.updatedAt, now),
    project.place ?? '',
    { text: project.key, paint: style.dim },
    { text: projectNotes(project), paint: style.yellow },
  ])
  return [
    ...(projects.length === 0
      ? ['No project yet: the first session creates one.']
      : tableLines(columns, rows, display)),
    ...(excluded.length === 0 ? [] : ['', style.dim('Excluded, with everything below:')]),
    ...excluded.map((place) => `  ${terminalSafe(place)}`),
  ]
}

function projectNotes({ gone, excluded, merged, places, key, claims }: ListedProject): string {
  const isRepository = travellingIdentity(key) !== null
  return [
    ...(claims === null ? [] : [`claims ${claims}: claude-mem projects link or split`]),
    ...(gone ? ['gone'] : []),
    ...(excluded ? ['excluded'] : []),
    ...(places.length > 1 ? [`${places.length} directories`] : []),
    ...(merged.length === 0 || isRepository ? [] : [`with ${merged.length} merged`]),
  ].join(', ')
}

function mergePreviewLines(report: MergeReport, { style }: Display): string[] {
  const [from, into] = [terminalSafe(report.from.name), terminalSafe(report.into.name)]
  return [
    style.bold(`To be merged: ${from} into ${into}`),
    `  ${style.dim(terminalSafe(report.from.key))}`,
    `  ${style.dim(terminalSafe(report.into.key))}`,
    `${memoryCountsText(report)} of ${from} would belong to ${into}, as will everything learned in either later.`,
    style.dim('A merge cannot be undone; make a backup before: claude-mem backup now'),
  ]
}
