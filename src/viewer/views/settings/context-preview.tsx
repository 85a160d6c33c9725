/** A live preview of the context that the next session of a project gets, with controls to change its size and parts. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { ContextOverrides } from '../../../api/operations/projects.ts'
import { CONTEXT_PARTS, type ContextPart } from '../../../domain/context-parts.ts'
import { stripColors } from '../../../lib/format.ts'
import type { SettingInfo } from '../../../settings/settings.ts'
import type { StreamMessage } from '../../../transport/messages.ts'
import { ErrorNotice, LoadingRows, Select } from '../../components/basics.tsx'
import { runWithToast, useBusy } from '../../components/dialog.tsx'
import { callDaemon } from '../../connection.ts'
import { changeSetting } from '../../daemon-status.ts'
import { fullCount } from '../../format.tsx'
import { useLast, useProjects, useQuery, useReloadOnStream } from '../../queries.ts'
import { safeLine, safeText } from '../../safe-text.ts'
import { Pills } from './setting-controls.tsx'

/** Id of the element, to scroll to it. */
export const PREVIEW_ID = 'preview-of-context'
/** While a slider moves, the preview is loaded at most this often, in ms. */
const SLIDER_THROTTLE_MS = 80
/** New memories within this time cause one request, in ms. */
const NEWS_THROTTLE_MS = 500

type ContextOptions = Required<ContextOverrides>

/** The setting of each option. */
const OPTION_SETTINGS = {
  tokens: 'CLAUDE_MEM_CONTEXT_TOKENS',
  parts: 'CLAUDE_MEM_CONTEXT_PARTS',
} as const satisfies Record<keyof ContextOptions, string>

const SLIDERS = [{ option: 'tokens', label: 'Tokens', step: 50 }] as const

/** The options as they are set. */
export function optionsFromSettings(settings: readonly SettingInfo[]): ContextOptions {
  const settingOf = (option: keyof ContextOptions) =>
    settings.find(({ name }) => name === OPTION_SETTINGS[option])?.value
  const number = (option: keyof ContextOptions) => {
    const value = settingOf(option)
    return typeof value === 'number' ? value : 0
  }
  const some = <T extends string>(option: keyof ContextOptions, choices: readonly T[]): T[] => {
    const value = settingOf(option)
    return Array.isArray(value) ? choices.filter((choice) => value.includes(choice)) : []
  }
  return {
    tokens: number('tokens'),
    parts: some('parts', CONTEXT_PARTS),
  }
}

/** The settings to change so that the options are kept. */
export function changedSettings(
  stored: ContextOptions,
  options: ContextOptions,
): { name: string; value: string | readonly string[] }[] {
  return (Object.keys(OPTION_SETTINGS) as (keyof ContextOptions)[])
    .filter((option) => String(stored[option]) !== String(options[option]))
    .map((option) => {
      const value = options[option]
      return { name: OPTION_SETTINGS[option], value: typeof value === 'number' ? String(value) : value }
    })
}

export function ContextPreviewPanel({ settings }: { settings: readonly SettingInfo[] }) {
  const { projects: all, error, reload } = useProjects()
  useReloadOnStream(isContextChange, NEWS_THROTTLE_MS, reload)
  const [selected, setSelected] = useState<string | null>(null)
  const [moved, setMoved] = useState<ContextOverrides>({})
  const projects = all?.filter(({ observations }) => observations > 0) ?? []
  const project = (projects.find(({ key }) => key === selected) ?? projects[0])?.key ?? null
  const stored = optionsFromSettings(settings)
  const options = { ...stored, ...moved }
  const changes = changedSettings(stored, options)
  const save = useBusy(async () => {
    const saved = await runWithToast(async () => {
      for (const { name, value } of changes) await changeSetting(name, value)
      return 'Saved. New sessions get this context.'
    })
    if (saved) setMoved({})
  })
  return (
    <section class="preview column card" id={PREVIEW_ID} aria-label="Preview of the context">
      <header class="preview-head row wrap spread">
        <h2>Context of the next session</h2>
        {project === null ? null : (
          <Select
            label="Project"
            value={project}
            options={projects.map(({ key, name }) => ({ value: key, text: safeLine(name, 60) }))}
            onSelect={setSelected}
          />
        )}
      </header>
      <ErrorNotice text={error} retry={reload} />
      {all !== null && project === null ? (
        <p class="preview-empty sunk soft">
          There are no memories yet. After your first session with Claude Code this shows the exact text that the next
          session gets before its first prompt.
        </p>
      ) : null}
      {project === null ? null : (
        <>
          <PreviewControls
            settings={settings}
            options={options}
            onChange={(change) => setMoved((before) => ({ ...before, ...change }))}
          />
          <div class="preview-buttons row">
            <button type="button" disabled={changes.length === 0} onClick={() => setMoved({})}>
              Reset
            </button>
            <button type="button" class="primary" disabled={changes.length === 0 || save.busy} onClick={save.start}>
              Save these settings
            </button>
          </div>
          <PreviewResult project={project} options={options} settings={settings} />
        </>
      )}
    </section>
  )
}

const PART_TITLES: Record<ContextPart, string> = {
  pinned: 'Pinned observations',
  state: 'State when the last session ended: branch, commit, checks',
  exchange: 'The last request and its report',
  decided: 'What you decided',
  story: 'How it got here, newest first',
  others: 'What others of the team noted',
  more: 'How the agent can ask for more',
}

interface PreviewControlsProps {
  settings: readonly SettingInfo[]
  options: ContextOptions
  onChange(change: ContextOverrides): void
}

function PreviewControls({ settings, options, onChange }: PreviewControlsProps) {
  return (
    <div class="preview-controls stack">
      {SLIDERS.map(({ option, label, step }) => {
        const setting = settings.find(({ name }) => name === OPTION_SETTINGS[option])
        return (
          <label key={option} class="preview-slider" title={setting?.about}>
            <span>{label}</span>
            <input
              type="range"
              min={setting?.min ?? 0}
              max={setting?.max ?? 0}
              step={step}
              value={options[option]}
              onInput={(event) => onChange({ [option]: event.currentTarget.valueAsNumber })}
            />
            <output class="figure">{fullCount(options[option])}</output>
          </label>
        )
      })}
      <fieldset class="pills wrap">
        <legend>Parts</legend>
        <Pills
          choices={CONTEXT_PARTS}
          selected={options.parts}
          titles={PART_TITLES}
          onSelect={(parts) => onChange({ parts })}
        />
      </fieldset>
    </div>
  )
}

interface PreviewResultProps {
  project: string
  options: ContextOptions
  settings: readonly SettingInfo[]
}

function PreviewResult({ project, options, settings }: PreviewResultProps) {
  const request = useThrottled(JSON.stringify({ project, ...options }))
  // Other settings of the context change the answer too, so they are part of the key.
  const contextValues = settings.filter(({ name }) => name.includes('CONTEXT')).map(({ value }) => value)
  const { data, error, reload } = useQuery(`${request} ${JSON.stringify(contextValues)}`, async () => {
    const input: { project: string } & ContextOptions = JSON.parse(request)
    return { answer: await callDaemon('context', input), budget: input.tokens }
  })
  useReloadOnStream(isContextChange, NEWS_THROTTLE_MS, reload)
  const last = useLast(data)
  if (error !== null) return <ErrorNotice text={error} retry={reload} />
  return last === null ? <LoadingRows rows={3} /> : <PreviewReport answer={last.answer} budget={last.budget} />
}

/** The newest value, but changed at most every `SLIDER_THROTTLE_MS`. */
function useThrottled(value: string): string {
  const [throttled, setThrottled] = useState(value)
  const newest = useRef(value)
  newest.current = value
  const isWaiting = value !== throttled
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setThrottled(newest.current), SLIDER_THROTTLE_MS)
    return () => clearTimeout(timer)
  }, [isWaiting, throttled])
  return throttled
}

function isContextChange(message: StreamMessage): boolean {
  return message.type === 'change' || message.observations.length + message.summaries.length > 0
}

type ContextAnswer = OutputOf<'context'>
type PartTokens = NonNullable<ContextAnswer['parts']>

const REPORT_PARTS: readonly { part: keyof PartTokens; colour: string; name: string }[] = [
  { part: 'pinned', colour: '--accent', name: 'pinned' },
  { part: 'state', colour: '--summary', name: 'state' },
  { part: 'exchange', colour: '--prompt', name: 'last exchange' },
  { part: 'decided', colour: '--decision', name: 'decided' },
  { part: 'story', colour: '--discovery', name: 'how it got here' },
  { part: 'others', colour: '--refactor', name: 'others' },
  { part: 'more', colour: '--feature', name: 'how to ask' },
  { part: 'frame', colour: '--change', name: 'frame' },
]

/** More than any budget allows, in characters. */
const MAX_CONTEXT_CHARS = 40_000

/** The text and its cost by part. */
function PreviewReport({ answer, budget }: { answer: ContextAnswer; budget: number }) {
  const { context, tokens, parts } = answer
  const message = stripColors(answer.message)
  return (
    <div class="stack">
      <TokenCost tokens={tokens} budget={budget} parts={parts ?? {}} />
      {context === '' ? (
        <p class="preview-empty sunk soft">With these options the session gets no context.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        <section class="preview-text scroll-box" data-testid="context-preview" aria-label="The text" tabIndex={0}>
          <pre>
            {safeText(context, MAX_CONTEXT_CHARS)
              .split('\n')
              .map((line, i) => (
                <ContextLine key={i} text={line} />
              ))}
          </pre>
        </section>
      )}
      <p class="note">
        <strong>Message to you:</strong> {message === '' ? 'none' : safeLine(message, 600)}
      </p>
    </div>
  )
}

function TokenCost({ tokens, budget, parts }: { tokens: number; budget: number; parts: PartTokens }) {
  const costs = REPORT_PARTS.map((one) => ({ ...one, cost: parts[one.part] ?? 0 })).filter(({ cost }) => cost > 0)
  const whole = Math.max(budget, tokens, 1)
  return (
    <div>
      <p class="meter-words wrap spread small soft">
        <span>Cost per session</span>
        <span class="figure" title="Estimated: four characters are a token">
          {fullCount(tokens)} of {fullCount(budget)} tokens
        </span>
      </p>
      <div class="track cost-track" aria-hidden="true">
        {costs.map(({ part, colour, cost }) => (
          <span key={part} style={{ width: `${(cost / whole) * 100}%`, background: `var(${colour})` }} />
        ))}
      </div>
      <ul class="cost-parts smaller wrap soft">
        {costs.map(({ part, colour, name, cost }) => (
          <li key={part} title={`${fullCount(cost)} tokens`}>
            <span class="colour-key" style={{ background: `var(${colour})` }} />
            {name} <span class="figure">{fullCount(cost)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** A line of the context: headings are bold. */
function ContextLine({ text }: { text: string }) {
  return <span class={text.startsWith('#') ? 'line strong' : 'line'}>{`${text}\n`}</span>
}
