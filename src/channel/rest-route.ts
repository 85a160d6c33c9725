/** One address of the REST door, and how its question is read. */
import { MemError } from '../errors.ts'
import { DATE_FORMS, momentOf } from './dates.ts'
import type { Service } from './service.ts'

export interface Call {
  service: Service
  params: string[]
  query: URLSearchParams
  body: () => Promise<unknown>
}

export interface Route {
  method: string
  path: RegExp
  handle: (call: Call) => Promise<unknown>
}

const MAX_LIMIT = 10_000

export function limitOf(query: URLSearchParams, standard: number, max = MAX_LIMIT): number {
  return wholeNumberOf(query, 'limit', standard, max)
}

export function wholeNumberOf(query: URLSearchParams, name: string, standard: number, max: number, min = 1): number {
  const text = textOf(query, name)
  if (text === null) return standard
  const number = Number(text)
  if (!Number.isInteger(number) || number < min || number > max)
    throw new MemError('bad_request', `${name} is a number from ${min} to ${max}`)
  return number
}

/** Empty is not given: forms send what nobody filled in. */
export function textOf(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null
}

/** `?type=bugfix,feature`, `?type=bugfix&type=feature`. */
export function wordsOf(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((text) => text.split(','))
    .map((word) => word.trim())
    .filter(Boolean)
}

export function choicesOf<T extends string>(query: URLSearchParams, name: string, choices: readonly T[]): T[] {
  return wordsOf(query, name).map((word) => {
    const found = choices.find((choice) => choice === word)
    if (found === undefined) throw new MemError('bad_request', `${name} is one of ${choices.join(', ')}`)
    return found
  })
}

export function momentIn(query: URLSearchParams, name: string, edge: 'start' | 'end'): number | null {
  const text = textOf(query, name)
  if (text === null) return null
  const at = momentOf(text, edge, Date.now())
  if (at === null) throw new MemError('bad_request', `${name} is ${DATE_FORMS}, or epoch milliseconds`)
  return at
}

/** A filter that is misspelt must not be a filter that is not there. */
export function onlyKnown(query: URLSearchParams, names: readonly string[]): void {
  const unknown = [...query.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new MemError('bad_request', `there is no "${unknown.slice(0, 40)}" here; there is ${names.join(', ')}`)
}
