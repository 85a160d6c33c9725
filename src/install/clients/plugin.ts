/** Plugins of Claude Code that bear our name, as its settings have them enabled. */

/** Of the original claude-mem, which has a memory of its own. */
const ORIGINAL = 'claude-mem@thedotmack'
const NAMED = /^claude-mem(?:@|$)/

export interface EnabledPlugins {
  own: boolean
  original: boolean
}

/** `settings`: what a settings file holds. */
export function enabledPlugins(settings: { enabledPlugins?: unknown }): EnabledPlugins {
  const on = Object.entries(Object(settings.enabledPlugins)).flatMap(([name, value]) => (value === true ? [name] : []))
  return { own: on.some((name) => NAMED.test(name) && name !== ORIGINAL), original: on.includes(ORIGINAL) }
}

export const BOTH_REMEMBER =
  'the plugin of the original claude-mem is enabled too: both observe each session, both tell it what they know, and both cost'
export const KEEP_ONE = 'claude-mem import takes over what it remembers; then disable it with /plugin in Claude Code'
