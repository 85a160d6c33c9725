/** Text to copy: a path, or a command that the page shows because only a terminal may run it. */
import { safeLine } from '../safe-text.ts'
import { showToast } from './dialog.tsx'

export function CopyButton({ text, what }: { text: string; what: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      showToast(`Copied the ${what}.`)
    } catch {
      showToast(`The browser does not allow this page to copy. Select the ${what} and copy it yourself.`, true)
    }
  }
  return (
    <button
      type="button"
      class="plain small"
      onClick={() => void copy()}
      aria-label={`Copy the ${what} ${safeLine(text, 80)}`}
    >
      Copy
    </button>
  )
}

/** A command for a terminal, on a line of its own. */
export function CommandLine({ command }: { command: string }) {
  return (
    <p class="command row spread sunk">
      <code>{command}</code>
      <CopyButton text={command} what="command" />
    </p>
  )
}
