/** Operations on projects: names, context, files such as CLAUDE.md, and import. */
import * as z from 'zod'
import type { FileSections, FileSectionsResult } from '../../context/files/file-sections.ts'
import { FILE_PARTS, FILES_ACTIONS, workingTreeAt, workingTreeOfKey } from '../../context/files/tree-sections.ts'
import { projectViews } from '../../daemon/project-views.ts'
import { CONTEXT_PARTS } from '../../domain/context-parts.ts'
import { findProject, type Project } from '../../domain/project.ts'
import { travellingIdentity } from '../../domain/repository.ts'
import { MemError } from '../../lib/errors.ts'
import { SETTINGS } from '../../settings/settings.ts'
import type { StoreReader } from '../../store/port.ts'
import { cleanImportBatch } from '../import.ts'
import { AGENTS_TOO, daemonOperation, LOCAL_ONLY, readOperation } from '../operation.ts'
import { batchSchema } from '../record-schemas.ts'
import { path, projectName, projectNewName } from '../schemas.ts'
import { limitToScope } from '../scope.ts'

const { CLAUDE_MEM_CONTEXT_TOKENS } = SETTINGS
const pathOrNone = path.nullable().default(null)

/** Other values than the settings have, for a preview of the context. */
const contextOverrides = {
  tokens: withinRule(CLAUDE_MEM_CONTEXT_TOKENS.rule),
  parts: z.array(z.enum(CONTEXT_PARTS)).max(CONTEXT_PARTS.length).exactOptional(),
}

function withinRule({ min, max }: { min: number; max: number }) {
  return z.int().min(min).max(max).exactOptional()
}

const filesInput = z.object({
  action: z.enum(FILES_ACTIONS),
  project: pathOrNone.describe('Key or name; null: the project of the root'),
  root: pathOrNone.describe("A directory in the working tree; null: the project's own"),
  parts: z.array(z.enum(FILE_PARTS)).min(1).max(FILE_PARTS.length).nullable().default(null).describe('Null: as before'),
  dryRun: z.boolean().default(false),
})

export const projectOperations = {
  context: readOperation({
    about: 'Shows what a session of this project would get at its start, or would get with other settings.',
    doors: AGENTS_TOO,
    input: z.object({ project: projectName.describe('Key or name'), ...contextOverrides }),
    answerDescription:
      '`project`, `tokens`, `context`, its `lines` with what each rests on, `message`, `totals`, `parts`',
    handle: async ({ reader, previewContext }, { project: given, ...overrides }, caller) => {
      const project = await findProject(reader, given)
      return await previewContext({ ...project, key: limitToScope(project.key, caller) }, overrides)
    },
    rest: [{ method: 'GET', path: '/api/context' }],
  }),

  projects: readOperation({
    about: 'Lists the projects, the one with the newest session first.',
    input: z.object({}),
    answerDescription: '`projects`',
    handle: async ({ reader }) => ({ projects: await projectViews(reader) }),
    rest: [{ method: 'GET', path: '/api/projects', pick: 'projects' }],
  }),

  project_rename: daemonOperation({
    about: 'Gives a project a name; null returns to the name that its sessions report.',
    input: z.object({ project: projectName, name: projectNewName.nullable() }),
    answerType: 'project',
    answerDescription: '`project`',
    handle: async ({ projects }, { project, name }) => ({ project: await projects.rename(project, name) }),
  }),

  project_merge: daemonOperation({
    about:
      'Files everything of one project under another, now and later. Without `confirm` it only reports what would move.',
    doors: LOCAL_ONLY,
    input: z.object({ from: projectName, into: projectName, confirm: z.boolean() }),
    answerType: 'project_merged',
    answerDescription: '`report`',
    handle: async ({ projects }, { from, into, confirm }) => ({ report: await projects.merge(from, into, confirm) }),
  }),

  project_link: daemonOperation({
    about:
      'Makes a directory part of the repository that its remote names, or, with `name`, of the project with that name, which is the same on every machine.',
    doors: LOCAL_ONLY,
    input: z.object({ directory: projectName.describe('Its key'), name: projectNewName.nullable() }),
    answerType: 'project_linked',
    answerDescription: '`report`',
    handle: async ({ projects }, { directory, name }) => ({ report: await projects.directories.link(directory, name) }),
  }),

  project_split: daemonOperation({
    about:
      'Keeps a directory apart from the other clones of its repository from now on. What was learned before stays where it is.',
    doors: LOCAL_ONLY,
    input: z.object({ directory: projectName.describe('Its key') }),
    answerType: 'project_split_off',
    answerDescription: '`report`',
    handle: async ({ projects }, { directory }) => ({ report: await projects.directories.split(directory) }),
  }),

  files: daemonOperation({
    about: "Turns files that show a project's memory (CLAUDE.md, Cursor rules) on or off, or reports their state.",
    doors: LOCAL_ONLY,
    input: filesInput,
    answerDescription: '`report`',
    handle: async ({ files, store }, request) => {
      if (files === null) throw new MemError('bad_request', 'this daemon writes no files')
      return { report: await changeFiles(request, files, store) }
    },
  }),

  import: daemonOperation({
    about: 'Takes in memories of another store. Answered once they are durable, with the outcome of each record.',
    doors: LOCAL_ONLY,
    input: z.object({ batch: batchSchema }),
    answerType: 'imported',
    answerDescription: '`outcomes` in the order of the records, `projects`: keys of those that got memories',
    handle: async ({ memory }, { batch }) => await memory.import(cleanImportBatch(batch)),
  }),
}

type FilesRequest = z.output<typeof filesInput>
export type FilesReport = Awaited<ReturnType<typeof changeFiles>>

export async function changeFiles(
  request: FilesRequest,
  fileSections: FileSections,
  reader: Pick<StoreReader, 'projects' | 'projectSettings'>,
) {
  const { action, dryRun } = request
  const { project, key, root } = await resolveTree(request, reader)
  const { sections, files } = await applyFilesAction(request, { key, project: project.key }, root, fileSections)
  return {
    action,
    dryRun,
    project,
    /** Null: no files are written for the project. */
    root: sections?.root ?? null,
    parts: sections?.parts ?? [],
    files,
  }
}

/** `project`: whose memory it is. `key`: of the working tree. `root`: null where the tree's directory is not known. */
async function resolveTree(
  { project: given, root }: FilesRequest,
  reader: Pick<StoreReader, 'projects' | 'projectSettings'>,
): Promise<{ project: Project; key: string; root: string | null }> {
  if (given !== null) {
    const project = await findProject(reader, given)
    const tree = root === null ? await onlyTreeOf(project.key, reader) : await workingTreeAt(root)
    return { project, key: tree?.project.key ?? project.key, root: tree?.root ?? null }
  }
  if (root === null) throw new MemError('bad_request', 'name the project, or a directory of it')
  const tree = await workingTreeAt(root)
  const [known] = await reader.projects({ key: tree.project.key, limit: 1 })
  const project = known === undefined ? tree.project : { key: known.key, name: known.name }
  return { project, key: tree.project.key, root: tree.root }
}

/** The working tree of a project, if it has exactly one that exists. */
async function onlyTreeOf(
  key: string,
  reader: Pick<StoreReader, 'projectSettings'>,
): Promise<{ project: Project; root: string } | null> {
  const merged = (await reader.projectSettings()).filter(({ mergedInto }) => mergedInto === key)
  const keys = travellingIdentity(key) === null ? [key] : merged.map((row) => row.key)
  const found = await Promise.all(keys.map(async (one) => ({ key: one, root: await workingTreeOfKey(one) })))
  const [only, ...others] = found.filter(({ root }) => root !== null)
  if (only === undefined || only.root === null || others.length > 0) return null
  return { project: { key: only.key, name: '' }, root: only.root }
}

function applyFilesAction(
  { action, parts, dryRun }: FilesRequest,
  tree: { key: string; project: string },
  root: string | null,
  fileSections: FileSections,
): Promise<FileSectionsResult> {
  switch (action) {
    case 'status':
      return fileSections.status(tree)
    case 'on':
      if (root === null) {
        throw new MemError(
          'not_found',
          `the directory of ${tree.project} is not known, or it has several; give it with --path`,
        )
      }
      return fileSections.turnOn({ ...tree, root, parts, dryRun })
    case 'off':
      return fileSections.turnOff(tree, null, dryRun)
    case 'clean':
      return fileSections.turnOff(tree, root, dryRun)
  }
}
