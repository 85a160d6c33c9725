/** What of a tool use a model needs: for the tools that are used most, the telling fields; of any other, all that is no ballast. */
import type { MessageEvent, ToolFailureEvent, ToolUseEvent } from '../../memory/event.ts'
import { type Fields, numberIn, recordOf, textIn } from '../offline/fields.ts'
import { changeText, placeIn, symbolsOf } from './file-change.ts'
import type { Texture } from './shorten.ts'
import { valueText, withoutBlob } from './value-text.ts'

export interface Part {
  /** Null: the text stands by itself. */
  label: string | null
  text: string
  texture: Texture
  /** Of the bound for one field, from 0 to 1: what is looked at is worth less than what was made. */
  worth: number
}

export interface ToolUse {
  tool: string
  input: Part[]
  outcome: Part[]
  /** How it ended, where it did not end well. */
  ended: 'failed' | 'interrupted' | null
}

const LOOKED_AT = 0.5

export function toolUseOf(event: MessageEvent, projectDir: string): ToolUse {
  if (event.kind === 'subagent_end') {
    return { tool: 'subagent ended', input: [], outcome: some(null, event.lastMessage), ended: null }
  }
  const place: Place = (path) => placeIn(path, projectDir)
  const reader = (Object.hasOwn(READERS, event.tool) ? READERS[event.tool] : null) ?? {}
  const response = event.kind === 'tool_use' ? recordOf(event.response) : {}
  const input = reader.input?.(recordOf(event.input), place, response) ?? []
  return {
    tool: event.tool,
    // Whatever the client calls its fields, something of the input is told.
    input: input.length > 0 ? input : some(null, valueText(event.input)),
    ...(event.kind === 'tool_use' ? success(event, reader, response, place) : failure(event)),
  }
}

function success(event: ToolUseEvent, reader: Reader, response: Fields, place: Place): Ending {
  return {
    // A client that answers in plain words, or in a shape of its own, is heard as well.
    outcome: reader.outcome?.(response, event, place) ?? some(null, valueText(event.response)),
    ended: response.interrupted === true ? 'interrupted' : null,
  }
}

function failure(event: ToolFailureEvent): Ending {
  return { outcome: some(null, withoutBlob(event.error)), ended: event.interrupted ? 'interrupted' : 'failed' }
}

type Ending = Pick<ToolUse, 'outcome' | 'ended'>

type Place = (path: string) => string

interface Reader {
  input?: (input: Fields, place: Place, response: Fields) => Part[]
  /** Null: the response is of another shape. */
  outcome?: (response: Fields, event: ToolUseEvent, place: Place) => Part[] | null
}

const EDIT: Reader = {
  input: (input, place, response) => {
    const change = changeText(input, response)
    return change === '' ? [] : [...file(input, place), ...some(null, withoutBlob(change), 'code')]
  },
  outcome: (response, event) => ('filePath' in response ? some('symbols', symbolsOf(event).join(', ')) : null),
}

const SEARCH: Reader = {
  input: (input, place) => [
    ...some('pattern', textIn(input, 'pattern')),
    ...some('in', place(textIn(input, 'path'))),
    ...some('files', textIn(input, 'glob') || textIn(input, 'type')),
  ],
  outcome: (response, _event, place) => {
    const names = Array.isArray(response.filenames) ? response.filenames.filter((name) => typeof name === 'string') : []
    const content = textIn(response, 'content')
    if (content === '' && !Array.isArray(response.filenames)) return null
    const found = content === '' ? names.map(place).join('\n') : content
    return some(null, found || '(no match)', 'output', LOOKED_AT)
  },
}

const AGENT: Reader = {
  input: (input) => [
    ...some('agent', textIn(input, 'subagent_type')),
    ...some('task', textIn(input, 'description')),
    ...some('prompt', textIn(input, 'prompt'), 'output', LOOKED_AT),
  ],
  outcome: (response) =>
    response.content === undefined
      ? null
      : [...some('status', textIn(response, 'status')), ...some(null, valueText(response.content))],
}

const READERS: Partial<Record<string, Reader>> = {
  Edit: EDIT,
  MultiEdit: EDIT,
  Write: {
    input: (input, place) => [...file(input, place), ...some('content', withoutBlob(textIn(input, 'content')), 'code')],
    outcome: (response, event) =>
      'filePath' in response
        ? [
            ...some(null, response.type === 'create' ? 'new file' : 'overwritten'),
            ...some('symbols', symbolsOf(event).join(', ')),
          ]
        : null,
  },
  NotebookEdit: {
    input: (input, place) => [
      ...some('notebook', place(textIn(input, 'notebook_path'))),
      ...some(
        'cell',
        [textIn(input, 'edit_mode'), textIn(input, 'cell_type'), textIn(input, 'cell_id')].filter(Boolean).join(' '),
      ),
      ...some(null, textIn(input, 'new_source'), 'code'),
    ],
    outcome: (response) => ('new_source' in response ? some('error', textIn(response, 'error')) : null),
  },
  Read: {
    input: (input, place) => [...file(input, place), ...some('lines', rangeOf(input))],
    outcome: (response) => {
      const read = recordOf(response.file)
      if (typeof read.content === 'string') return some(null, withoutBlob(read.content) || '(empty)', 'code', LOOKED_AT)
      if (Array.isArray(read.cells)) return some(null, valueText(read.cells), 'code', LOOKED_AT)
      return response.type === 'image' || response.type === 'pdf' ? some(null, `[${response.type}]`) : null
    },
  },
  Bash: {
    input: (input) => [
      ...some('command', textIn(input, 'command')),
      ...some('why', textIn(input, 'description')),
      ...some('background', input.run_in_background === true ? 'yes' : ''),
    ],
    outcome: (response) => {
      if (typeof response.stdout !== 'string' && typeof response.stderr !== 'string') return null
      const parts = [
        ...some(null, withoutBlob(textIn(response, 'stdout'))),
        ...some('stderr', withoutBlob(textIn(response, 'stderr'))),
        ...some('exit', textIn(response, 'returnCodeInterpretation') || valueText(response.exitCode)),
      ]
      return parts.length > 0 ? parts : some(null, '(no output)')
    },
  },
  Grep: SEARCH,
  Glob: SEARCH,
  Task: AGENT,
  Agent: AGENT,
  WebFetch: {
    input: (input) => [...some('url', textIn(input, 'url')), ...some('asked', textIn(input, 'prompt'))],
    outcome: (response) =>
      typeof response.result === 'string'
        ? [...some('status', httpStatus(response)), ...some(null, withoutBlob(response.result))]
        : null,
  },
}

function file(input: Fields, place: Place): Part[] {
  return some('file', place(textIn(input, 'file_path')))
}

function rangeOf(input: Fields): string {
  const offset = numberIn(input, 'offset')
  const limit = numberIn(input, 'limit')
  if (limit > 0) return `${Math.max(1, offset)}-${Math.max(1, offset) + limit - 1}`
  return offset > 1 ? `from ${offset}` : ''
}

/** 200 goes without saying. */
function httpStatus(response: Fields): string {
  const code = numberIn(response, 'code')
  return code === 0 || code === 200 ? '' : `${code} ${textIn(response, 'codeText')}`.trim()
}

/** No part where there is nothing to say. */
function some(label: string | null, text: string, texture: Texture = 'output', worth = 1): Part[] {
  return text.trim() === '' ? [] : [{ label, text, texture, worth }]
}
