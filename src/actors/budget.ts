/** What the observer may spend in a day. Past it sessions go on without a model, until the day turns. */
import type { ModelCall } from '../memory/call.ts'
import { endOfDay, startOfDay } from '../memory/day.ts'
import { type Spent, weighedTokens } from '../store/accounting.ts'

export interface Limits {
  /** US dollars a day. */
  usd: number
  /** Tokens a day, cache reads at a tenth. */
  tokens: number
}

export interface BudgetView {
  spentUsd: number
  limitUsd: number
  spentTokens: number
  limitTokens: number
  /** Why no model is asked; null: one may be. */
  reason: string | null
  /** When the next day begins. */
  until: number
}

export interface BudgetHost {
  limits(): Limits
  now(): number
  spentSince(dayStart: number): Promise<Spent>
}

export class Budget {
  readonly #host: BudgetHost
  #day = 0
  #usd = 0
  #tokens = 0

  constructor(host: BudgetHost) {
    this.#host = host
  }

  /** What was spent today before this process. */
  async load(): Promise<void> {
    const day = startOfDay(this.#host.now())
    const { cost, usage } = await this.#host.spentSince(day)
    this.#day = day
    this.#usd = cost
    this.#tokens = weighedTokens(usage)
  }

  /** After their commit. */
  add(calls: readonly ModelCall[]): void {
    this.#turnDay()
    for (const { cost, usage } of calls) {
      this.#usd += cost ?? 0
      this.#tokens += weighedTokens(usage)
    }
  }

  get reason(): string | null {
    this.#turnDay()
    const { usd, tokens } = this.#host.limits()
    if (usd === 0 || tokens === 0) return 'the budget is 0'
    if (this.#usd >= usd) return `${dollars(this.#usd)} of ${dollars(usd)} US dollars spent today`
    if (this.#tokens >= tokens) return `${Math.round(this.#tokens)} of ${tokens} tokens used today`
    return null
  }

  get view(): BudgetView {
    const { reason } = this
    const { usd, tokens } = this.#host.limits()
    return {
      spentUsd: this.#usd,
      limitUsd: usd,
      spentTokens: Math.round(this.#tokens),
      limitTokens: tokens,
      reason,
      until: endOfDay(this.#host.now()),
    }
  }

  /** A clock that goes back over midnight does not give the day's money back. */
  #turnDay(): void {
    const day = startOfDay(this.#host.now())
    if (day <= this.#day) return
    this.#day = day
    this.#usd = 0
    this.#tokens = 0
  }
}

function dollars(amount: number): string {
  return amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2)
}
