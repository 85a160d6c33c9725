import type { ProjectView } from '../../channel/project-list.ts'
import type { MergeReport } from '../../channel/projects.ts'
import { MemError } from '../../errors.ts'
import { treeOf } from '../../memory/project.ts'
import { loadSettings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { exclude, include, liesIn, pathMeant, SETTING } from '../exclusions.ts'
import { EXIT_FAILED, oneOf, UsageError } from '../failure.ts'
import { projectAsked } from '../project.ts'
import type { ProjectList } from '../render/projects.ts'
import { clean } from '../text.ts'

const ACTIONS = ['list', 'rename', 'merge', 'exclude'] as const
type Action = (typeof ACTIONS)[number]
/** Tens of thousands of memories are filed anew, a piece at a time. */
const MERGE_MS = 600_000

export const projects = command({
  usage: 'projects [action] [project] [to]',
  group: 'Keep it in shape',
  summary: 'Projects: list, rename, merge two that are one, exclude',
  about:
    'A project is a repository with all its worktrees, or a directory without one; its key says where that lies. Two with ' +
    'one name stay apart. A repository that moves takes its memory along when the next session starts in it. list works ' +
    'without a daemon. rename gives a name that holds everywhere, --reset takes it back. merge files everything of the ' +
    'first project under the second, now and from now on: it shows first what would move and asks; --yes does it without ' +
    'asking. A merge cannot be undone, since nobody knows afterwards which memory was whose: make a backup before ' +
    '(claude-mem backup). exclude makes a directory, or where a project lies, leave no trace from now on; what is known ' +
    'already stays until you forget it. A project is named by its name, key or path.',
  examples: [
    ['claude-mem projects', 'all of them, the last one first; gone: nothing is there any more'],
    ['claude-mem projects rename shop "Shop, old"', ''],
    ['claude-mem projects rename "Shop, old" --reset', 'back to the name of its directory'],
    ['claude-mem projects merge ~/old/shop .', 'what would move; then it asks'],
    ['claude-mem projects exclude ~/clients/secret', 'no trace of anything below it'],
    ['claude-mem projects exclude ~/clients/secret --remove', 'remembered again'],
  ],
  positionals: {
    action: { type: 'string', describe: ACTIONS.join(', '), default: 'list' },
    project: { type: 'string', describe: 'Its name, key or path' },
    to: { type: 'string', describe: 'rename: the new name; merge: the project that it becomes part of' },
  },
  options: {
    reset: { type: 'boolean', describe: 'rename: back to the name that its sessions say' },
    remove: { type: 'boolean', describe: 'exclude: take it off the list' },
    yes: { type: 'boolean', alias: 'y', describe: 'merge: do it, do not ask' },
    json: jsonOption,
  },
  run: async ({ action, project, to, reset, remove, yes, json }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    refuse(chosen !== 'rename' && reset === true, '--reset goes with rename')
    refuse(chosen !== 'exclude' && remove === true, '--remove goes with exclude')
    refuse(chosen !== 'merge' && yes === true, '--yes goes with merge')
    switch (chosen) {
      case 'list':
        refuse(project !== undefined, 'projects list takes nothing more')
        return await list(cli, json === true)
      case 'rename':
        return await rename(cli, given(project, chosen), to, reset === true, json === true)
      case 'merge':
        return await merge(cli, given(project, chosen), to, yes === true, json === true)
      case 'exclude':
        refuse(to !== undefined, 'projects exclude takes one project or directory')
        return await setExcluded(cli, given(project, chosen), remove !== true, json === true)
    }
  },
})

function refuse(wrong: boolean, message: string): void {
  if (wrong) throw new UsageError(message)
}

function given(project: string | undefined, action: Action): string {
  if (project !== undefined && project.trim() !== '') return project
  throw new UsageError(`projects ${action} needs a project: its name, key or path; claude-mem projects lists them`)
}

async function list(cli: Cli, json: boolean): Promise<number> {
  const { running, known } = await knownProjects(cli)
  const excluded = loadSettings(cli.paths.dataDir, cli.env).values[SETTING]
  const shown = known.map((project) => ({
    ...project,
    excluded: project.place !== null && liesIn(project.place, excluded, project.key),
  }))
  const others = excluded.filter(
    (entry) => !shown.some(({ place, key }) => place !== null && liesIn(place, [entry], key)),
  )
  const view: ProjectList = { projects: shown, excluded: others }
  if (json) {
    cli.printJson({ running, ...view })
    return 0
  }
  const { projectLines } = await import('../render/projects.ts')
  cli.print(...projectLines(view, cli.look()))
  return 0
}

async function knownProjects(cli: Cli): Promise<{ running: boolean; known: ProjectView[] }> {
  const { withReader } = await import('../reader.ts')
  return await withReader(cli.paths, async (reader) => ({
    running: reader.daemon !== null,
    known: await reader.projects(),
  }))
}

async function rename(
  cli: Cli,
  asked: string,
  name: string | undefined,
  reset: boolean,
  json: boolean,
): Promise<number> {
  refuse(reset && name !== undefined, 'rename takes a new name or --reset, not both')
  if (!reset && name === undefined)
    throw new UsageError('rename needs a new name, or --reset: claude-mem projects rename shop store')
  const body = {
    type: 'project_rename',
    project: projectAsked(asked, cli.env),
    name: reset ? null : (name ?? null),
  } as const
  const { project } = await withDaemon(cli, (client) => client.request('project', body))
  if (json) cli.printJson(project)
  else cli.print(`${clean(project.key)} is called ${clean(project.name)} now`)
  return 0
}

async function merge(cli: Cli, from: string, into: string | undefined, yes: boolean, json: boolean): Promise<number> {
  if (into === undefined) throw new UsageError('merge needs two projects: claude-mem projects merge FROM INTO')
  const { mergedText, wouldMergeLines } = await import('../render/projects.ts')
  const asked = { from: projectAsked(from, cli.env), into: projectAsked(into, cli.env) }
  return await withDaemon(cli, async (client) => {
    const ask = async (confirm: boolean): Promise<MergeReport> => {
      const body = { type: 'project_merge', ...asked, confirm } as const
      return (await client.request('project_merged', body, MERGE_MS)).report
    }
    const planned = await ask(false)
    if (json && !yes) {
      cli.printJson(planned)
      return 0
    }
    if (!json) cli.print(...wouldMergeLines(planned, cli.look()))
    if (!yes && !(await agreed(planned, cli))) return cli.interactive ? EXIT_FAILED : 0
    const report = await ask(true)
    if (json) cli.printJson(report)
    else cli.print(mergedText(report))
    return 0
  })
}

async function agreed({ from, into }: MergeReport, cli: Cli): Promise<boolean> {
  if (!cli.interactive) {
    cli.tell('Nothing was merged: say --yes if you mean it')
    return false
  }
  const yes = await cli.confirm(`Merge ${clean(from.name)} into ${clean(into.name)}?`)
  if (!yes) cli.tell('Nothing was merged')
  return yes
}

async function setExcluded(cli: Cli, asked: string, on: boolean, json: boolean): Promise<number> {
  const place = pathMeant(asked) ?? (await placeNamed(cli, asked))
  const { dataDir } = cli.paths
  const changed = on ? exclude(dataDir, place) : include(dataDir, place)
  if (json) cli.printJson({ place, excluded: on, changed })
  else cli.print(...excludedLines(cli, place, on, changed))
  return 0
}

async function placeNamed(cli: Cli, asked: string): Promise<string> {
  const { known } = await knownProjects(cli)
  const found = known.filter(({ key, name }) => key === asked || name === asked)
  const [only, ...others] = found
  if (only === undefined) {
    const place = treeOf(asked)
    if (place !== null) return place
    throw new MemError(
      'not_found',
      `no project is called "${asked}"; give a path: claude-mem projects exclude ./${asked}`,
    )
  }
  if (others.length > 0) {
    const keys = found.map(({ key }) => key).join(', ')
    throw new MemError('bad_request', `${found.length} projects are called "${asked}"; say which: ${keys}`)
  }
  if (only.place === null)
    throw new MemError('bad_request', `${asked} lies nowhere on this machine: there is nothing to exclude`)
  return only.place
}

function excludedLines(cli: Cli, place: string, on: boolean, changed: boolean): string[] {
  const shown = clean(place)
  const inEnvironment = cli.env[SETTING]
  const but =
    inEnvironment === undefined ? [] : [`But the environment says ${SETTING}=${clean(inEnvironment)}, which wins.`]
  if (!on) return [changed ? `${shown} is remembered again` : `${shown} was not excluded`, ...but]
  return [
    changed ? `${shown} leaves no trace from now on, with everything below it` : `${shown} is excluded already`,
    `What is known of it stays. To forget it: claude-mem forget --kind all --project ${/\s/.test(shown) ? `"${shown}"` : shown}`,
    ...but,
  ]
}
