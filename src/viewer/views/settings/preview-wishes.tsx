/** What of the context can be moved. */
import type { ContextWish, SettingInfo } from '../../../channel/protocol.ts'
import { CONTEXT_PARTS, type ContextPart } from '../../../memory/context-parts.ts'
import { OBSERVATION_TYPES } from '../../../memory/observation.ts'
import { count } from '../../times.ts'
import { SLIDERS, type Wanted, withPart, withType } from './wish.ts'

const PART_TITLES: Record<ContextPart, string> = {
  pinned: 'Observations that you pinned',
  summary: 'What the last turn came to',
  earlier: 'The turns before it, a line each',
  timeline: 'Rows of observations, by day and file',
  details: 'Facts of the best rows',
  legend: 'What the signs of the rows mean',
  totals: 'How much is remembered',
  more: 'How to ask for more',
}

interface WishesProps {
  settings: readonly SettingInfo[]
  wanted: Wanted
  want(more: ContextWish): void
}

export function Wishes({ settings, wanted, want }: WishesProps) {
  return (
    <div class="wishes">
      {SLIDERS.map(({ wish, setting, label, step }) => {
        const info = settings.find(({ name }) => name === setting)
        return (
          <label key={wish} class="wish" title={info?.about}>
            <span>{label}</span>
            <input
              type="range"
              min={info?.min ?? 0}
              max={info?.max ?? 0}
              step={step}
              value={wanted[wish]}
              onInput={(event) => want({ [wish]: event.currentTarget.valueAsNumber })}
            />
            <output class="figure">{count(wanted[wish])}</output>
          </label>
        )
      })}
      <fieldset class="pills">
        <legend>Made of</legend>
        {CONTEXT_PARTS.map((part) => (
          <label key={part} class="pill" title={PART_TITLES[part]}>
            <input
              type="checkbox"
              checked={wanted.parts.includes(part)}
              onChange={(event) => want(withPart(wanted, part, event.currentTarget.checked))}
            />
            {part}
          </label>
        ))}
      </fieldset>
      <fieldset class="pills">
        <legend>Rows of</legend>
        {OBSERVATION_TYPES.map((type) => (
          <label key={type} class="pill">
            <input
              type="checkbox"
              checked={wanted.types.includes(type)}
              onChange={(event) => want(withType(wanted, type, event.currentTarget.checked))}
            />
            {type}
          </label>
        ))}
      </fieldset>
    </div>
  )
}
