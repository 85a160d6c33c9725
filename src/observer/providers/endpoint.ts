/** Where a provider's calls go, and the words that tell a person which setting to mend. */
import { ObserverError } from '../port.ts'

export interface Endpoint {
  /** One breaker per name. */
  provider: string
  model: string
  url: string
  /** Null: the server wants none. Never part of a message. */
  apiKey: string | null
  /** As `claude-mem config set` takes them. */
  keySetting: string
  addressSetting: string
}

export const setKey = ({ keySetting }: Endpoint): string => `claude-mem config set ${keySetting} KEY`
export const setAddress = ({ addressSetting }: Endpoint): string => `claude-mem config set ${addressSetting} URL`
export const SET_MODEL = 'claude-mem config set model MODEL'

/** Nothing else can stand in a header, and no provider makes keys of anything else. */
const KEY = /^[\x21-\x7e]+$/

/** The key, or the failure that says how to set one: checked before each call, since sessions wait until it is mended. */
export function keyOf(endpoint: Endpoint): string {
  const { provider, apiKey } = endpoint
  if (apiKey === null || apiKey === '') {
    throw new ObserverError('provider', `no API key for ${provider}; set one: ${setKey(endpoint)}`)
  }
  if (!KEY.test(apiKey)) {
    throw new ObserverError(
      'provider',
      `the API key for ${provider} holds characters that no key has; set it again: ${setKey(endpoint)}`,
    )
  }
  return apiKey
}

/** `path` below the address, which may end with a slash. */
export function addressOf(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`
}

/** An address for people: no name, password or query. */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return 'the address'
  const { origin, pathname } = new URL(url)
  return pathname === '/' ? origin : `${origin}${pathname}`
}
