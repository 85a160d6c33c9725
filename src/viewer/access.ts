/** The key to the daemon: handed over once in the link that `claude-mem viewer` opens, kept for this tab alone. */
const KEPT_AS = 'claude-mem-token'
const CODE = /^#open=([\w-]+)$/

export type Entry = { token: string } | { token: null; why: string }

export async function enter(): Promise<Entry> {
  const code = CODE.exec(location.hash)?.[1]
  if (code === undefined) return kept()
  // Out of the address bar and the history, whatever comes of it.
  history.replaceState(null, '', location.pathname)
  const response = await fetch('/api/viewer/open', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const body: { token?: string; error?: { message?: string } } = await response.json()
  if (!response.ok || body.token === undefined) {
    const earlier = kept()
    return earlier.token === null ? { token: null, why: body.error?.message ?? 'The link was not accepted.' } : earlier
  }
  sessionStorage.setItem(KEPT_AS, body.token)
  return { token: body.token }
}

/** Another link, pasted into a tab that is open already, changes nothing but what stands behind the `#`. */
export function followLinks(): void {
  addEventListener('hashchange', () => {
    if (CODE.test(location.hash)) location.reload()
  })
}

function kept(): Entry {
  const token = sessionStorage.getItem(KEPT_AS)
  return token === null ? { token: null, why: '' } : { token }
}

/** Whether the daemon that answers now still takes it; null: none answers. */
export async function isWelcome(token: string): Promise<boolean | null> {
  try {
    const response = await fetch('/api/health', { headers: { authorization: `Bearer ${token}` } })
    return response.status !== 401
  } catch {
    return null
  }
}

export function leave(): void {
  sessionStorage.removeItem(KEPT_AS)
}
